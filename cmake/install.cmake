# `cmake --install`: headers, the library, its components, the CMake package and the pkg-config files; reference.cmake adds
# manual pages.  The result can be moved: no installed file contains a path.  A project that embeds lfpool installs nothing of
# it unless it asks to.  A static and a shared library may share a prefix: two builds, both installed there (docs/install.md).
option(LFPOOL_INSTALL "Install lfpool too" ${PROJECT_IS_TOP_LEVEL})
if(NOT LFPOOL_INSTALL)
	# A project that exports its own targets may link lfpool; then CMake needs the name by which others find lfpool.
	# Lfpool's files are not installed, because they are excluded; and GNUInstallDirs would leave variables behind.
	foreach(target lfpool lfpool-rcu lfpool-ck)
		if(TARGET ${target})
			string(REPLACE "lfpool-" "" lfpool_name ${target})
			set_target_properties(${target} PROPERTIES EXPORT_NAME ${lfpool_name})
			install(TARGETS ${target} EXPORT ${target}-embedded ARCHIVE DESTINATION lib EXCLUDE_FROM_ALL
				LIBRARY DESTINATION lib EXCLUDE_FROM_ALL INCLUDES DESTINATION include)
			install(EXPORT ${target}-embedded NAMESPACE lfpool:: DESTINATION lib/cmake/lfpool EXCLUDE_FROM_ALL)
			export(EXPORT ${target}-embedded NAMESPACE lfpool:: FILE ${PROJECT_BINARY_DIR}/${target}-embedded.cmake)
		endif()
	endforeach()
	return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(lfpool_package ${CMAKE_INSTALL_LIBDIR}/cmake/lfpool)
set(lfpool_kind static)
if(BUILD_SHARED_LIBS)
	set(lfpool_kind shared)
endif()

# install_library(TARGET): the library, and the file that describes it to the package.  The files of both kinds can coexist.
function(install_library target)
	install(TARGETS ${target} EXPORT ${target}-${lfpool_kind}
		ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
		RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
		INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
	install(EXPORT ${target}-${lfpool_kind} NAMESPACE lfpool:: DESTINATION ${lfpool_package})
endfunction()

# install_pkg_config(NAME): cmake/NAME.pc.in with paths relative to its place.
function(install_pkg_config name)
	cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE from)
	foreach(directory LIBDIR INCLUDEDIR)
		cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_${directory} BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE path)
		file(RELATIVE_PATH LFPOOL_${directory} ${CMAKE_INSTALL_PREFIX} ${path})
	endforeach()
	file(RELATIVE_PATH LFPOOL_UP ${from}/pkgconfig ${CMAKE_INSTALL_PREFIX})
	string(REGEX REPLACE "/$" "" LFPOOL_UP "${LFPOOL_UP}")
	set(LFPOOL_NEEDED ${LFPOOL_NEEDS})
	list(TRANSFORM LFPOOL_NEEDED REPLACE "^Threads::Threads$" "pthread")
	list(TRANSFORM LFPOOL_NEEDED PREPEND "-l")
	list(TRANSFORM LFPOOL_NEEDED REPLACE "^-lpthread$" "-pthread")
	list(JOIN LFPOOL_NEEDED " " LFPOOL_NEEDED)
	configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
	install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# install_component(NAME HEADER)
function(install_component name header)
	if(TARGET lfpool-${name})
		set_target_properties(lfpool-${name} PROPERTIES EXPORT_NAME ${name})
		install_library(lfpool-${name})
		install_pkg_config(lfpool-${name})
		install(FILES ${PROJECT_SOURCE_DIR}/include/lfpool/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lfpool)
	endif()
endfunction()

install_library(lfpool)
install_pkg_config(lfpool)
install(DIRECTORY include/lfpool DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
	FILES_MATCHING PATTERN *.h PATTERN *.hpp PATTERN rcu.h EXCLUDE PATTERN epoch.h EXCLUDE)
install_component(rcu rcu.h)
install_component(ck epoch.h)

# The command of gdb, docs/debugging.md.  gdb looks for the script of a shared library in a folder named after the library's path,
# which is known when the library is installed.
set(lfpool_gdb ${PROJECT_SOURCE_DIR}/scripts/lfpool-gdb.py)
install(FILES ${lfpool_gdb} DESTINATION ${CMAKE_INSTALL_DATADIR}/lfpool)
if(BUILD_SHARED_LIBS AND UNIX)
	set(lfpool_place "\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}")
	if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
		set(lfpool_place ${CMAKE_INSTALL_LIBDIR})
	endif()
	install(FILES ${lfpool_gdb} DESTINATION "${CMAKE_INSTALL_DATADIR}/gdb/auto-load/${lfpool_place}"
		RENAME liblfpool.so.${PROJECT_VERSION}-gdb.py)
endif()

# While the version is 0.x, a minor version may change anything.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lfpool-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/lfpool-config.cmake ${PROJECT_BINARY_DIR}/lfpool-config-version.cmake
	DESTINATION ${lfpool_package})
