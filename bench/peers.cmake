# The peers: each is measured if it is installed, and is named as missing in the results if not.  Not in sanitized builds:
# the peers are not instrumented.

find_package(PkgConfig QUIET)

# bench_peer(NAME [PKG MODULE...] [HEADER FILE] [LIBRARY NAME...] SOURCES FILE...): defines BENCH_HAS_<NAME> and adds the
# sources if the peer is there.  Its headers are the system's: our warnings are not for them.
function(bench_peer name)
	cmake_parse_arguments(peer "" "HEADER" "PKG;LIBRARY;SOURCES" ${ARGN})
	if(LFPOOL_SANITIZE)
		return()
	endif()
	set(libraries)
	foreach(module IN LISTS peer_PKG)
		if(NOT PKG_CONFIG_FOUND)
			message(STATUS "lfpool-bench without ${name}: pkg-config is not installed")
			return()
		endif()
		pkg_check_modules(BENCH_${module} QUIET IMPORTED_TARGET ${module})
		if(NOT BENCH_${module}_FOUND)
			message(STATUS "lfpool-bench without ${name}: ${module} is not installed")
			return()
		endif()
		list(APPEND libraries PkgConfig::BENCH_${module})
	endforeach()
	if(peer_HEADER)
		find_path(BENCH_${name}_INCLUDE ${peer_HEADER})
		mark_as_advanced(BENCH_${name}_INCLUDE)
		if(NOT BENCH_${name}_INCLUDE)
			message(STATUS "lfpool-bench without ${name}: ${peer_HEADER} is not installed")
			return()
		endif()
		target_include_directories(lfpool-bench SYSTEM PRIVATE ${BENCH_${name}_INCLUDE})
	endif()
	foreach(library IN LISTS peer_LIBRARY)
		find_library(BENCH_${name}_${library} ${library})
		mark_as_advanced(BENCH_${name}_${library})
		if(NOT BENCH_${name}_${library})
			message(STATUS "lfpool-bench without ${name}: lib${library} is not installed")
			return()
		endif()
		list(APPEND libraries ${BENCH_${name}_${library}})
	endforeach()
	target_sources(lfpool-bench PRIVATE ${peer_SOURCES})
	target_link_libraries(lfpool-bench PRIVATE ${libraries})
	target_compile_definitions(lfpool-bench PRIVATE BENCH_HAS_${name})
endfunction()

# ---- C++ ----

bench_peer(BOOST HEADER boost/lockfree/stack.hpp
	SOURCES subjects/boost_pool.cpp subjects/boost_stack_dynamic.cpp subjects/boost_stack_fixed.cpp)

# Packages differ in the folder, and the header does not say its version.
find_path(BENCH_MOODYCAMEL_INCLUDE concurrentqueue.h PATH_SUFFIXES concurrentqueue concurrentqueue/moodycamel)
bench_peer(MOODYCAMEL HEADER concurrentqueue.h SOURCES subjects/moodycamel.cpp)
execute_process(COMMAND dpkg-query --show --showformat=\${Version} libconcurrentqueue-dev
	RESULT_VARIABLE moodycamel_unknown OUTPUT_VARIABLE moodycamel_version ERROR_QUIET)
if(moodycamel_unknown)
	set(moodycamel_version "of unknown version")
endif()
set_source_files_properties(subjects/moodycamel.cpp PROPERTIES
	COMPILE_DEFINITIONS BENCH_MOODYCAMEL_VERSION="${moodycamel_version}")

bench_peer(TBB HEADER tbb/memory_pool.h LIBRARY tbbmalloc SOURCES subjects/tbb_fixed.cpp subjects/tbb_scalable.cpp)

bench_peer(TBB_QUEUE HEADER tbb/concurrent_priority_queue.h LIBRARY tbb SOURCES priority/tbb_queue.cpp)

# Not every C++ library has it: libc++ since 16.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -std=c++20)
check_cxx_source_compiles("#include <memory_resource>
	int main() { std::pmr::synchronized_pool_resource pool; }" BENCH_PMR_COMPILES)
unset(CMAKE_REQUIRED_FLAGS)
if(BENCH_PMR_COMPILES)
	bench_peer(PMR SOURCES subjects/pmr.cpp)
endif()

# ---- Peers in C ----

# bench_define(FILE NAME VALUE): a string for one file, such as a version that the peer's headers do not tell.
function(bench_define file name value)
	set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS "${name}=\"${value}\"")
endfunction()

bench_peer(CK PKG ck SOURCES subjects/ck_ring.c subjects/ck_stack.c subjects/spin.c)

bench_peer(URCU PKG liburcu-cds SOURCES subjects/urcu_lfstack.c subjects/urcu_wfstack.c)
bench_define(subjects/urcu_lfstack.c BENCH_URCU_VERSION "${BENCH_liburcu-cds_VERSION}")
bench_define(subjects/urcu_wfstack.c BENCH_URCU_VERSION "${BENCH_liburcu-cds_VERSION}")

# bench_deferring(NAME COMPONENT VERSION PACKAGE... SOURCES file...): peers with a component of ours, which is there if their headers
# are; VERSION is defined to be that of the first package.
function(bench_deferring name component version)
	cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "SOURCES")
	list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/retire/)
	set(bench_${component}_sources ${arg_SOURCES} PARENT_SCOPE)
	if(NOT TARGET lfpool-${component})
		message(STATUS "lfpool-bench without ${name}: lfpool-${component} is not built")
		return()
	endif()
	bench_peer(${name} PKG ${arg_UNPARSED_ARGUMENTS} SOURCES ${arg_SOURCES})
	get_target_property(peers lfpool-bench COMPILE_DEFINITIONS)
	if("BENCH_HAS_${name}" IN_LIST peers)
		target_link_libraries(lfpool-bench PRIVATE lfpool-${component})
		list(GET arg_UNPARSED_ARGUMENTS 0 package)
		foreach(file IN LISTS arg_SOURCES)
			bench_define(${file} ${version} "${BENCH_${package}_VERSION}")
		endforeach()
	endif()
endfunction()
bench_deferring(RETIRE_RCU rcu BENCH_URCU_VERSION liburcu-memb liburcu-qsbr
	SOURCES call_rcu_malloc.c call_rcu_pool.c lfpool_qsbr.c lfpool_rcu.c synchronize_rcu.c)
bench_deferring(RETIRE_CK ck BENCH_CK_VERSION ck SOURCES ck_epoch_malloc.c lfpool_epoch.c)

bench_peer(GLIB PKG glib-2.0 SOURCES subjects/glib_slice.c)

# Of these two Debian has no packages: they are measured if the folder of their source is named, each inlined and called.
# clang compiles snmalloc if it is there: its documentation advises against gcc.
set(LFPOOL_PEER_SNMALLOC "" CACHE PATH "The source of snmalloc, to be measured")
set(LFPOOL_PEER_RPMALLOC "" CACHE PATH "The source of rpmalloc, to be measured")

# bench_shared(NAME SOURCE COMMAND...): compiles a shared library, whose path is BENCH_<NAME>_LIBRARY in called.c.
function(bench_shared name source)
	string(TOLOWER ${name} lower)
	set(library ${CMAKE_CURRENT_BINARY_DIR}/libbench-${lower}.so)
	add_custom_command(OUTPUT ${library} COMMAND ${ARGN} -O3 -fPIC -shared -pthread -o ${library} ${source}
		DEPENDS ${source} VERBATIM)
	target_sources(lfpool-bench PRIVATE ${library})
	target_compile_definitions(lfpool-bench PRIVATE BENCH_${name}_LIBRARY="${library}")
endfunction()

if(LFPOOL_PEER_SNMALLOC AND NOT LFPOOL_SANITIZE)
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
			-D${way} -Wall -Wextra -I${PROJECT_SOURCE_DIR} -MD -MF ${object}.d -c -o ${object} ${source})
		list(APPEND objects ${object})
	endforeach()
	set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON)
	bench_peer(SNMALLOC SOURCES ${objects})
endif()

if(LFPOOL_PEER_RPMALLOC AND NOT LFPOOL_SANITIZE)
	bench_shared(RPMALLOC ${LFPOOL_PEER_RPMALLOC}/rpmalloc/rpmalloc.c ${CMAKE_C_COMPILER} -std=c11 -D_GNU_SOURCE
		-DENABLE_OVERRIDE=0)
	set_source_files_properties(subjects/rpmalloc.c PROPERTIES
		COMPILE_OPTIONS "-isystem;${LFPOOL_PEER_RPMALLOC}/rpmalloc")
	bench_peer(RPMALLOC SOURCES subjects/rpmalloc.c)
endif()

# DPDK as static libraries, and of these only what a mempool needs: pkg-config's list names some two hundred drivers, and
# a shared EAL loads every driver that is installed when it starts.  What the list says to the compiler is for one file.
function(bench_dpdk)
	# The drivers register themselves; nothing refers to them.  Then each before the next that it needs.
	set(drivers librte_mempool_ring.a librte_mempool_stack.a)
	set(others librte_mempool.a librte_stack.a librte_ring.a librte_eal.a librte_telemetry.a librte_kvargs.a numa bsd m)
	if(LFPOOL_SANITIZE)
		return()
	endif()
	if(PKG_CONFIG_FOUND)
		pkg_check_modules(BENCH_libdpdk QUIET libdpdk)
	endif()
	if(NOT BENCH_libdpdk_FOUND)
		message(STATUS "lfpool-bench without DPDK: libdpdk is not installed")
		return()
	endif()
	foreach(library IN LISTS drivers others)
		find_library(BENCH_DPDK_${library} ${library})
		mark_as_advanced(BENCH_DPDK_${library})
		if(NOT BENCH_DPDK_${library})
			message(STATUS "lfpool-bench without DPDK: ${library} is not installed")
			return()
		endif()
	endforeach()
	set(whole "$<LINK_LIBRARY:WHOLE_ARCHIVE")
	foreach(driver IN LISTS drivers)
		string(APPEND whole ",${BENCH_DPDK_${driver}}")
	endforeach()
	target_link_libraries(lfpool-bench PRIVATE "${whole}>")
	set(options ${BENCH_libdpdk_CFLAGS_OTHER})
	foreach(directory IN LISTS BENCH_libdpdk_INCLUDE_DIRS)
		list(APPEND options -isystem ${directory})
	endforeach()
	set_source_files_properties(subjects/dpdk.c PROPERTIES COMPILE_OPTIONS "${options}")
	bench_peer(DPDK LIBRARY ${others} SOURCES subjects/dpdk.c)
endfunction()
bench_dpdk()
