include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
cross_toolchain(armv7l arm-linux-gnueabihf qemu-arm)
