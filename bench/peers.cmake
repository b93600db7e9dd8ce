# The peers: each is measured if it is installed; otherwise the results list it as missing.

find_package(PkgConfig QUIET)

# bench_without(NAME REASON): reports a missing peer.
function(bench_without name reason)
	message(STATUS "lfpool-bench without ${name}: ${reason}")
endfunction()

# bench_peer(NAME [COMPONENT C] [PKG MODULE] [HEADER FILE] [LIBRARY NAME...] SOURCES FILE...): defines BENCH_HAS_<NAME> and adds the
# sources if the peer is installed, and our component lfpool-C if given.  Its headers are system headers, so that our warnings skip
# them.  The module's version is BENCH_PEER_VERSION in the sources.
function(bench_peer name)
	cmake_parse_arguments(peer "" "COMPONENT;PKG;HEADER" "LIBRARY;SOURCES" ${ARGN})
	set(libraries)
	if(peer_COMPONENT)
		if(NOT TARGET lfpool-${peer_COMPONENT})
			bench_without(${name} "lfpool-${peer_COMPONENT} is not built")
			return()
		endif()
		list(APPEND libraries lfpool-${peer_COMPONENT})
	endif()
	if(peer_PKG)
		if(PKG_CONFIG_FOUND)
			pkg_check_modules(BENCH_${peer_PKG} QUIET IMPORTED_TARGET ${peer_PKG})
		endif()
		if(NOT BENCH_${peer_PKG}_FOUND)
			bench_without(${name} "${peer_PKG} is not installed")
			return()
		endif()
		list(APPEND libraries PkgConfig::BENCH_${peer_PKG})
		set_source_files_properties(${peer_SOURCES} PROPERTIES
			COMPILE_DEFINITIONS BENCH_PEER_VERSION="${BENCH_${peer_PKG}_VERSION}")
	endif()
	if(peer_HEADER)
		find_path(BENCH_${name}_INCLUDE ${peer_HEADER})
		mark_as_advanced(BENCH_${name}_INCLUDE)
		if(NOT BENCH_${name}_INCLUDE)
			bench_without(${name} "${peer_HEADER} is not installed")
			return()
		endif()
		target_include_directories(lfpool-bench SYSTEM PRIVATE ${BENCH_${name}_INCLUDE})
	endif()
	foreach(library IN LISTS peer_LIBRARY)
		find_library(BENCH_${name}_${library} ${library})
		mark_as_advanced(BENCH_${name}_${library})
		if(NOT BENCH_${name}_${library})
			bench_without(${name} "lib${library} is not installed")
			return()
		endif()
		list(APPEND libraries ${BENCH_${name}_${library}})
	endforeach()
	target_sources(lfpool-bench PRIVATE ${peer_SOURCES})
	target_link_libraries(lfpool-bench PRIVATE ${libraries})
	target_compile_definitions(lfpool-bench PRIVATE BENCH_HAS_${name})
endfunction()

bench_peer(BOOST HEADER boost/lockfree/stack.hpp SOURCES subjects/boost_stack_dynamic.cpp)
bench_peer(CK PKG ck SOURCES subjects/ck_stack.c)
bench_peer(RETIRE_RCU COMPONENT rcu PKG liburcu-memb SOURCES subjects/rcu.c)
bench_peer(RETIRE_CK COMPONENT ck PKG ck SOURCES subjects/epoch.c)

# Debian has no packages of these two.  They are measured, inlined and called, if their source folders are given.
# snmalloc is compiled with clang if available: its documentation advises against gcc.
set(LFPOOL_PEER_SNMALLOC "" CACHE PATH "The source of snmalloc, to be measured")
set(LFPOOL_PEER_RPMALLOC "" CACHE PATH "The source of rpmalloc, to be measured")

# bench_commit(NAME FOLDER): BENCH_<NAME>_COMMIT, here and in the sources, is the commit of that clone.
function(bench_commit name folder)
	get_filename_component(above ${folder} DIRECTORY)
	execute_process(COMMAND ${CMAKE_COMMAND} -E env GIT_CEILING_DIRECTORIES=${above} git -C ${folder} describe --always --long --tags
		--dirty OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
	if(NOT commit)
		set(commit unknown)
	endif()
	set(BENCH_${name}_COMMIT ${commit} PARENT_SCOPE)
	target_compile_definitions(lfpool-bench PRIVATE BENCH_${name}_COMMIT="${commit}")
endfunction()

# bench_shared(NAME SOURCE COMMAND...): compiles a shared library with the commit in its name, which is BENCH_<NAME>_LIBRARY in called.c.
function(bench_shared name source)
	string(TOLOWER ${name} lower)
	set(file libbench-${lower}-${BENCH_${name}_COMMIT}.so)
	set(library ${CMAKE_CURRENT_BINARY_DIR}/${file})
	add_custom_command(OUTPUT ${library} COMMAND ${ARGN} -O3 -fPIC -shared -pthread -o ${library} ${source}
		DEPENDS ${source} VERBATIM)
	target_sources(lfpool-bench PRIVATE ${library})
	target_compile_definitions(lfpool-bench PRIVATE BENCH_${name}_LIBRARY="${file}")
endfunction()

if(LFPOOL_PEER_SNMALLOC)
	bench_commit(SNMALLOC ${LFPOOL_PEER_SNMALLOC})
	find_program(BENCH_CLANG clang++)
	mark_as_advanced(BENCH_CLANG)
	set(compiler ${CMAKE_CXX_COMPILER})
	if(BENCH_CLANG)
		set(compiler ${BENCH_CLANG})
	endif()
	set(command ${compiler} -std=c++20 -mcx16 -fno-rtti -isystem ${LFPOOL_PEER_SNMALLOC}/src -DSNMALLOC_USE_WAIT_ON_ADDRESS=1
		-DSNMALLOC_PLATFORM_HAS_GETENTROPY -DSNMALLOC_HAS_LINUX_FUTEX_H)
	bench_shared(SNMALLOC ${LFPOOL_PEER_SNMALLOC}/src/snmalloc/override/malloc.cc ${command} -ftls-model=initial-exec
		-fvisibility=hidden -fomit-frame-pointer -DSNMALLOC_EXPORT=__attribute__\(\(visibility\("default"\)\)\)
		-DSNMALLOC_STATIC_LIBRARY_PREFIX=sn_ -DSNMALLOC_USE_CXX11_THREAD_ATEXIT_DIRECT)
	set(source ${CMAKE_CURRENT_SOURCE_DIR}/subjects/snmalloc.cpp)
	set(objects)
	foreach(way INLINED THREAD_FOUND)
		set(object ${CMAKE_CURRENT_BINARY_DIR}/snmalloc_${way}.o)
		add_custom_command(OUTPUT ${object} DEPFILE ${object}.d DEPENDS ${source} VERBATIM COMMAND ${command} -O3 -DNDEBUG
			-D${way} -DBENCH_SNMALLOC_COMMIT="${BENCH_SNMALLOC_COMMIT}" -Wall -Wextra -I${PROJECT_SOURCE_DIR} -MD -MF ${object}.d -c -o ${object} ${source})
		list(APPEND objects ${object})
	endforeach()
	set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON)
	bench_peer(SNMALLOC SOURCES ${objects})
endif()

if(LFPOOL_PEER_RPMALLOC)
	bench_commit(RPMALLOC ${LFPOOL_PEER_RPMALLOC})
	bench_shared(RPMALLOC ${LFPOOL_PEER_RPMALLOC}/rpmalloc/rpmalloc.c ${CMAKE_C_COMPILER} -std=c11 -D_GNU_SOURCE
		-DENABLE_OVERRIDE=0)
	set_source_files_properties(subjects/rpmalloc.c PROPERTIES
		COMPILE_OPTIONS "-isystem;${LFPOOL_PEER_RPMALLOC}/rpmalloc")
	bench_peer(RPMALLOC SOURCES subjects/rpmalloc.c)
endif()

# DPDK as static libraries, and only those that a mempool needs: pkg-config lists some two hundred drivers, and a shared EAL
# loads every installed driver when it starts.  Its compiler options are for one file.  The drivers register themselves;
# nothing refers to them.  Then each library before those that it needs.
set(drivers librte_mempool_ring.a librte_mempool_stack.a)
set(others librte_mempool.a librte_stack.a librte_ring.a librte_eal.a librte_telemetry.a librte_kvargs.a numa bsd m)
if(PKG_CONFIG_FOUND)
	pkg_check_modules(BENCH_libdpdk QUIET libdpdk)
endif()
if(BENCH_libdpdk_FOUND)
	set(options ${BENCH_libdpdk_CFLAGS_OTHER})
	foreach(directory IN LISTS BENCH_libdpdk_INCLUDE_DIRS)
		list(APPEND options -isystem ${directory})
	endforeach()
	set_source_files_properties(subjects/dpdk.c PROPERTIES COMPILE_OPTIONS "${options}")
	set(whole)
	foreach(driver IN LISTS drivers)
		find_library(BENCH_DPDK_${driver} ${driver} REQUIRED)
		mark_as_advanced(BENCH_DPDK_${driver})
		string(APPEND whole ",${BENCH_DPDK_${driver}}")
	endforeach()
	target_link_libraries(lfpool-bench PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE${whole}>")
	bench_peer(DPDK LIBRARY ${others} SOURCES subjects/dpdk.c)
else()
	bench_without(DPDK "libdpdk is not installed")
endif()
