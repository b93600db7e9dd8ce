# lfpool_house_rules(TARGET): the language, the warnings and the sanitizers that all of our own code is built with.
# Nothing here reaches a project that embeds lfpool: the properties are private to the target (but for linking the sanitizers
# that were asked for), and there are warnings only when lfpool is the top-level project.  They are errors where the tests are
# built: who only installs lfpool, with a compiler that knows more of them, gets a library.
function(lfpool_house_rules target)
	set_target_properties(${target} PROPERTIES
		C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
		CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
	target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
	if(PROJECT_IS_TOP_LEVEL)
		target_compile_options(${target} PRIVATE
			-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Wvla
			$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
		if(LFPOOL_BUILD_TESTS)
			target_compile_options(${target} PRIVATE -Werror)
		endif()
	endif()
	if(LFPOOL_SANITIZE)
		string(REPLACE ";" "," sanitizers "${LFPOOL_SANITIZE}")
		target_compile_options(${target} PRIVATE
			-fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
		target_link_options(${target} PUBLIC -fsanitize=${sanitizers})
	endif()
endfunction()
