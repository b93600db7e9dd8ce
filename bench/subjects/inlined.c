/* SPDX-License-Identifier: MIT */
/* inlined.c - lfpool through a cache per thread and lfpool/inline.h.  Variants: plain; with the check against two
 * simultaneous releases; with hooks that do nothing on each acquire and release; and with magazines of one object, so
 * that every call goes to the depot, which shows the cost of its heads. */
#include "pool.h"

#include "lfpool/inline.h"

#define CALL(name) lfpool_cache_##name
#include "calls.h"

#include "../loops.h"

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
	lfpool_config_t config = pool_config(plan, LFPOOL_BACKEND_LOCKFREE);

	config.hooks = (lfpool_hooks_t){.activate = do_nothing, .deactivate = do_nothing};
	return pool_create(&config);
}

static void *open_depot(const struct plan *plan)
{
	lfpool_config_t config = pool_config(plan, LFPOOL_BACKEND_LOCKFREE);

	config.cache_capacity = 2;
	return pool_create(&config);
}

#define INLINED(its_name, its_what, its_open)                                                                 \
	{SUBJECT(its_name, "lfpool", "a cache for each thread, lfpool/inline.h" its_what, NULL, POOL_TRAITS), \
	 POOL_BY_CACHE(its_open)}

const struct subject subject_inlined = INLINED("lfpool-inlined", "", pool_open_usual);
const struct subject subject_races = INLINED("lfpool-races", ", LFPOOL_CHECK_RACES: a locked release", open_races);
const struct subject subject_hooks = INLINED("lfpool-hooks", ", activate and deactivate that do nothing", open_hooks);
const struct subject subject_depot = INLINED(
	"lfpool-depot", ", magazines of one object: nearly every call changes heads of the depot", open_depot);
