# lfpool_variant(TARGET OF FILE [INSTEAD FILE]): the library OF again, but for one source file, which TARGET compiles for itself,
# with the same settings and what is added to them.  FILE: in src/; INSTEAD: another in its place.
function(lfpool_variant target of file)
	cmake_parse_arguments(PARSE_ARGV 3 arg "" "INSTEAD" "")
	set(source ${PROJECT_SOURCE_DIR}/src/${file})
	if(arg_INSTEAD)
		set(source ${arg_INSTEAD})
	endif()
	string(REPLACE . [.] pattern /src/${file}.o)
	add_library(${target} STATIC EXCLUDE_FROM_ALL ${source} "$<FILTER:$<TARGET_OBJECTS:${of}>,EXCLUDE,${pattern}(bj)?$>")
	lfpool_house_rules(${target})
	target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:${of},COMPILE_DEFINITIONS>)
	target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
	target_link_libraries(${target} PUBLIC ${LFPOOL_NEEDS})
	set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
endfunction()

# lfpool_by_room(TARGET): of the library's sources in TARGET each room of src is one translation unit, which compiles in a third of the
# time.  src/os is not: lfpool_variant() takes one file out.
function(lfpool_by_room target)
	set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
	foreach(source IN LISTS LFPOOL_SOURCES)
		if(source MATCHES "^src/([^o/][a-z]*|o[^s][a-z]*)/")
			set_source_files_properties(${PROJECT_SOURCE_DIR}/${source} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_1})
		endif()
	endforeach()
endfunction()

# lfpool_house_rules(TARGET): the language, the warnings and the sanitizers that all of our own code is built with.
# Nothing here reaches a project that embeds lfpool: the properties are private to the target (but for linking the sanitizers
# that were asked for), and there are warnings only when lfpool is the top-level project.  They are errors where the tests are
# built: who only installs lfpool, with a compiler that knows more of them, gets a library.
function(lfpool_house_rules target)
	set_target_properties(${target} PROPERTIES
		C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
		CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF UNITY_BUILD OFF)
	target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
	if(PROJECT_IS_TOP_LEVEL)
		target_compile_options(${target} PRIVATE
			-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Wvla
			$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
		if(LFPOOL_BUILD_TESTS)
			target_compile_options(${target} PRIVATE -Werror)
		endif()
	endif()
	if(LFPOOL_SANITIZE)
		string(REPLACE ";" "," sanitizers "${LFPOOL_SANITIZE}")
		target_compile_options(${target} PRIVATE
			-fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
		target_link_options(${target} PUBLIC -fsanitize=${sanitizers})
	endif()
endfunction()

# lfpool_installed(TARGET): what a library of ours that others install has in common with its fellows: the version, and which symbols
# of which interface a shared one offers.
function(lfpool_installed target)
	set_target_properties(${target} PROPERTIES
		VERSION ${PROJECT_VERSION} SOVERSION 0 C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
	if(BUILD_SHARED_LIBS AND UNIX)
		target_link_options(${target} PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/versions.map)
		set_property(TARGET ${target} PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/versions.map)
	endif()
endfunction()
