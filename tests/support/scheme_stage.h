/* SPDX-License-Identifier: MIT */
/* scheme_stage.h - a test on each kind of pool (kinds.h), with each of the two schemes (schemes.h). */
#ifndef LFPOOL_TESTS_SCHEME_STAGE_H
#define LFPOOL_TESTS_SCHEME_STAGE_H

#include "kinds.h"
#include "schemes.h"

static inline void scheme_stage_open(struct stage *s, const struct kind *kind, enum scheme_kind how, size_t capacity,
				     size_t max_capacity)
{
	lfpool_config_t config = stage_config(s, kind, capacity, max_capacity);

	config.scheme = fake_scheme(how);
	s->pool = pool_with(&config);
}

/* STAGED_TEST(name, capacity, max_capacity) { ... }: the body is run on each of them, as `s`; fake.kind says which scheme it
 * has.  What it leaves retired is reclaimed at the end, and nothing may be active then. */
#define STAGED_TEST(name, capacity, max_capacity)                                     \
	static void name##_staged(struct stage *s);                                   \
	KIND_TEST(name)                                                               \
	{                                                                             \
		for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {           \
			struct stage s;                                               \
                                                                                      \
			scheme_stage_open(&s, kind, how, (capacity), (max_capacity)); \
			name##_staged(&s);                                            \
			fake_end_all(s.pool);                                         \
			stage_close(&s);                                              \
		}                                                                     \
	}                                                                             \
	static void name##_staged(struct stage *s)

#endif
