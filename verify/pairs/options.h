/* SPDX-License-Identifier: MIT */
/*
 * options.h - the options of a pool, the pairs that exclude each other, and rows that combine every other pair.
 *
 * Idea         An option is a dimension, a way to set it a value.  A row has one value of each dimension.  A rule
 *              names two values that exclude each other, and the status that the library answers to them.  The rows
 *              are a covering array: any two values of different dimensions that no rule names are together in some
 *              row.
 */
#ifndef LFPOOL_PAIRS_OPTIONS_H
#define LFPOOL_PAIRS_OPTIONS_H

#include "common/harness.h"
#include "lfpool/lfpool.h"

/* X(name, value, ...); for flags, "no" is 0. */
/* clang-format off */
#define DIMENSIONS(X)                                                                                           \
	X(library, "static", "shared", "two-file")                                                       \
	X(made, "create", "create_in", "set", "registry", "class")                                              \
	X(backend, "lockfree", "mutex", "malloc")                                                               \
	X(membarrier, "on", "off")                                                                              \
	X(prefault, "no", "yes")                                                                                \
	X(zero, "no", "yes")                                                                                    \
	X(check_races, "no", "yes")                                                                             \
	X(create_all, "no", "yes")                                                                              \
	X(lock, "no", "yes")                                                                                    \
	X(huge_pages, "no", "yes")                                                                              \
	X(plain_stride, "no", "yes")                                                                            \
	X(fenced, "no", "yes")                                                                                  \
	X(hooks, "none", "build", "activate", "all", "refusing")                                                \
	X(debug, "none", "check", "zero", "no-tools", "environment", "poison", "quarantine", "guard", "owner",  \
	  "backtrace")                                                                                          \
	X(capacity, "1", "2", "33", "300")                                                                      \
	X(growth, "fixed", "manual", "automatic")                                                               \
	X(evict, "no", "less", "less or equal")                                                                 \
	X(scheme, "none", "asked", "told")                                                                      \
	X(caches, "thread", "small", "explicit", "none")                                                        \
	X(size, "8", "48", "1024")                                                                              \
	X(before, "nothing", "a pool", "a pool in a buffer")
/* clang-format on */

#define VALUES_MAX 10

enum dimension {
#define DIMENSION_ENUM(name, ...) of_##name,
	DIMENSIONS(DIMENSION_ENUM)
#undef DIMENSION_ENUM
		DIMENSION_COUNT
};

/* Values in the order above; of `debug` those that code names. */
enum { LIBRARY_STATIC, LIBRARY_SHARED, LIBRARY_TWO_FILE };
enum { MADE_CREATE, MADE_IN, MADE_SET, MADE_REGISTRY, MADE_CLASS };
enum { HOOKS_NONE, HOOKS_BUILD, HOOKS_ACTIVATE, HOOKS_ALL, HOOKS_REFUSING };
enum { DEBUG_ZERO = 2, DEBUG_ENVIRONMENT = 4, DEBUG_POISON = 5, DEBUG_OWNER = 8 };
enum { GROWTH_FIXED, GROWTH_BY_HAND, GROWTH_BY_ITSELF };
enum { SCHEME_NONE, SCHEME_ASKED, SCHEME_TOLD };
enum { CACHES_THREAD, CACHES_SMALL, CACHES_EXPLICIT, CACHES_NONE };
enum { BEFORE_NOTHING, BEFORE_POOL, BEFORE_BUFFER };

struct row {
	unsigned char value[DIMENSION_COUNT];
};

extern const char *const dimension_names[DIMENSION_COUNT];
extern const char *const value_names[DIMENSION_COUNT][VALUES_MAX];

/* A value of a dimension, as one number below CHOICES: VALUES_MAX for each dimension, some of them unused. */
#define CHOICES (DIMENSION_COUNT * VALUES_MAX)

bool choice_exists(unsigned choice);

static inline unsigned choice_of(const struct row *row, unsigned dimension)
{
	return dimension * VALUES_MAX + row->value[dimension];
}

/* Two values that exclude each other. */
struct rule {
	enum dimension one;
	unsigned values; /* bits */
	enum dimension other;
	unsigned other_values;
	lfpool_status_t status; /* the library's answer; LFPOOL_OK: they cannot even be requested */
};

/* The rule against these two, or NULL. */
const struct rule *rule_against(unsigned choice, unsigned other);

/* The covering array of this seed, in *rows_out, valid until the next call; also the numbers of covered and of
 * excluded pairs.  Ends the program if a pair that no rule names is in no row. */
size_t cover(uint64_t seed, const struct row **rows_out, size_t *pairs_out, size_t *excluded_out);
/* A row with these two, and no other two that a rule names; without one, ends the program. */
struct row row_with(unsigned choice, unsigned other, struct random *r);

#endif
