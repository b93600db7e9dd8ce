include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
cross_toolchain(s390x s390x-linux-gnu qemu-s390x)
