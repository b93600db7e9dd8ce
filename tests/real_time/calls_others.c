/* SPDX-License-Identifier: MIT */
/*
 * calls_others.c - sets, eviction, retired objects and their schemes, armed.
 */
#include "armed.h"

#include "lfpool/evict.h"
#include "lfpool/handle.h"
#include "lfpool/rcu.h"
#include "lfpool/set.h"

#ifdef WITH_RCU
#include <urcu/flavor.h>
#endif
#ifdef WITH_EPOCH
#include "lfpool/epoch.h"

#include <ck_epoch.h>
#endif

enum { SIZE = 40, CAPACITY = 300 };

static char text[8192];
static void *objects[CAPACITY + 1];

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)misuse;
	++*(size_t *)context;
}

/* ---- Sets ---- */

static void with_set(void)
{
	lfpool_set_config_t config;
	lfpool_stats_t stats;
	size_t misuses = 0;
	lfpool_set_t *set = NULL;
	void *object;

	lfpool_set_config_init(&config);
	config.pool.capacity = CAPACITY;
	config.pool.hooks.context = &misuses;
	config.pool.hooks.misuse = on_misuse;
	REQUIRE(lfpool_set_create(&set, &config) == LFPOOL_OK);
	REQUIRE(lfpool_set_release(set, lfpool_set_acquire(set, 100)) == LFPOOL_OK);
	arm();
	CALL(lfpool_set_config_init, "")(&config);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < CAPACITY; i++)
			MUST(objects[i] = CALL(lfpool_set_acquire, "misses")(set, 97 + i % 16));
		MUST(!CALL(lfpool_set_acquire, "nothing left")(set, 100));
		for (size_t i = 0; i < CAPACITY; i++)
			MUST(CALL(lfpool_set_release, "misses")(set, objects[i]) == LFPOOL_OK);
		MUST(CALL(lfpool_set_acquire_bulk, "all and one more")(set, 100, objects, CAPACITY + 1) == CAPACITY);
		MUST(CALL(lfpool_set_release_bulk, "all")(set, objects, CAPACITY) == CAPACITY);
	}
	MUST(!CALL(lfpool_set_acquire, "too large")(set, SIZE_MAX));
	object = lfpool_set_acquire(set, 100);
	MUST(CALL(lfpool_set_usable_size, "yes")(set, object) == 112 && !CALL(lfpool_set_usable_size, "no")(set, text));
	MUST(CALL(lfpool_set_release_if_owned, "yes")(set, object) == LFPOOL_OK);
	MUST(CALL(lfpool_set_release_if_owned, "no")(set, text) == LFPOOL_E_FOREIGN);
	MUST(CALL(lfpool_set_release, "double")(set, object) == LFPOOL_E_NOT_IN_USE);
	MUST(CALL(lfpool_set_release, "foreign")(set, text) == LFPOOL_E_FOREIGN && misuses == 2);
	MUST(CALL(lfpool_set_class_size, "")(set, 100) == 112);
	MUST(CALL(lfpool_set_class, "exists")(set, 100, true, NULL) &&
	     !CALL(lfpool_set_class, "none")(set, SIZE_MAX, true, NULL));
	MUST(CALL(lfpool_set_pool, "exists")(set, 100) == CALL(lfpool_set_pool_of, "yes")(set, object, NULL));
	MUST(!CALL(lfpool_set_class, "does not exist")(set, 200, false, NULL) &&
	     !CALL(lfpool_set_pool_of, "no")(set, text, NULL));
	MUST(CALL(lfpool_set_stats, "")(set, &stats) == LFPOOL_OK && stats.active == 0);
	MUST(CALL(lfpool_set_stats_sized, "")(set, &stats, sizeof(stats)) == LFPOOL_OK && stats.active == 0);
	MUST(CALL(lfpool_set_dump, "text")(set, LFPOOL_TEXT, text, sizeof(text)));
	MUST(CALL(lfpool_set_dump, "JSON")(set, LFPOOL_JSON, text, sizeof(text)));
}

/* ---- Eviction ---- */

static lfpool_t *voices;
static lfpool_handle_t handles[CAPACITY + 1];

static bool before(void *context, uint64_t a, uint64_t b)
{
	(void)context;
	return a < b;
}

static void on_evict(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	(void)context;
	(void)object;
	(void)priority;
	MUST(!lfpool_resolve(voices, handle));
}

static void call_voices(void)
{
	uint64_t priority;

	for (uint64_t i = 0; i < CAPACITY; i++) {
		MUST(CALL(lfpool_acquire_evicting, "free")(voices, i * 7919 % CAPACITY, &handles[i]));
		MUST(CALL(lfpool_unpin, "new")(voices, handles[i]) == LFPOOL_OK);
	}
	MUST(!CALL(lfpool_acquire_evicting, "refused")(voices, 0, &handles[CAPACITY]));
	for (uint64_t i = 0; i < CAPACITY; i++) {
		MUST(CALL(lfpool_pin, "active")(voices, handles[i]));
		MUST(CALL(lfpool_get_priority, "active")(voices, handles[i], &priority));
		MUST(CALL(lfpool_unpin, "pinned")(voices, handles[i]) == LFPOOL_OK);
		MUST(CALL(lfpool_unpin, "not pinned")(voices, handles[i]) == LFPOOL_E_NOT_PINNED);
		MUST(CALL(lfpool_set_priority, "active")(voices, handles[i], priority * 31 % 1000) == LFPOOL_OK);
	}
	for (uint64_t i = 0; i < CAPACITY; i++) {
		MUST(CALL(lfpool_acquire_evicting, "evicts")(voices, 2000 + i, &handles[CAPACITY]));
		MUST(lfpool_unpin(voices, handles[CAPACITY]) == LFPOOL_OK);
	}
	MUST(!CALL(lfpool_pin, "stale")(voices, handles[0]) &&
	     !CALL(lfpool_get_priority, "stale")(voices, handles[0], &priority));
	MUST(CALL(lfpool_set_priority, "stale")(voices, handles[0], 1) == LFPOOL_E_STALE);
	MUST(CALL(lfpool_least, "some")(voices, &priority));
	MUST(CALL(lfpool_release_least, "some")(voices, 20) == 20);
	MUST(CALL(lfpool_pin, "active")(voices, handles[CAPACITY]));
	MUST(lfpool_release_handle(voices, handles[CAPACITY]) == LFPOOL_OK && !lfpool_pin(voices, handles[CAPACITY]));
	MUST(CALL(lfpool_unpin, "released")(voices, handles[CAPACITY]) == LFPOOL_OK);
	MUST(CALL(lfpool_release_least, "all")(voices, CAPACITY) == CAPACITY - 21);
	MUST(!CALL(lfpool_least, "none")(voices, NULL));
	MUST(CALL(lfpool_priority_to_double, "")(CALL(lfpool_priority_of_double, "")(-0.5)) < 0);
}

static void with_eviction(void)
{
	size_t misuses = 0;

	voices = POOL_OF(SIZE, CAPACITY, .evict = LFPOOL_EVICT_LESS, .before = before, .hooks.context = &misuses,
			 .hooks.misuse = on_misuse, .hooks.evict = on_evict);
	REQUIRE(lfpool_release(voices, lfpool_acquire(voices)) == LFPOOL_OK);
	arm();
	for (int round = 0; round < 3; round++)
		call_voices();
}

/* ---- Retired objects ---- */

static bool is_ready;
static lfpool_batch_t *begun;

static void look_at(lfpool_batch_t *batch)
{
	uint32_t cursor = 0;
	size_t count = 0;

	while (CALL(lfpool_batch_next, "")(batch, &cursor))
		count++;
	MUST(count == batch->count && count > 0 && batch->place < LFPOOL_PLACES_MAX);
}

static void begin(void *context, lfpool_batch_t *batch)
{
	(void)context;
	begun = batch;
	look_at(batch);
}

static bool ready(void *context, const lfpool_batch_t *batch)
{
	(void)context;
	(void)batch;
	return is_ready;
}

/* A pool with this scheme; the thread has made its first call. */
static lfpool_t *with_scheme(lfpool_scheme_t scheme, size_t *misuses)
{
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .scheme = scheme, .hooks.context = misuses, .hooks.misuse = on_misuse);

	REQUIRE(lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
	return pool;
}

/* A scheme that is polled. */
static void retired_and_asked(void)
{
	size_t misuses = 0;
	lfpool_t *pool = with_scheme((lfpool_scheme_t){.begin = begin, .ready = ready}, &misuses);

	arm();
	MUST(acquire_all(pool, objects, CAPACITY + 1) == CAPACITY);
	for (size_t i = 0; i < 200; i++)
		MUST(CALL(lfpool_retire, "asks, not ready")(pool, objects[i]) == LFPOOL_OK);
	MUST(CALL(lfpool_retire, "NULL")(pool, NULL) == LFPOOL_OK);
	MUST(CALL(lfpool_retire, "double")(pool, objects[0]) == LFPOOL_E_NOT_IN_USE && misuses == 1);
	MUST(CALL(lfpool_retire_bulk, "some")(pool, objects + 200, CAPACITY - 200) == CAPACITY - 200);
	MUST(lfpool_quick_stats(pool).retired == CAPACITY);
	MUST(!CALL(lfpool_acquire, "all retired")(pool) && !CALL(lfpool_retire_poll, "not ready")(pool));
	is_ready = true;
	MUST(CALL(lfpool_retire_poll, "ready")(pool));
	MUST(objects[0] = CALL(lfpool_acquire, "reclaims")(pool));
	MUST(CALL(lfpool_retire, "asks, ready")(pool, objects[0]) == LFPOOL_OK);
	while (lfpool_quick_stats(pool).retired)
		(void)lfpool_retire_poll(pool);
	MUST(lfpool_available_count(pool) == CAPACITY);
}

/* A scheme that calls back. */
static void retired_and_told(void)
{
	size_t misuses = 0;
	lfpool_t *pool = with_scheme((lfpool_scheme_t){.begin = begin}, &misuses);

	arm();
	for (int round = 0; round < 10; round++) {
		MUST(acquire_all(pool, objects, CAPACITY + 1) == CAPACITY);
		MUST(CALL(lfpool_retire_bulk, "all")(pool, objects, CAPACITY) == CAPACITY);
		CALL(lfpool_batch_reclaim, "")(begun);
		MUST(lfpool_available_count(pool) == CAPACITY);
	}
}

#ifdef WITH_RCU
static void with_rcu(void)
{
	static struct rcu_flavor_struct flavor;

	arm();
	MUST(CALL(lfpool_rcu_scheme, "a flavour")(&flavor).begin && !CALL(lfpool_rcu_scheme, "none")(NULL).begin);
}
#endif

#ifdef WITH_EPOCH
static void with_epoch(void)
{
	static ck_epoch_t epoch;
	static ck_epoch_record_t record;
	lfpool_scheme_t scheme;
	size_t misuses = 0;
	lfpool_t *pool;

	ck_epoch_init(&epoch);
	ck_epoch_register(&epoch, &record, NULL);
	REQUIRE(lfpool_epoch_create(&scheme, &epoch) == LFPOOL_OK);
	pool = with_scheme(scheme, &misuses);
	arm();
	for (int round = 0; round < 1000; round++) {
		objects[0] = CALL(lfpool_acquire, "epochs")(pool);
		MUST(objects[0] && CALL(lfpool_retire, "epochs")(pool, objects[0]) == LFPOOL_OK);
	}
	MUST(lfpool_quick_stats(pool).retired < CAPACITY);
}
#endif

const struct group groups_of_others[] = {
	{"set", with_set, .trapped = NULL},
	{"eviction", with_eviction, .trapped = NULL},
	{"retired and asked", retired_and_asked, .trapped = NULL},
	{"retired and told", retired_and_told, .trapped = NULL},
#ifdef WITH_RCU
	{"rcu", with_rcu, .trapped = NULL},
#endif
#ifdef WITH_EPOCH
	{"epoch", with_epoch, .trapped = NULL},
#endif
	{0},
};
