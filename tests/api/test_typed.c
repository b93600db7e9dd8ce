/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_typed.c - lfpool/typed.h and lfpool/hidden.h: every function (tests/header/typed.h, run here), and the type's
 * effect on the pool: size, alignment, refusals.  (A module with a private pool: examples/connections.)
 *
 * Built twice: normally, and with WITH_INLINE, where the caches' hits are inlined.
 */
#ifdef WITH_INLINE
#include "lfpool/inline.h"
#endif
#include "lfpool/typed.h"

#include "../support/support.h"

#include "../header/typed.h"

#include <stdalign.h>

TEST(typed_functions_do_what_the_untyped_ones_do)
{
	use_typed();
}

/* Not a power of two, and more strictly aligned than necessary. */
struct wide {
	alignas(32) uint64_t number;
	char name[40];
};

LFPOOL_DEFINE(wide, struct wide);

TEST(typed_pools_have_the_size_and_alignment_of_the_type)
{
	/* Given more room. */
	static const size_t rows[][2] = {{0, 0}, {1000, 128}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		wide_pool_t wides;

		assert_int_equal(wide_pool_create(&wides, &CONFIG_OF(rows[i][0], 10, .object_alignment = rows[i][1])),
				 LFPOOL_OK);
		struct wide *first = wide_acquire(wides);

		assert_int_equal((uintptr_t)first % (i ? 128 : alignof(struct wide)), 0);
		assert_true(stride_of(wides.untyped, first) >= (i ? 1000 : sizeof(struct wide)));
		assert_int_equal(lfpool_capacity(wides.untyped), 10);
		assert_int_equal(wide_pool_destroy(wides), 1);
	}
}

/* Less than the type needs, and configurations that lfpool_create() refuses.  The macros set fields that an older
 * struct lacks. */
TEST(typed_create_refuses_bad_configurations)
{
	const size_t too_early = offsetof(lfpool_config_t, cache_capacity);
	const struct {
		lfpool_config_t config;
		lfpool_status_t expected;
	} rows[] = {{CONFIG_OF(sizeof(struct wide) - 1, 10, .name = NULL), LFPOOL_E_CONFIG_OBJECT_SIZE},
		    {CONFIG_OF(0, 10, .object_alignment = alignof(struct wide) / 2), LFPOOL_E_CONFIG_OBJECT_ALIGNMENT},
		    {CONFIG_OF(0, 0, .name = NULL), LFPOOL_E_CONFIG_CAPACITY},
		    {{.capacity = 1}, LFPOOL_E_CONFIG_STRUCT_SIZE},
		    {{.struct_size = too_early, .capacity = 1}, LFPOOL_E_CONFIG_STRUCT_SIZE}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		wide_pool_t wides = {(lfpool_t *)(uintptr_t)&rows};

		assert_int_equal(wide_pool_create(&wides, &rows[i].config), rows[i].expected);
		assert_null(wides.untyped);
		assert_int_equal(wide_pool_create(&wides, NULL), LFPOOL_E_ARGUMENT);
		assert_int_equal(wide_pool_create(NULL, &rows[i].config), LFPOOL_E_ARGUMENT);
		assert_int_equal(wide_pool_destroy(wides), 0);
	}
}

RUN_TESTS()
