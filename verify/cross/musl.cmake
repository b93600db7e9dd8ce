# The build machine's compiler with another C library, musl, which has neither the kernel's headers nor execinfo.h; what it makes runs
# as it is.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
set(CMAKE_C_COMPILER musl-gcc)
