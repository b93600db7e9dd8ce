# Tests of the scripts that drive lfpool-bench and make documents of what it measured.  They run against a stand-in with invented
# figures, so once is enough: in preset release.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
	find_program(LFPOOL_PYTHON3 python3)
	if(NOT LFPOOL_PYTHON3)
		message(FATAL_ERROR "The tests of bench/run and bench/report need python3 (Debian, Ubuntu: apt-get install python3)")
	endif()
	foreach(name run report)
		add_test(NAME bench_${name} COMMAND ${LFPOOL_PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/test_${name}.py)
		set_tests_properties(bench_${name} PROPERTIES LABELS bench TIMEOUT 600 COST 100)
	endforeach()
endif()
