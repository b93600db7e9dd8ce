# Of the source tree that this port lies in.
get_filename_component(SOURCE_PATH ${CURRENT_PORT_DIR}/../../.. ABSOLUTE)
vcpkg_cmake_configure(SOURCE_PATH ${SOURCE_PATH}
	OPTIONS -DLFPOOL_BUILD_TESTS=OFF -DLFPOOL_BUILD_STRESS=OFF -DLFPOOL_BUILD_BENCH=OFF -DLFPOOL_BUILD_EXAMPLES=OFF
		-DLFPOOL_RCU=OFF -DLFPOOL_CK=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME lfpool CONFIG_PATH lib/cmake/lfpool)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include ${CURRENT_PACKAGES_DIR}/debug/share)
vcpkg_install_copyright(FILE_LIST ${SOURCE_PATH}/LICENSE)
