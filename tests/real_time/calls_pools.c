/* SPDX-License-Identifier: MIT */
/*
 * calls_pools.c - pools of every kind, armed: hits, misses, exhaustion, refusals, handles, walks, questions.
 *
 * A thread that finds nothing in its own places takes objects out of another cache, which is a system call.  So each
 * process has objects in one cache only: the thread's own, or an explicit one.
 */
#include "armed.h"

#include "lfpool/buffer.h"
#include "lfpool/debug.h"
#include "lfpool/handle.h"
#include "lfpool/report.h"
#include "lfpool/resize.h"
#include "lfpool/retire.h"
#include "lfpool/wait.h"
#include "lfpool/walk.h"

#include <stdalign.h>

enum { SIZE = 40, CAPACITY = 700, SOME = 300 };

static alignas(
	LFPOOL_BUFFER_ALIGNMENT) unsigned char memory[LFPOOL_BUFFER_BYTES(SIZE, 0, CAPACITY) + 9 * CAPACITY + 512];
static void *objects[CAPACITY + 1];
static char text[8192];
static size_t misuses, hooked;

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	MUST(misuse->status != LFPOOL_OK);
	misuses++;
}

/* ---- Single calls, armed ---- */

/* With `state`: acquires all objects, through magazines and the depot, and then gets NULL. */
static void call_pool(lfpool_t *pool)
{
	void *object = CALL(lfpool_acquire, "hit")(pool);

	MUST(object && CALL(lfpool_release, "hit")(pool, object) == LFPOOL_OK);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < CAPACITY; i++)
			MUST(objects[i] = CALL(lfpool_acquire, "misses")(pool));
		MUST(!CALL(lfpool_acquire, "nothing left")(pool));
		MUST(CALL(lfpool_acquire_bulk, "nothing left")(pool, objects + CAPACITY, 1) == 0);
		MUST(!CALL(lfpool_acquire_wait, "nothing left, no time")(pool, 0));
		MUST(CALL(lfpool_acquire_bulk_wait, "nothing left, no time")(pool, NULL, objects + CAPACITY, 1, 0) ==
		     LFPOOL_E_EXHAUSTED);
		for (size_t i = 0; i < CAPACITY; i++)
			MUST(CALL(lfpool_release, "misses")(pool, objects[i]) == LFPOOL_OK);
		MUST(CALL(lfpool_acquire_bulk, "all and one more")(pool, objects, CAPACITY + 1) == CAPACITY);
		MUST(CALL(lfpool_release_bulk, "all")(pool, objects, CAPACITY) == CAPACITY);
	}
	MUST((object = CALL(lfpool_acquire_wait, "hit")(pool, -1)) && lfpool_release(pool, object) == LFPOOL_OK);
	MUST(CALL(lfpool_acquire_bulk_wait, "two")(pool, NULL, objects, 2, -1) == LFPOOL_OK &&
	     lfpool_release_bulk(pool, objects, 2) == 2);
	MUST(CALL(lfpool_release_if_owned, "no")(pool, text) == LFPOOL_E_FOREIGN);
	MUST(CALL(lfpool_release_if_owned, "yes")(pool, lfpool_acquire(pool)) == LFPOOL_OK);
	CALL(lfpool_cache_flush, "the thread's")(pool, NULL);
}

static void call_cache(lfpool_t *pool, lfpool_cache_t *cache)
{
	void *object = CALL(lfpool_cache_acquire, "hit")(cache);

	MUST(object && CALL(lfpool_cache_release, "hit")(cache, object) == LFPOOL_OK);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < CAPACITY; i++)
			MUST(objects[i] = CALL(lfpool_cache_acquire, "misses")(cache));
		MUST(!CALL(lfpool_cache_acquire, "nothing left")(cache));
		for (size_t i = 0; i < CAPACITY; i++)
			MUST(CALL(lfpool_cache_release, "misses")(cache, objects[i]) == LFPOOL_OK);
		MUST(CALL(lfpool_cache_acquire_bulk, "all and one more")(cache, objects, CAPACITY + 1) == CAPACITY);
		MUST(CALL(lfpool_cache_acquire_bulk, "nothing left")(cache, objects + CAPACITY, 1) == 0);
		MUST(!CALL(lfpool_cache_acquire_wait, "nothing left, no time")(cache, 0));
		MUST(CALL(lfpool_cache_release_bulk, "all")(cache, objects, CAPACITY) == CAPACITY);
		MUST(CALL(lfpool_cache_release_if_owned, "no")(cache, text) == LFPOOL_E_FOREIGN);
		MUST(CALL(lfpool_cache_release_if_owned, "yes")(cache, lfpool_cache_acquire(cache)) == LFPOOL_OK);
	}
	MUST((object = CALL(lfpool_cache_acquire_wait, "hit")(cache, -1)));
	MUST(lfpool_cache_release(cache, object) == LFPOOL_OK);
	misuses = 0;
	MUST(CALL(lfpool_cache_release, "foreign")(cache, text) == LFPOOL_E_FOREIGN && misuses == 1);
	MUST(CALL(lfpool_cache_release, "NULL")(cache, NULL) == LFPOOL_OK);
	CALL(lfpool_cache_flush, "with objects")(pool, cache);
	CALL(lfpool_cache_flush, "of a thread without")(pool, NULL);
	CALL(lfpool_cache_destroy, "with objects")(cache);
	CALL(lfpool_cache_destroy, "NULL")(NULL);
}

static void call_refusals(lfpool_t *pool)
{
	char *object = lfpool_acquire(pool);
	void *some[3] = {text, NULL, object};
	const size_t had = CALL(lfpool_quick_stats, "misuses")(pool).misuses;

	misuses = 0;
	MUST(CALL(lfpool_release, "NULL")(pool, NULL) == LFPOOL_OK);
	MUST(CALL(lfpool_release, "interior")(pool, object + 1) == LFPOOL_E_INTERIOR);
	MUST(CALL(lfpool_release, "foreign")(pool, text) == LFPOOL_E_FOREIGN);
	MUST(CALL(lfpool_release_bulk, "some refused")(pool, some, 3) == 1 && misuses == 3);
	MUST(CALL(lfpool_release, "double")(pool, object) == LFPOOL_E_NOT_IN_USE);
	MUST(lfpool_quick_stats(pool).misuses == had + misuses);
}

static bool on_object(void *context, void *object)
{
	(void)object;
	++*(size_t *)context;
	return true;
}

static bool on_slot(void *context, void *object, bool active)
{
	(void)active;
	return on_object(context, object);
}

static void call_walks(lfpool_t *pool)
{
	lfpool_cursor_t cursor, parts[2];
	size_t seen = 0;

	for (size_t i = 0; i < SOME; i++)
		MUST(lfpool_acquire(pool));
	MUST(CALL(lfpool_for_each_active, "some")(pool, on_object, &seen) == SOME && seen == SOME);
	MUST(CALL(lfpool_for_each_slot, "some")(pool, on_slot, &seen) == CAPACITY);
	MUST(CALL(lfpool_copy_active, "some")(pool, objects, CAPACITY) == SOME);
	MUST(CALL(lfpool_copy_active_objects, "some")(pool, text, CAPACITY, 8) == SOME);
	CALL(lfpool_cursor_open, "some")(&cursor, pool);
	for (seen = 0; CALL(lfpool_cursor_next, "some")(&cursor); seen++)
		;
	CALL(lfpool_cursor_split, "some")(parts, 2, pool);
	for (int part = 0; part < 2; part++)
		while (lfpool_cursor_next(&parts[part]))
			seen++;
	MUST(seen == (size_t)2 * SOME);
	MUST(CALL(lfpool_release_all, "some")(pool) == SOME);
	MUST(CALL(lfpool_release_all, "none")(pool) == 0);
}

static void call_handles(lfpool_t *pool, bool listed)
{
	void *object = lfpool_acquire(pool);
	const lfpool_handle_t handle = CALL(lfpool_handle_of, "active")(pool, object);

	MUST(handle && CALL(lfpool_resolve, "active")(pool, handle) == object);
	MUST(CALL(lfpool_object_at, "active")(pool, CALL(lfpool_index_of, "active")(pool, object)) == object);
	MUST(CALL(lfpool_object_start, "active")(pool, (char *)object + 1) == object);
	MUST(CALL(lfpool_pin, "active")(pool, handle) == object &&
	     CALL(lfpool_unpin, "active")(pool, handle) == LFPOOL_OK);
	MUST(CALL(lfpool_unpin, "not pinned")(pool, handle) == LFPOOL_E_NOT_PINNED);
	MUST(CALL(lfpool_release_handle, "active")(pool, handle) == LFPOOL_OK);
	MUST(!CALL(lfpool_pin, "stale")(pool, handle) && CALL(lfpool_unpin, "stale")(pool, handle) == LFPOOL_E_STALE);
	MUST(CALL(lfpool_release_handle, "stale")(pool, handle) == LFPOOL_E_STALE);
	MUST(!CALL(lfpool_resolve, "stale")(pool, handle) && !CALL(lfpool_handle_of, "free")(pool, object));
	MUST(!CALL(lfpool_resolve, "0")(pool, 0) && CALL(lfpool_index_of, "foreign")(pool, text) == SIZE_MAX);
	object = lfpool_acquire(pool);
	MUST(CALL(lfpool_of, "an object")(object) == (listed ? pool : NULL) && !CALL(lfpool_of, "foreign")(text));
	MUST(CALL(lfpool_release_self, "active")(object) == (listed ? LFPOOL_OK : LFPOOL_E_FOREIGN));
	MUST(CALL(lfpool_release_self, "foreign")(text) == LFPOOL_E_FOREIGN);
	if (!listed)
		MUST(lfpool_release(pool, object) == LFPOOL_OK);
}

static void call_questions(lfpool_t *pool)
{
	lfpool_stats_t stats;
	lfpool_advice_t advice;
	void *object = lfpool_acquire(pool);

	MUST(CALL(lfpool_owns, "yes")(pool, object) && !CALL(lfpool_owns, "no")(pool, text));
	MUST(CALL(lfpool_in_use, "yes")(pool, object) && !CALL(lfpool_in_use, "no")(pool, text));
	MUST(CALL(lfpool_capacity, "")(pool) == CAPACITY &&
	     CALL(lfpool_quick_stats, "")(pool).max_capacity == CAPACITY &&
	     CALL(lfpool_settled_capacity, "")(pool) == CAPACITY);
	MUST(CALL(lfpool_active_count, "")(pool) == 1 && CALL(lfpool_available_count, "")(pool) == CAPACITY - 1);
	MUST(lfpool_quick_stats(pool).backend == LFPOOL_BACKEND_LOCKFREE);
	CALL(lfpool_label, "active")(pool, object, "tag");
	CALL(lfpool_label, "NULL")(pool, NULL, "tag");
	MUST(CALL(lfpool_stats, "")(pool, &stats) == LFPOOL_OK && stats.active == 1);
	MUST(CALL(lfpool_advise, "")(pool, &advice) == LFPOOL_OK && advice.reason[0]);
	MUST(CALL(lfpool_stats_sized, "")(pool, &stats, sizeof(stats)) == LFPOOL_OK && stats.active == 1);
	MUST(CALL(lfpool_advise_sized, "")(pool, &advice, sizeof(advice)) == LFPOOL_OK && advice.reason[0]);
	CALL(lfpool_high_water_reset, "")(pool);
	MUST(CALL(lfpool_dump, "text")(pool, LFPOOL_TEXT, text, sizeof(text)) < sizeof(text));
	MUST(CALL(lfpool_dump, "JSON")(pool, LFPOOL_JSON, text, sizeof(text)) < sizeof(text));
	MUST(lfpool_quick_stats(pool).retired == 0);
	MUST(CALL(lfpool_retire, "no scheme")(pool, object) == LFPOOL_E_NO_SCHEME);
	MUST(lfpool_release(pool, object) == LFPOOL_OK);
}

static void never(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	*(void **)context = object;
}

static void call_resize_and_async(lfpool_t *pool)
{
	lfpool_ticket_t ticket = 1;
	void *object = NULL;

	MUST(CALL(lfpool_shrink, "enough is free")(pool, 10) == 10 && lfpool_quick_stats(pool).owed == 0);
	MUST(CALL(lfpool_shrink_cancel, "nothing owed")(pool) == 0);
	MUST(CALL(lfpool_limit, "nobody waits")(pool, CAPACITY) == LFPOOL_OK && lfpool_capacity(pool) == CAPACITY - 10);
	MUST(CALL(lfpool_acquire_async, "hit")(pool, never, &object, &ticket) == LFPOOL_OK && object && !ticket);
	MUST(!CALL(lfpool_cancel, "no such ticket")(pool, 0x10001) && lfpool_release(pool, object) == LFPOOL_OK);
}

/* In a buffer no thread is woken, and no page is given back. */
static void call_owed_and_queued(lfpool_t *pool)
{
	const size_t capacity = lfpool_capacity(pool);
	void *served = NULL, *cancelled = NULL;
	lfpool_ticket_t ticket;

	MUST(acquire_all(pool, objects, CAPACITY + 1) == capacity);
	MUST(lfpool_shrink(pool, 10) == 0 && lfpool_quick_stats(pool).owed == 10);
	MUST(lfpool_acquire_async(pool, never, &served, &ticket) == LFPOOL_OK && ticket);
	MUST(lfpool_acquire_async(pool, never, &cancelled, &ticket) == LFPOOL_OK && ticket);
	for (size_t i = 0; i < capacity; i++) {
		MUST(!served == (i < 11));
		MUST(lfpool_release(pool, objects[i]) == LFPOOL_OK);
		if (i == 10)
			MUST(lfpool_cancel(pool, ticket));
	}
	MUST(!cancelled && lfpool_release(pool, served) == LFPOOL_OK && lfpool_capacity(pool) == capacity - 10);
	MUST(lfpool_grow(pool, CAPACITY) == CAPACITY - capacity + 10 && lfpool_reserve(pool, CAPACITY) == 0);
	MUST(!lfpool_trim(pool, 0, SIZE_MAX) && !lfpool_check(pool, NULL));
	MUST(lfpool_acquire(pool) && lfpool_destroy(pool) == 1);
}

/* ---- Kinds ---- */

static bool on_hook(void *context, void *object)
{
	(void)context;
	(void)object;
	hooked++;
	return true;
}

static void on_destroy(void *context, void *object)
{
	(void)on_hook(context, object);
}

static bool gives_up(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	(void)pool;
	(void)wait_ns;
	hooked++;
	return attempt < 1 && !context;
}

enum kind { PLAIN, CHECKED, BORROWED, HOOKED, DEBUGGED };

static lfpool_config_t config_for(enum kind kind)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	config.cache_capacity = 64;
	config.hooks.misuse = on_misuse;
	if (kind == CHECKED)
		config.flags = LFPOOL_CHECK_RACES | LFPOOL_ZERO;
	if (kind == BORROWED)
		config.cache_capacity = LFPOOL_CACHE_NONE;
	if (kind == DEBUGGED)
		config.debug = "check,poison,guard,quarantine=20";
	if (kind == HOOKED) {
		config.hooks.create = config.hooks.activate = config.hooks.deactivate = on_hook;
		config.hooks.destroy = on_destroy;
		config.hooks.exhausted = gives_up;
	}
	return config;
}

static void with_pool(lfpool_t *pool, enum kind kind, bool listed)
{
	call_pool(pool);
	call_refusals(pool);
	call_questions(pool);
	call_walks(pool);
	call_handles(pool, listed);
	call_resize_and_async(pool);
	MUST(!hooked == (kind != HOOKED));
}

/* The thread's first call first, then armed. */
static void by_thread(unsigned kind)
{
	const lfpool_config_t config = config_for(kind);
	lfpool_t *pool = pool_with(&config);

	REQUIRE(lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
	arm();
	with_pool(pool, kind, true);
}

/* No call without the cache; and none before it, unless a debug mode needs the thread's number. */
static void by_cache(unsigned kind)
{
	const lfpool_config_t config = config_for(kind);
	lfpool_t *pool = pool_with(&config);
	lfpool_cache_t *cache = lfpool_cache_create(pool);

	REQUIRE(cache);
	if (kind == DEBUGGED)
		REQUIRE(lfpool_cache_release(cache, lfpool_cache_acquire(cache)) == LFPOOL_OK);
	arm();
	call_cache(pool, cache);
}

static void by_buffer(unsigned kind)
{
	lfpool_config_t config;
	lfpool_t *pool = NULL;

	arm();
	CALL(lfpool_config_init, "")(&config);
	config = config_for(kind);
	MUST(CALL(lfpool_buffer_bytes, "")(&config) <= sizeof(memory));
	MUST(CALL(lfpool_create_in, "too small")(&pool, &config, memory, 100) == LFPOOL_E_BUFFER);
	MUST(CALL(lfpool_create_in, "enough")(&pool, &config, memory, sizeof(memory)) == LFPOOL_OK);
	call_cache(pool, lfpool_cache_create(pool));
	hooked = 0;
	with_pool(pool, kind, false);
	call_owed_and_queued(pool);
	MUST(CALL(lfpool_status_string, "")(LFPOOL_E_BUFFER)[0] == 'c');
}

#define GROUP(way, which) {#way " " #which, .run_kind = way, .kind = which}
/* clang-format off */
const struct group groups_of_pools[] = {
	GROUP(by_thread, PLAIN),
	GROUP(by_thread, CHECKED),
	GROUP(by_thread, BORROWED),
	GROUP(by_thread, HOOKED),
	GROUP(by_thread, DEBUGGED),
	GROUP(by_cache, PLAIN),
	GROUP(by_cache, CHECKED),
	GROUP(by_cache, HOOKED),
	GROUP(by_cache, DEBUGGED),
	GROUP(by_buffer, PLAIN),
	GROUP(by_buffer, HOOKED),
	{0},
};
/* clang-format on */
