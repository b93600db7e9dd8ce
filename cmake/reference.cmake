# The reference, generated from the headers' comments: target man (manual pages, installed with the library), and target
# reference (HTML, by Doxygen). Nothing else depends on them.
if(NOT PROJECT_IS_TOP_LEVEL AND NOT LFPOOL_INSTALL)
	return()
endif()

find_program(python3 python3 NO_CACHE)
set(unfit 1)
if(python3)
	# Debian's python3-minimal is incomplete.
	execute_process(COMMAND ${python3} -c "import html, pathlib" RESULT_VARIABLE unfit OUTPUT_QUIET ERROR_QUIET)
endif()
if(unfit)
	message(STATUS "No manual pages: they are made by python3 and its library")
	return()
endif()
file(GLOB reference_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/lfpool/*.h ${PROJECT_SOURCE_DIR}/docs/reference/*)
list(APPEND reference_sources ${PROJECT_SOURCE_DIR}/scripts/reference)

# lfpool_reference_made(OUTPUT command...): OUTPUT is touched after the commands have run.
macro(lfpool_reference_made output)
	add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${output} ${ARGN}
		COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_CURRENT_BINARY_DIR}/${output} DEPENDS ${reference_sources} VERBATIM)
endmacro()

set(man ${CMAKE_CURRENT_BINARY_DIR}/man)
lfpool_reference_made(man.made COMMAND ${CMAKE_COMMAND} -E rm -rf ${man}
	COMMAND ${python3} ${PROJECT_SOURCE_DIR}/scripts/reference man ${man})
if(LFPOOL_INSTALL)
	include(GNUInstallDirs)
	add_custom_target(lfpool_man ALL DEPENDS man.made)
	install(DIRECTORY ${man}/ DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
else()
	add_custom_target(lfpool_man DEPENDS man.made)
endif()

find_program(doxygen doxygen NO_CACHE)
if(PROJECT_IS_TOP_LEVEL)
	add_custom_target(man)
	add_dependencies(man lfpool_man)
	if(doxygen)
		set(html ${CMAKE_CURRENT_BINARY_DIR}/reference)
		lfpool_reference_made(reference.made COMMAND ${CMAKE_COMMAND} -E rm -rf ${html}
			COMMAND ${python3} ${PROJECT_SOURCE_DIR}/scripts/reference doxygen ${html}
			COMMAND ${CMAKE_COMMAND} -E chdir ${html} ${doxygen} ${PROJECT_SOURCE_DIR}/docs/reference/Doxyfile)
		add_custom_target(reference DEPENDS reference.made)
	else()
		message(STATUS "No HTML reference: it is made by doxygen")
	endif()
endif()
