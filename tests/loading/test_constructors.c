/* SPDX-License-Identifier: MIT */
/* test_constructors.c - the very first pool is made while a library is loaded, and so is the second
 * (in_constructor.c). */
#include "../../common/test.h"
#include "loading.h"

#include <unistd.h>

TEST(constructor_of_a_plug_in_creates_a_pool)
{
	const char *const paths[] = {IN_CONSTRUCTOR_SHARED, IN_CONSTRUCTOR_STATIC};

	for (size_t i = 0; i < 2; i++) {
		void (*join_first)(void);
		void *library;

		/* If each waits for the other for ever, this ends it. */
		(void)alarm(60);
		library = dlopen(paths[i], RTLD_NOW);
		assert_non_null(library);
		/* POSIX's way to convert a data pointer to a function pointer. */
		*(void **)&join_first = dlsym(library, "join_first");
		REQUIRE(join_first);
		join_first();
		(void)alarm(0);
	}
}

RUN_TESTS()
