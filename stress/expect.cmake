# cmake -DPROGRAM=... -DARGUMENTS=... -DSTATUS=... [-DTEXT=...] [-DKIND=...] -P expect.cmake
#
# Runs the program and demands exactly this exit status, output that matches TEXT, and violations of this kind (kind.cmake).
# WILL_FAIL would take a crash for a finding.
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(NOT status STREQUAL STATUS)
	message(FATAL_ERROR "exit status ${status}, not ${STATUS}")
endif()
if(TEXT AND NOT output MATCHES "${TEXT}")
	message(FATAL_ERROR "the output does not match '${TEXT}'")
endif()
if(KIND)
	include(${CMAKE_CURRENT_LIST_DIR}/kind.cmake)
	require_kind("${output}" "${KIND}" wrong)
	if(wrong)
		message(FATAL_ERROR "${wrong}")
	endif()
endif()
