# cmake -DPROGRAM=... -DARGUMENTS=... -DSECONDS=... -DSTATUS=... [-DTEXT=...] [-DKIND=...] -P run.cmake
#
# Runs the harness, and demands exactly this exit status, output that matches TEXT, and violations of this kind (stress/kind.cmake).  Ends with "N passed, N failed".
# LFPOOL_DEEP=1 in the environment: a clean run takes 60 times as long, and draws a new seed, which it prints.
if(DEFINED ENV{LFPOOL_DEEP} AND STATUS EQUAL 0)
	math(EXPR SECONDS "${SECONDS} * 60")
	list(FIND ARGUMENTS --seed at)
	if(at GREATER_EQUAL 0)
		list(REMOVE_AT ARGUMENTS ${at})
		list(REMOVE_AT ARGUMENTS ${at})
	endif()
endif()
execute_process(COMMAND ${PROGRAM} --seconds ${SECONDS} ${ARGUMENTS}
	RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
set(wrong "")
if(NOT status STREQUAL STATUS)
	set(wrong "exit status ${status}, not ${STATUS}")
elseif(TEXT AND NOT output MATCHES "${TEXT}")
	set(wrong "the output does not match '${TEXT}'")
elseif(KIND)
	include(${CMAKE_CURRENT_LIST_DIR}/../../stress/kind.cmake)
	require_kind("${output}" "${KIND}" wrong)
endif()
if(wrong)
	message(FATAL_ERROR "${wrong}\n0 passed, 1 failed")
endif()
message("1 passed, 0 failed")
