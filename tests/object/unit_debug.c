/* SPDX-License-Identifier: MIT */
/* test: wrap=clock_gettime */
/* unit_debug.c - the quarantine's ring (Q2) alone; that `check` finds damage; labels and ages of holders, with a clock
 * of its own.  (Q1: the programs quarantine-* of verify/explore.  Patterns: test_debug_findings.c.) */
#include "../support/support.h"
#include "../support/texts.h"
#include "../support/told.h"

#include <time.h>

#include "core/arena.h"
#include "pool/pool.h"
#include "object/quarantine.h"
#include "os/os.h"

#define PLACES_MAX 9

TEST(quarantine_is_first_in_first_out)
{
	for (uint32_t places = 1; places <= PLACES_MAX; places++) {
		static quarantine_place place[PLACES_MAX];
		struct quarantine q = {.places = places, .place = place};

		memset(place, 0, sizeof(place));
		for (uint32_t slot = 1; slot <= 100; slot++) {
			assert_int_equal(quarantine_put(&q, slot), slot > places ? slot - places : SLOT_NONE);
			assert_int_equal(quarantine_count(&q), slot < places ? slot : places);
		}
	}
}

TEST(quarantine_take_finds_all_slots_oldest_first)
{
	for (uint32_t places = 1; places <= PLACES_MAX; places++) {
		static quarantine_place place[PLACES_MAX];
		struct quarantine q = {.places = places, .place = place};
		uint64_t versions;

		memset(place, 0, sizeof(place));
		for (uint32_t round = 0; round < 20; round++) {
			uint32_t first = 100 * round + 1;

			for (uint32_t i = 0; i < places; i++)
				assert_int_equal(quarantine_put(&q, first + i), SLOT_NONE);
			/* Each time the ring begins at a different place. */
			assert_int_equal(quarantine_put(&q, first + places), first);
			for (uint32_t i = 1; i <= places; i++)
				assert_int_equal(quarantine_take(&q, &versions), first + i);
			assert_int_equal(quarantine_take(&q, &versions), SLOT_NONE);
			assert_int_equal(quarantine_count(&q), 0);
		}
	}
}

/* ---- The mode check ---- */

BACKEND_TEST(check_mode_finds_damage_at_destroy, LFPOOL_BACKEND_MALLOC)
{
	for (int damage = 0; damage < 2; damage++) {
		lfpool_t *pool = POOL_OF(24, 100, .backend = backend, .hooks.misuse = hear,
					 .debug = "check,quarantine=3");

		told_forget();
		require_whole(pool, 24);
		if (damage)
			/* A free slot claims to be in use. */
			arena_activate(&pool->core.arena, 7);
		(void)lfpool_destroy(pool);
		assert_int_equal(told.misuse.status, damage ? LFPOOL_E_INVARIANT : LFPOOL_OK);
		if (damage) {
			assert_null(told.misuse.object);
			assert_int_equal(told.misuse.index, SIZE_MAX);
			assert_memory_equal(told.detail, "A1: ", 4);
		}
	}
}

/* ---- The last holder ---- */

/* Releases it twice; the report names its last holder with this label, or none. */
static void expect_last_holder(lfpool_t *pool, void *object, const char *label)
{
	char expected[100];

	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	told_forget();
	assert_int_equal(lfpool_release(pool, object), LFPOOL_E_NOT_IN_USE);
	assert_int_equal(told.count, 1);
	snprintf(expected, sizeof(expected), label ? "Released by thread %u (\"%s\") " : "Released by thread %u ",
		 os_thread_id(), label);
	assert_memory_equal(told.detail, expected, strlen(expected));
	assert_int_equal(strstr(told.detail, "(\"") != NULL, label != NULL);
}

BACKEND_TEST(report_names_the_label_of_the_last_holder, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = POOL_OF(64, 1, .backend = backend, .debug = "no-tools,owner", .hooks.misuse = hear);
	void *object = lfpool_acquire(pool);

	lfpool_label(pool, object, "first");
	lfpool_label(pool, object, "physics");
	expect_last_holder(pool, object, "physics");
	/* It stays until the next acquire.  A free object gets no other, and no address inside an object does. */
	lfpool_label(pool, object, "late");
	assert_int_equal(lfpool_release(pool, object), LFPOOL_E_NOT_IN_USE);
	assert_non_null(strstr(told.detail, "(\"physics\")"));
	assert_ptr_equal(lfpool_acquire(pool), object);
	lfpool_label(pool, moved(object, 1), "inside");
	expect_last_holder(pool, object, NULL);
	assert_ptr_equal(lfpool_acquire(pool), object);
	lfpool_label(pool, object, "rendering");
	expect_last_holder(pool, object, "rendering");
	assert_ptr_equal(lfpool_acquire(pool), object);
	lfpool_label(pool, object, "rendering");
	lfpool_label(pool, object, NULL);
	expect_last_holder(pool, object, NULL);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- Written while free, and then trimmed or removed ---- */

BACKEND_TEST(trim_and_shrink_look_at_each_object, LFPOOL_BACKEND_MUTEX)
{
	for (int shrink = 0; shrink < 2; shrink++) {
		lfpool_t *pool = POOL_OF(64, 10, .backend = backend, .debug = "no-tools,poison", .hooks.misuse = hear);
		unsigned char *object = lfpool_acquire(pool);

		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		object[7] = 0x41;
		told_forget();
		if (shrink)
			assert_int_equal(lfpool_shrink(pool, 10), 10);
		else
			assert_false(lfpool_trim(pool, 0, SIZE_MAX));
		assert_int_equal(told.count, 1);
		assert_int_equal(told.misuse.status, LFPOOL_E_WRITTEN_WHEN_FREE);
		assert_ptr_equal(told.misuse.object, object);
		assert_int_equal(told.misuse.offset, 7);
		/* It is reported once. */
		assert_int_equal(lfpool_destroy(pool), 0);
		assert_int_equal(told.count, 1);
	}
}

/* ---- The oldest object of each holder ---- */

static time_t clock_s = 1;

int __wrap_clock_gettime(clockid_t clock, struct timespec *now_out);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now_out)
{
	REQUIRE(clock == CLOCK_MONOTONIC);
	*now_out = (struct timespec){.tv_sec = clock_s};
	return 0;
}

/* In the order of their slots; object number `oldest` a thousand seconds before the second one, and so on. */
static void acquire_oldest_first(lfpool_t *pool, void **objects, size_t count, size_t oldest)
{
	assert_int_equal(acquire_all(pool, objects, count), count);
	assert_true(sort_disjoint(objects, count, 64));
	for (size_t i = 1; i < count; i++) {
		void *object = objects[(oldest + i) % count];

		clock_s += 1000;
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		assert_ptr_equal(lfpool_acquire(pool), object);
	}
	clock_s += 1000;
}

BACKEND_TEST(holders_are_shown_with_their_oldest_object, LFPOOL_BACKEND_MUTEX)
{
	enum { OBJECTS = 3 };

	for (size_t oldest = 0; oldest < OBJECTS; oldest++) {
		lfpool_t *pool = POOL_OF(64, OBJECTS, .backend = backend, .debug = "no-tools,owner");
		void *objects[OBJECTS];
		char *json;

		acquire_oldest_first(pool, objects, OBJECTS, oldest);
		/* All have one holder; then each has one. */
		require_said(pool, "\n         3   3000.000 s  thread ");
		json = whole_dump(pool_dump, pool, LFPOOL_JSON);
		require_in(json, "\"holders\":[{\"objects\":3,\"oldest_ms\":3000000,\"thread\":");
		free(json);
		lfpool_label(pool, objects[oldest], "a");
		lfpool_label(pool, objects[(oldest + 1) % OBJECTS], "b");
		lfpool_label(pool, objects[(oldest + 2) % OBJECTS], "c");
		json = whole_dump(pool_dump, pool, LFPOOL_JSON);
		require_in(json, "\"holders\":[{\"objects\":1,\"oldest_ms\":3000000,\"label\":\"a\"},"
				 "{\"objects\":1,\"oldest_ms\":2000000,\"label\":\"b\"},"
				 "{\"objects\":1,\"oldest_ms\":1000000,\"label\":\"c\"}]");
		free(json);
		/* The number of objects comes first. */
		lfpool_label(pool, objects[(oldest + 1) % OBJECTS], "c");
		require_said(pool, "holder\n         2   2000.000 s  \"c\"\n         1   3000.000 s  \"a\"\n");
		release_all(pool, objects, OBJECTS);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

RUN_TESTS()
