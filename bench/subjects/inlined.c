/* SPDX-License-Identifier: MIT */
/*
 * inlined.c - lfpool through a cache per thread and lfpool/inline.h: with a state word for each object, which is the
 * default; without; with the check against two releases at the same instant; and with hooks for each acquire and
 * release, which do nothing.  And with magazines of one object, so
 * that every call goes to the depot: what its heads cost, alone and contended.
 */
#include "pool.h"

#include "lfpool/inline.h"

#define CALL(name) lfpool_cache_##name
#include "calls.h"

#include "../workloads.h"

static void *open_races(const struct plan *plan)
{
	return pool_open(plan, LFPOOL_BACKEND_LOCKFREE, LFPOOL_CHECK_RACES);
}

static bool do_nothing(void *context, void *object)
{
	(void)context;
	(void)object;
	return true;
}

static void *open_hooks(const struct plan *plan)
{
	const lfpool_hooks_t hooks = {.activate = do_nothing, .deactivate = do_nothing};

	return pool_open_hooked(plan, LFPOOL_BACKEND_LOCKFREE, 0, 0, &hooks);
}

static void *open_depot(const struct plan *plan)
{
	return pool_open_cached(plan, LFPOOL_BACKEND_LOCKFREE, 0, 2);
}

#define SUBJECT(its_name, its_what, its_open)                         \
	{.name = its_name,                                            \
	 .what = "a cache for each thread, lfpool/inline.h" its_what, \
	 .traits = TRAIT_BOUNDED | TRAIT_POOL,                        \
	 POOL_BY_CACHE(its_open)}

const struct subject subject_inlined = SUBJECT("lfpool-inlined", "", pool_open_usual);
const struct subject subject_races = SUBJECT("lfpool-races", ", LFPOOL_CHECK_RACES: a locked release", open_races);
const struct subject subject_hooks = SUBJECT("lfpool-hooks", ", activate and deactivate that do nothing", open_hooks);
const struct subject subject_depot = SUBJECT(
	"lfpool-depot", ", magazines of one object: nearly every call changes heads of the depot", open_depot);
