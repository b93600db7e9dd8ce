# The tests of the optional components: lfpool/rcu.h with each flavour of liburcu, lfpool/epoch.h with ConcurrencyKit.
# Tests of components that are not installed are left out: cmake/components.cmake reports it.

# lfpool_component_test(NAME COMPONENT SOURCE INCLUDE LIBRARY...): a test program that uses a component.
function(lfpool_component_test name component source include)
	lfpool_test(NAME ${name} SOURCES ${source} LABELS threads ${component} ONCE)
	target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR})
	target_include_directories(test_${name} SYSTEM PRIVATE ${include})
	target_link_libraries(test_${name} PRIVATE lfpool::${component} ${ARGN})
endfunction()

if(TARGET lfpool::rcu)
	foreach(flavour memb mb bp qsbr signal)
		find_path(LFPOOL_URCU_${flavour}_INCLUDE urcu/urcu-${flavour}.h HINTS ${LFPOOL_URCU_INCLUDE})
		find_library(LFPOOL_URCU_${flavour}_LIBRARY urcu-${flavour})
		mark_as_advanced(LFPOOL_URCU_${flavour}_INCLUDE LFPOOL_URCU_${flavour}_LIBRARY)
		# Later versions have no flavour `signal`.
		if(NOT LFPOOL_URCU_${flavour}_INCLUDE OR NOT LFPOOL_URCU_${flavour}_LIBRARY)
			message(STATUS "lfpool-rcu is not tested with liburcu's flavour ${flavour}: not installed")
			continue()
		endif()
		# ThreadSanitizer delays signals until the thread makes a system call: a grace period would not end.
		if(flavour STREQUAL signal AND "thread" IN_LIST LFPOOL_SANITIZE)
			continue()
		endif()
		string(TOUPPER FLAVOUR_${flavour} macro)
		foreach(test readers rcu)
			set(name ${test}_${flavour})
			lfpool_component_test(${name} rcu retire/test_${test}.c ${LFPOOL_URCU_${flavour}_INCLUDE}
				${LFPOOL_URCU_${flavour}_LIBRARY})
			target_compile_definitions(test_${name} PRIVATE
				FLAVOUR_HEADER="urcu/urcu-${flavour}.h" ${macro})
		endforeach()
	endforeach()
endif()

if(TARGET lfpool::ck)
	foreach(test epoch epoch_signals)
		lfpool_component_test(${test} ck retire/test_${test}.c ${LFPOOL_CK_INCLUDE} ${LFPOOL_CK_LIBRARY})
	endforeach()
	lfpool_component_test(readers_epoch ck retire/test_readers.c ${LFPOOL_CK_INCLUDE} ${LFPOOL_CK_LIBRARY})
	target_compile_definitions(test_readers_epoch PRIVATE FLAVOUR_EPOCH)
endif()
