/* SPDX-License-Identifier: MIT */
/* unit_debug.c - the quarantine's ring (Q2) alone; and that `check` finds damage.  (Q1: the programs quarantine-* of
 * verify/explore.  Patterns: test_debug_findings.c.) */
#include "../support/support.h"
#include "../support/told.h"

#include "core/arena.h"
#include "pool/pool.h"
#include "object/quarantine.h"

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

RUN_TESTS()
