# cmake -DSCRIPT=sed-script -DTEXT=regex (and what check.cmake needs) -P control.cmake
#
# The check fails, with output that matches TEXT, for a copy of lfpool whose build files SCRIPT has changed.
get_filename_component(here ${CMAKE_SCRIPT_MODE_FILE} DIRECTORY)
set(copy ${BUILD}.lfpool)
file(REMOVE_RECURSE ${copy})
file(COPY ${LFPOOL}/CMakeLists.txt ${LFPOOL}/cmake ${LFPOOL}/src ${LFPOOL}/include ${LFPOOL}/common ${LFPOOL}/stress DESTINATION ${copy})
execute_process(COMMAND sed -i -e ${SCRIPT} ${copy}/CMakeLists.txt ${copy}/cmake/house.cmake COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -DLFPOOL=${copy} -DBUILD=${BUILD} -DSHARED=OFF -DC_COMPILER=${C_COMPILER}
	-DCXX_COMPILER=${CXX_COMPILER} -P ${here}/check.cmake RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
# CMake folds its messages.
string(REGEX REPLACE "[ \n]+" " " output "${output}")
if(status EQUAL 0 OR NOT output MATCHES "${TEXT}")
	message(FATAL_ERROR "${output}\nnot caught, or for another reason\n0 passed, 1 failed")
endif()
message("caught: ${CMAKE_MATCH_0}\n1 passed, 0 failed")
