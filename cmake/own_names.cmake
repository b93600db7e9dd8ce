# cmake -DNM=... -DOBJCOPY=... -DARCHIVE=liblfpool.a -P own_names.cmake
#
# The library's internal functions have short names, such as cache_put or text_open, which a linker sees in an archive.  A
# program with a function cache_put could not be linked, or its function would be called.  So they are renamed in the archive:
# lfpool_own_cache_put.  Where that is impossible (a compiler's own format for link-time optimisation), the archive stays
# unchanged.
execute_process(COMMAND ${NM} --extern-only --defined-only --format=posix ${ARCHIVE} OUTPUT_VARIABLE symbols ERROR_QUIET)
string(REGEX MATCHALL "(^|\n)[a-zA-Z_0-9.]+ [A-Z] " symbols "${symbols}")
list(TRANSFORM symbols REPLACE "^\n?([^ ]+) . $" "\\1")
# The probes' symbol (src/base/probes.h) is the same in every program with probes.
list(FILTER symbols EXCLUDE REGEX "^(lfpool_|_\\.stapsdt\\.)")
list(TRANSFORM symbols REPLACE "(.+)" "\\1 lfpool_own_\\1\n")
list(JOIN symbols "" renames)
file(WRITE ${ARCHIVE}.names "${renames}")
execute_process(COMMAND ${OBJCOPY} --redefine-syms=${ARCHIVE}.names ${ARCHIVE} ${ARCHIVE}.renamed RESULT_VARIABLE status
	ERROR_VARIABLE said)
if(status EQUAL 0)
	file(RENAME ${ARCHIVE}.renamed ${ARCHIVE})
else()
	message("${ARCHIVE}: the library's inner names stay visible to the linker: ${said}")
	file(REMOVE ${ARCHIVE}.renamed)
endif()
file(REMOVE ${ARCHIVE}.names)
