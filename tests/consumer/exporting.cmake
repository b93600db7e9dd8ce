# cmake -DLFPOOL=... -DBUILD=... -DSHARED=ON|OFF -DC_COMPILER=... -P exporting.cmake
#
# Configures, builds and installs the project in exporting/: its own library is there, and says that it needs lfpool::lfpool;
# nothing of lfpool is.
get_filename_component(here ${CMAKE_SCRIPT_MODE_FILE} DIRECTORY)
file(REMOVE_RECURSE ${BUILD})

function(step)
	execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
	if(NOT status EQUAL 0)
		message(FATAL_ERROR "${output}\nfailed: ${ARGN}")
	endif()
endfunction()

step(${CMAKE_COMMAND} -S ${here}/exporting -B ${BUILD} -G Ninja -DLFPOOL=${LFPOOL} -DBUILD_SHARED_LIBS=${SHARED}
	-DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_INSTALL_PREFIX=${BUILD}/prefix)
step(${CMAKE_COMMAND} --build ${BUILD})
step(${CMAKE_COMMAND} --install ${BUILD})
file(GLOB_RECURSE installed RELATIVE ${BUILD}/prefix ${BUILD}/prefix/*)
list(SORT installed)
if(NOT installed STREQUAL "lib/cmake/user/user-noconfig.cmake;lib/cmake/user/user.cmake;lib/libuser.a")
	message(FATAL_ERROR "installed: ${installed}")
endif()
execute_process(COMMAND nm -D --defined-only ${BUILD}/libplug_in.so OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
if(NOT names MATCHES "user_works" OR names MATCHES " lfpool_")
	message(FATAL_ERROR "the plug-in shows: ${names}")
endif()
foreach(file ${BUILD}/user.cmake ${BUILD}/prefix/lib/cmake/user/user.cmake)
	file(READ ${file} text)
	if(NOT text MATCHES "LINK_ONLY:lfpool::lfpool")
		message(FATAL_ERROR "${file} does not name lfpool::lfpool")
	endif()
endforeach()
