/* SPDX-License-Identifier: MIT */
/*
 * profile.h - a profile in memory: the settings of each pool in each scenario.  lfpool/registry.h describes its text.
 *
 * Idea         A line of the text that names a pool becomes a `struct profile_line`, with a bit for each key that it
 *              gives.  A look-up reads all lines: a profile has hundreds of them, not thousands.
 * Invariants   PF1 no two lines are equal in pool and scenario.
 *              PF2 scenario 0 is "default", and always exists.
 *              PF3 every value is within the bounds of lfpool_config_t.
 *              PF4 a value that the text gives in bytes stays in bytes in its line, because the line does not know the
 *                  object size.  profile_apply() converts it to objects.
 * Progress     Threads share no data here.  Reading allocates memory.
 */
#ifndef LFPOOL_PROFILE_H
#define LFPOOL_PROFILE_H

#include "base/base.h"
#include "base/words.h"

#include "lfpool/registry.h"

#define PROFILE_NAME_BYTES 64   /* with the 0 at the end; as for the names of pools */
#define PROFILE_NONE UINT32_MAX /* cache_capacity=none */
#define PROFILE_OBJECTS_MAX 2147483647u

#define PROFILE_BYTES_MAX ((uint64_t)PROFILE_OBJECTS_MAX << 30) /* PROFILE_OBJECTS_MAX objects of 1 GiB */
#define PROFILE_GROWTH 8 /* full=grow without a max_capacity: the pool may grow to 8 times its capacity */

/* The values of the key `full`, which decides how an acquire continues when no object is free. */
enum full_policy { FULL_AS_CONFIGURED, FULL_FAIL, FULL_GROW, FULL_EVICT };

/* X(key, the largest number).  If the number is 0, the value is a word, or several words for flags and debug.  Words
 * are stored as a number, except for debug. */
#define PROFILE_KEYS(X)                                          \
	X(capacity, PROFILE_OBJECTS_MAX)                         \
	X(max_capacity, PROFILE_OBJECTS_MAX)                     \
	X(trim, 0)                                               \
	X(keep, PROFILE_OBJECTS_MAX)                             \
	/* A switch cannot change these for an existing pool. */ \
	X(growth_step, PROFILE_OBJECTS_MAX)                      \
	X(cache_capacity, 8192)                                  \
	X(depot_shards, 32)                                      \
	X(full, 0)                                               \
	X(flags, 0)                                              \
	X(backend, 0)                                            \
	X(debug, 0)

/* X(word, key): `word` has a value in bytes, and `key` is the same setting in objects. */
#define PROFILE_BYTE_KEYS(X)       \
	X(bytes, capacity)         \
	X(max_bytes, max_capacity) \
	X(growth_bytes, growth_step)

enum profile_key {
#define PROFILE_KEY(key, most) PROFILE_##key,
	PROFILE_KEYS(PROFILE_KEY)
#undef PROFILE_KEY
		PROFILE_KEY_COUNT,
	PROFILE_FIXED = PROFILE_growth_step /* the first key that a switch cannot change */
};

struct policy {
	uint32_t given;    /* a bit for each key that has a value                                       */
	uint32_t in_bytes; /* a bit for each value that is in bytes; only in lines: PF4                 */
	uint64_t value[PROFILE_KEY_COUNT];
	struct debug_modes modes; /* the value of debug */
};

struct profile_line {
	char pool[PROFILE_NAME_BYTES];
	uint32_t scenario;
	size_t number; /* of the line in the text */
	struct policy policy;
};

struct profile_scenario {
	char name[PROFILE_NAME_BYTES];
	size_t number; /* of its line in the text; 0: "default" */
};

struct profile {
	struct profile_scenario *scenarios;
	struct profile_line *lines;
	size_t scenario_count, scenario_room, line_count, line_room;
};

/* Returns LFPOOL_OK; LFPOOL_E_PROFILE, with the reason in *error; LFPOOL_E_NO_MEMORY.  A failure leaves nothing to
 * free. */
lfpool_status_t profile_read(struct profile *p, const char *text, lfpool_profile_error_t *error);
/* Returns LFPOOL_E_NO_MEMORY, and stores its text in *error. */
lfpool_status_t profile_no_memory(lfpool_profile_error_t *error);
void profile_free(struct profile *p);

/* Is this a valid name for a pool or a scenario? */
bool profile_name_fits(const char *name, size_t length);
/* The number of the scenario; false if the profile has none of that name. */
bool profile_find_scenario(const struct profile *p, const char *name, uint32_t *scenario_out);
/* Overrides *policy with the settings of this pool in this scenario.  The object size converts values in bytes to
 * objects. */
void profile_apply(const struct profile *p, const char *pool, size_t object_size, uint32_t scenario,
		   struct policy *policy);

static inline bool policy_gives(const struct policy *policy, enum profile_key key)
{
	return policy->given >> key & 1;
}

/* The largest number of objects that the pool can have. */
static inline uint64_t policy_max_capacity(const struct policy *policy)
{
	const uint64_t capacity = policy->value[PROFILE_capacity], most = policy->value[PROFILE_max_capacity];

	if (!most && policy->value[PROFILE_full] == FULL_GROW)
		return PROFILE_GROWTH * capacity < PROFILE_OBJECTS_MAX ? PROFILE_GROWTH * capacity
								       : PROFILE_OBJECTS_MAX;
	return most > capacity ? most : capacity;
}

/* The largest policy_max_capacity() of the pool in any scenario; *base: the pool's configuration without a profile. */
uint64_t profile_reserve(const struct profile *p, const char *pool, size_t object_size, const struct policy *base);

#endif
