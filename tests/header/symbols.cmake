# The library's object files: no 16-byte atomics, no libatomic; and every function that the headers declare is there.
# Called with -DNM= -DOBJECTS=a.o|b.o -DHEADERS=directory.

string(REPLACE "|" ";" objects "${OBJECTS}")
set(text "")
file(GLOB headers ${HEADERS}/*.h)
# Of components, whose objects are others.
list(FILTER headers EXCLUDE REGEX "/(rcu|epoch)\\.h$")
foreach(header IN LISTS headers)
	file(READ ${header} content)
	string(APPEND text "${content}")
endforeach()

set(public 0)
foreach(object IN LISTS objects)
	execute_process(COMMAND ${NM} ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
	# libatomic's functions are called __atomic_*; under a sanitizer the 16-byte ones are __tsan_atomic128_*.
	string(REGEX MATCHALL "[ \t]U (__atomic_[a-z0-9_]+|atomic_[a-z0-9_]+|__sync_[a-z0-9_]+|__tsan_atomic128[a-z0-9_]*)" calls "${symbols}")
	if(calls)
		message(FATAL_ERROR "${object} needs libatomic or a 16-byte atomic: ${calls}")
	endif()
	string(REGEX MATCHALL "[ \t]T (lfpool_[a-z0-9_]+)" defined "${symbols}")
	foreach(match IN LISTS defined)
		string(REGEX REPLACE "^[ \t]T " "" name "${match}")
		if(text MATCHES "LFPOOL_API[^;]*[ *]${name}\\(")
			math(EXPR public "${public} + 1")
		endif()
	endforeach()
endforeach()

# The check has looked at the real thing: every function that the headers declare is defined in these objects, once.
string(REGEX MATCHALL "LFPOOL_API[^;(]*[ *]lfpool_[a-z0-9_]+\\(" declared "${text}")
list(LENGTH declared expected)
if(NOT public EQUAL expected OR expected LESS 20)
	message(FATAL_ERROR "${public} of ${expected} declared functions are defined in ${objects}")
endif()
message(STATUS "${expected} functions, no libatomic, no 16-byte atomics")
