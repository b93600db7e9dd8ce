# LFPOOL_EMBEDDED: an archive with only pools in buffers (docs/embedded.md). A project uses it by add_subdirectory; there is
# nothing to install.
add_library(lfpool STATIC ${LFPOOL_EMBEDDED_SOURCES})
add_library(lfpool::lfpool ALIAS lfpool)
lfpool_house_rules(lfpool)
lfpool_optimised(lfpool)
target_compile_definitions(lfpool PUBLIC LFPOOL_EMBEDDED)
# A linker takes only the called files of an archive, and with --gc-sections only the called functions.
target_compile_options(lfpool PRIVATE -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables)
target_include_directories(lfpool PUBLIC include PRIVATE src)
set_target_properties(lfpool PROPERTIES C_VISIBILITY_PRESET hidden)
