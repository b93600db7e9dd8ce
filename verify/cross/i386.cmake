# The build machine's own compiler for 32 bits; its programs run natively.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER gcc)
# gcc-12-multilib, unlike gcc-multilib, can be installed together with the cross compilers, but has no directory for the headers
# of asm/, which are the same for both widths.
set(CMAKE_C_FLAGS_INIT "-m32 -idirafter /usr/include/x86_64-linux-gnu")
