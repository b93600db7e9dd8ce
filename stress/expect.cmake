# cmake -DPROGRAM=... -DARGUMENTS=... -DSTATUS=... [-DTEXT=...] [-DKIND=...] [-DSECONDS=...] -P expect.cmake
#
# Runs the harness, and demands exactly this exit status, output that matches TEXT, and violations of this KIND: of each cell that
# failed the first one matches it, and there is one.  A fault that was committed on purpose must be found for what it is; what
# follows it may be a consequence.  (WILL_FAIL would take a crash for a finding.)  Ends with "N passed, N failed".
# SECONDS, if given: with LFPOOL_DEEP=1 in the environment a clean run takes 60 times as long, and draws a new seed, which it prints.
if(SECONDS AND DEFINED ENV{LFPOOL_DEEP} AND STATUS EQUAL 0)
	math(EXPR SECONDS "${SECONDS} * 60")
	string(REGEX REPLACE ";--seed;[0-9]+" "" ARGUMENTS "${ARGUMENTS}")
endif()
if(SECONDS)
	list(APPEND ARGUMENTS --seconds ${SECONDS})
endif()
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")

set(wrong "")
if(NOT status STREQUAL STATUS)
	set(wrong "exit status ${status}, not ${STATUS}")
elseif(TEXT AND NOT output MATCHES "${TEXT}")
	set(wrong "the output does not match '${TEXT}'")
elseif(KIND)
	string(REGEX REPLACE "[;[]|]" "," lines "${output}")
	string(REGEX MATCHALL "VIOLATION [^\n]*\n(    [^\n]*\n)*  seed" firsts "${lines}")
	if(NOT firsts)
		set(wrong "there is no violation")
	endif()
	foreach(first IN LISTS firsts)
		string(REGEX REPLACE "\n.*" "" first "${first}")
		if(NOT first MATCHES "${KIND}")
			set(wrong "found, but not as '${KIND}': ${first}")
		endif()
	endforeach()
endif()
if(wrong)
	message(FATAL_ERROR "${wrong}\n0 passed, 1 failed")
endif()
message("1 passed, 0 failed")
