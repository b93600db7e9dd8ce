# cmake -DPROGRAM=... -DARGUMENTS=... -DSTATUS=... [-DTEXT=...] -P expect.cmake
#
# Runs the program and demands exactly this exit status, and output that matches TEXT.  WILL_FAIL would take a crash for a finding.
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(NOT status STREQUAL STATUS)
	message(FATAL_ERROR "exit status ${status}, not ${STATUS}")
endif()
if(TEXT AND NOT output MATCHES "${TEXT}")
	message(FATAL_ERROR "the output does not match '${TEXT}'")
endif()
