include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
cross_toolchain(aarch64 aarch64-linux-gnu qemu-aarch64)
