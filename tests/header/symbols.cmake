# The library's object files: no 16-byte atomics, no libatomic; and every function that the headers declare is there.
# Called with -DNM= -DOBJECTS=a.o|b.o -DHEADERS=directory.
cmake_minimum_required(VERSION 3.22)

# names(VARIABLE TEXT PATTERN): what ends each match of PATTERN, a word.
function(names variable text pattern)
	string(REGEX MATCHALL "${pattern}" found "${text}")
	list(TRANSFORM found REPLACE "^.*[ *\t]([a-z0-9_]+)\\(?$" "\\1")
	list(SORT found)
	set(${variable} "${found}" PARENT_SCOPE)
endfunction()

string(REPLACE "|" ";" objects "${OBJECTS}")
execute_process(COMMAND ${NM} ${objects} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
# libatomic's functions are called __atomic_*; under a sanitizer the 16-byte ones are __tsan_atomic128_*.
string(REGEX MATCHALL "[ \t]U (__atomic_[a-z0-9_]+|atomic_[a-z0-9_]+|__sync_[a-z0-9_]+|__tsan_atomic128[a-z0-9_]*)" calls "${symbols}")
if(calls)
	message(FATAL_ERROR "libatomic or a 16-byte atomic is needed: ${calls}")
endif()

file(GLOB headers ${HEADERS}/*.h)
# Of components, whose objects are others.
list(FILTER headers EXCLUDE REGEX "/(rcu|epoch)\\.h$")
set(text "")
foreach(header IN LISTS headers)
	file(READ ${header} content)
	string(APPEND text "${content}")
endforeach()
names(declared "${text}" "LFPOOL_API[^;(]*[ *]lfpool_[a-z0-9_]+\\(")
names(defined "${symbols}" "[ \t]T lfpool_[a-z0-9_]+")

# The check has looked at the real thing: every function that the headers declare is defined in these objects, once.
list(LENGTH declared expected)
foreach(name IN LISTS defined)
	if(name IN_LIST declared)
		list(APPEND public ${name})
	endif()
endforeach()
if(NOT public STREQUAL declared OR expected LESS 20)
	message(FATAL_ERROR "declared: ${declared}\ndefined: ${public}")
endif()
message(STATUS "${expected} functions, no libatomic, no 16-byte atomics")
