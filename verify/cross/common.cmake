# Shared by the toolchain files of this folder.
#
#     cmake -S . -B build/aarch64 -G Ninja --toolchain verify/cross/aarch64.cmake && cmake --build build/aarch64 &&
#     ctest --test-dir build/aarch64 -L 'unit|misuse|threads'
#
# The tests' framework exists only for the build machine; cmocka/cmocka.h replaces it.  It is a header, so the library to link
# is one that is linked anyway.
set(CMAKE_SYSTEM_NAME Linux)
set(CMOCKA_INCLUDE_DIR ${CMAKE_CURRENT_LIST_DIR}/cmocka CACHE PATH "The stand-in for cmocka")
set(CMOCKA_LIBRARY c CACHE STRING "No library behind it")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

# cross_toolchain(PROCESSOR TRIPLET EMULATOR): Debian's cross compiler, and qemu's user mode to run its programs.
macro(cross_toolchain processor triplet emulator)
	set(CMAKE_SYSTEM_PROCESSOR ${processor})
	set(CMAKE_C_COMPILER ${triplet}-gcc)
	set(CMAKE_FIND_ROOT_PATH /usr/${triplet})
	set(CMAKE_CROSSCOMPILING_EMULATOR ${emulator} -L /usr/${triplet} CACHE STRING "How to run a program of the target")
endmacro()
