# LFPOOL_PAIR: the library's only source is lfpool.c, as a program has it that uses the pair of files.  Its inner functions are
# static, so tests that call them link the sources instead (lfpool_inside in tests/CMakeLists.txt).
find_program(LFPOOL_PYTHON3 python3 REQUIRED)
file(GLOB_RECURSE pair_from CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.[ch] ${PROJECT_SOURCE_DIR}/include/*)
set(pair ${PROJECT_BINARY_DIR}/pair)
add_custom_command(OUTPUT ${pair}/lfpool.c ${pair}/lfpool.h ${pair}/lfpool.hpp
	COMMAND ${LFPOOL_PYTHON3} ${PROJECT_SOURCE_DIR}/scripts/amalgamate ${pair}
	DEPENDS ${PROJECT_SOURCE_DIR}/scripts/amalgamate ${PROJECT_SOURCE_DIR}/CMakeLists.txt ${pair_from} VERBATIM)
set(lfpool_compiled ${pair}/lfpool.c)
