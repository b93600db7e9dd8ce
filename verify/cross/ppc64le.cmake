include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
cross_toolchain(ppc64le powerpc64le-linux-gnu qemu-ppc64le)
