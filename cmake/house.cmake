# lfpool_by_room(TARGET ROOT): compiles each room of ROOT's library sources as one translation unit of TARGET, which takes half
# the time.  Not src/os: tests intercept calls to its functions (the linker's --wrap).
function(lfpool_by_room target root)
	set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
	foreach(source IN LISTS LFPOOL_SOURCES)
		cmake_path(GET source PARENT_PATH room)
		cmake_path(GET room FILENAME room)
		if(NOT room STREQUAL os)
			set_source_files_properties(${root}/${source} PROPERTIES UNITY_GROUP ${room})
		endif()
	endforeach()
endfunction()

# lfpool_house_rules(TARGET): the language, the warnings and the sanitizers for all of our code.  Nothing here reaches a project
# that embeds lfpool: the properties are private to the target (except linking the requested sanitizers), and warnings are on
# only when lfpool is the top-level project.  They are errors only if the tests are built, so that a user with a newer compiler
# can install the library.
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
	if(LFPOOL_ASSERTS)
		target_compile_definitions(${target} PRIVATE LFPOOL_ASSERTS)
	endif()
	if(LFPOOL_SANITIZE)
		string(REPLACE ";" "," sanitizers "${LFPOOL_SANITIZE}")
		target_compile_options(${target} PRIVATE
			-fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
		target_link_options(${target} PUBLIC -fsanitize=${sanitizers})
	endif()
endfunction()

# lfpool_optimised(TARGET...): a parent project that has no build type, or whose own build type sets only C++ flags, would compile
# lfpool without optimisation.  It gets -O2 there, and a message.  An optimisation level in the parent's C flags, also -O0, and
# build types whose names begin with Debug are respected.
function(lfpool_optimised)
	if(PROJECT_IS_TOP_LEVEL)
		return()
	endif()
	get_directory_property(options COMPILE_OPTIONS)
	set(types "${CMAKE_CONFIGURATION_TYPES}")
	if(NOT types)
		set(types "${CMAKE_BUILD_TYPE}")
	endif()
	set(is_none OFF)
	if(NOT types)
		set(is_none ON)
		set(types none)
	endif()
	foreach(type IN LISTS types)
		string(TOUPPER ${type} upper)
		if(" ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${upper}} ${options}" MATCHES "[ ;]-O" OR upper MATCHES "^DEBUG")
			continue()
		endif()
		foreach(target IN LISTS ARGN)
			if(TARGET ${target})
				target_compile_options(${target} PRIVATE $<$<OR:$<BOOL:${is_none}>,$<CONFIG:${type}>>:-O2>)
			endif()
		endforeach()
		message(STATUS "lfpool is compiled with -O2: the C flags of this project set no optimisation (build type: ${type})")
	endforeach()
endfunction()

# lfpool_installed(TARGET): common properties of our installed libraries: the version, and the exported symbols of a shared one.
function(lfpool_installed target)
	set_target_properties(${target} PROPERTIES
		VERSION ${PROJECT_VERSION} SOVERSION 0 C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
	if(BUILD_SHARED_LIBS AND UNIX)
		target_link_options(${target} PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/versions.map)
		set_property(TARGET ${target} PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/versions.map)
	endif()
endfunction()
