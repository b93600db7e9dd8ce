include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
cross_toolchain(riscv64 riscv64-linux-gnu qemu-riscv64)
