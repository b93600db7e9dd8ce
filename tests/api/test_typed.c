/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_typed.c - lfpool/typed.h: that each function is its untyped namesake, on objects of its type.
 *
 * Built twice: as it is, and with WITH_INLINE, where the caches' hits are inlined.
 */
#ifdef WITH_INLINE
#include "lfpool/inline.h"
#endif
#include "lfpool/typed.h"

#include "../support/support.h"

#include <stdalign.h>

/* No power of two, and more strictly aligned than it needs be. */
struct ship {
	alignas(32) uint64_t number;
	char name[40];
	int visits;
};

/* An odd size: nothing but its own alignment. */
struct crumb {
	char bytes[3];
};

LFPOOL_DEFINE(ship, struct ship);
LFPOOL_DEFINE(crumb, struct crumb);

/* The type says how large the objects are. */
static ship_pool_t ships_of(size_t capacity)
{
	ship_pool_t ships;

	assert_int_equal(ship_pool_create(&ships, &CONFIG_OF(0, capacity, .hooks.misuse = expected_misuse)), LFPOOL_OK);
	assert_non_null(ships.untyped);
	return ships;
}

/* ---- Creation ---------------------------------------------------------------------------------------------- */

TEST(size_and_alignment_are_the_types)
{
	ship_pool_t ships = ships_of(100);
	crumb_pool_t crumbs;
	struct ship *first = ship_acquire(ships);

	assert_int_equal((uintptr_t)first % alignof(struct ship), 0);
	assert_true(stride_of(ships.untyped, first) >= sizeof(struct ship));
	assert_int_equal(lfpool_capacity(ships.untyped), 100);
	assert_int_equal(ship_pool_destroy(ships), 1);

	assert_int_equal(crumb_pool_create(&crumbs, &CONFIG_OF(0, 10, .name = "crumbs")), LFPOOL_OK);
	struct crumb *crumb = crumb_acquire(crumbs);
	assert_true(stride_of(crumbs.untyped, crumb) >= sizeof(struct crumb));
	assert_int_equal(crumb_release(crumbs, crumb), LFPOOL_OK);
	assert_int_equal(crumb_pool_destroy(crumbs), 0);
}

TEST(more_room_is_given_and_less_is_refused)
{
	lfpool_config_t config = CONFIG_OF(1000, 10, .object_alignment = 128);
	ship_pool_t ships;

	assert_int_equal(ship_pool_create(&ships, &config), LFPOOL_OK);
	struct ship *ship = ship_acquire(ships);
	assert_int_equal((uintptr_t)ship % 128, 0);
	assert_true(stride_of(ships.untyped, ship) >= 1000);
	ship_pool_destroy(ships);

	config.object_size = sizeof(struct ship) - 1;
	assert_int_equal(ship_pool_create(&ships, &config), LFPOOL_E_CONFIG_OBJECT_SIZE);
	assert_null(ships.untyped);
	config.object_size = 0;
	config.object_alignment = alignof(struct ship) / 2;
	assert_int_equal(ship_pool_create(&ships, &config), LFPOOL_E_CONFIG_OBJECT_ALIGNMENT);
}

TEST(refusals_are_those_of_lfpool_create)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	ship_pool_t ships = {(lfpool_t *)&config};

	assert_int_equal(ship_pool_create(&ships, &config), LFPOOL_E_CONFIG_CAPACITY);
	assert_null(ships.untyped);
	assert_int_equal(ship_pool_create(&ships, NULL), LFPOOL_E_ARGUMENT);
	assert_int_equal(ship_pool_create(NULL, &config), LFPOOL_E_ARGUMENT);
	config.capacity = 1;
	config.struct_size = 0;
	assert_int_equal(ship_pool_create(&ships, &config), LFPOOL_E_CONFIG_STRUCT_SIZE);
	/* Not even that of an older header: the type brings fields that it has not. */
	config.struct_size = offsetof(lfpool_config_t, cache_capacity);
	assert_int_equal(ship_pool_create(&ships, &config), LFPOOL_E_CONFIG_STRUCT_SIZE);
	assert_int_equal(ship_pool_destroy(ships), 0);
}

/* ---- Objects ----------------------------------------------------------------------------------------------- */

TEST(acquire_and_release)
{
	ship_pool_t ships = ships_of(2);
	struct ship *a = ship_acquire(ships), *b = ship_acquire(ships);

	assert_non_null(a);
	assert_non_null(b);
	assert_ptr_not_equal(a, b);
	assert_null(ship_acquire(ships));
	assert_true(ship_in_use(ships, a));
	assert_true(ship_owns(ships, a));
	assert_false(ship_owns(ships, &a->name));
	assert_true(ship_index_of(ships, a) < 2);
	assert_true(ship_index_of(ships, a) != ship_index_of(ships, b));
	assert_ptr_equal(ship_pool_of(a).untyped, ships.untyped);
	assert_int_equal(ship_release(ships, a), LFPOOL_OK);
	assert_false(ship_in_use(ships, a));
	assert_int_equal(ship_release(ships, a), LFPOOL_E_NOT_IN_USE);
	assert_int_equal(ship_release_self(b), LFPOOL_OK);
	assert_int_equal(ship_release_self(b), LFPOOL_E_NOT_IN_USE);
	assert_int_equal(lfpool_misuse_count(ships.untyped), 2);
	require_whole(ships.untyped, sizeof(struct ship));
	assert_int_equal(ship_pool_destroy(ships), 0);
}

/* A scheme of no grace period. */
static bool at_once(void *context, const lfpool_batch_t *batch)
{
	(void)context;
	return lfpool_batch_count(batch) == 1;
}

TEST(retire)
{
	ship_pool_t ships;
	struct ship *ship;

	assert_int_equal(ship_pool_create(&ships, &CONFIG_OF(0, 1, .scheme.ready = at_once)), LFPOOL_OK);
	assert_int_equal(ship_retire(ships, NULL), LFPOOL_OK);
	assert_non_null(ship = ship_acquire(ships));
	assert_int_equal(ship_retire(ships, ship), LFPOOL_OK);
	assert_false(ship_in_use(ships, ship));
	assert_int_equal(lfpool_retired_count(ships.untyped), 1);
	assert_ptr_equal(ship_acquire(ships), ship);
	assert_int_equal(ship_release(ships, ship), LFPOOL_OK);
	assert_int_equal(ship_pool_destroy(ships), 0);
}

TEST(bulk_of_any_count)
{
	static const size_t counts[] = {
		0, 1, LFPOOL_TYPED_BATCH - 1, LFPOOL_TYPED_BATCH, LFPOOL_TYPED_BATCH + 1, 2 * LFPOOL_TYPED_BATCH, 200, 201};
	ship_pool_t ships = ships_of(200);
	struct ship *fleet[202];

	for (size_t i = 0; i < COUNT(counts); i++) {
		size_t expected = counts[i] < 200 ? counts[i] : 200;

		fleet[counts[i]] = (struct ship *)&ships;
		assert_int_equal(ship_acquire_bulk(ships, fleet, counts[i]), expected);
		assert_ptr_equal(fleet[counts[i]], &ships);
		assert_int_equal(lfpool_active_count(ships.untyped), expected);
		for (size_t j = 0; j < expected; j++)
			fleet[j]->number = j;
		for (size_t j = 0; j < expected; j++)
			assert_int_equal(fleet[j]->number, j);
		assert_int_equal(ship_release_bulk(ships, fleet, expected), expected);
		assert_int_equal(lfpool_active_count(ships.untyped), 0);
	}
	assert_int_equal(lfpool_misuse_count(ships.untyped), 0);
	/* What is wrong in the middle of a bulk is refused, and the rest released. */
	assert_int_equal(ship_acquire_bulk(ships, fleet, 150), 150);
	struct ship *kept = fleet[70], *other = fleet[10];
	fleet[70] = NULL;
	fleet[10] = fleet[11];
	assert_int_equal(ship_release_bulk(ships, fleet, 150), 148);
	assert_int_equal(lfpool_misuse_count(ships.untyped), 1);
	assert_int_equal(ship_release(ships, kept), LFPOOL_OK);
	assert_int_equal(ship_release(ships, other), LFPOOL_OK);
	require_whole(ships.untyped, sizeof(struct ship));
	ship_pool_destroy(ships);
}

TEST(handles_go_stale)
{
	ship_pool_t ships = ships_of(1);
	struct ship *ship = ship_acquire(ships);
	ship_handle_t nothing = {0}, handle = ship_handle_of(ships, ship);

	assert_true(handle.untyped != 0);
	assert_true(handle.untyped == lfpool_handle_of(ships.untyped, ship));
	assert_ptr_equal(ship_resolve(ships, handle), ship);
	assert_null(ship_resolve(ships, nothing));
	assert_int_equal(ship_release_handle(ships, handle), LFPOOL_OK);
	assert_null(ship_resolve(ships, handle));
	assert_ptr_equal(ship_acquire(ships), ship);
	assert_null(ship_resolve(ships, handle));
	assert_int_equal(ship_release_handle(ships, handle), LFPOOL_E_STALE);
	assert_true(ship_in_use(ships, ship));
	ship_pool_destroy(ships);
}

/* ---- Walks ------------------------------------------------------------------------------------------------- */

struct tour {
	ship_pool_t ships;
	size_t visits, actives, stop_after;
};

static bool call_at(void *context, struct ship *ship)
{
	struct tour *tour = context;

	ship->visits++;
	return ++tour->visits != tour->stop_after;
}

static bool sink_odd(void *context, struct ship *ship)
{
	struct tour *tour = context;

	if (ship->number % 2)
		assert_int_equal(ship_release(tour->ships, ship), LFPOOL_OK);
	return true;
}

static bool call_at_slot(void *context, struct ship *ship, bool active)
{
	struct tour *tour = context;

	assert_true(ship_owns(tour->ships, ship));
	assert_int_equal(ship_in_use(tour->ships, ship), active);
	tour->actives += active;
	return ++tour->visits != tour->stop_after;
}

TEST(walks)
{
	enum { CAPACITY = 1000, FLEET = 300 };
	struct tour tour = {ships_of(CAPACITY), 0, 0, 0};
	struct ship *fleet[FLEET], *seen[FLEET + 1], copies[FLEET];
	lfpool_cursor_t cursor, parts[7];

	assert_int_equal(ship_for_each_active(tour.ships, call_at, &tour), 0);
	assert_int_equal(ship_acquire_bulk(tour.ships, fleet, FLEET), FLEET);
	for (size_t i = 0; i < FLEET; i++)
		*fleet[i] = (struct ship){.number = i};

	assert_int_equal(ship_for_each_active(tour.ships, call_at, &tour), FLEET);
	assert_int_equal(tour.visits, FLEET);
	ship_cursor_split(parts, COUNT(parts), tour.ships);
	for (size_t i = 0; i < COUNT(parts); i++)
		for (struct ship *ship; (ship = ship_cursor_next(&parts[i]));)
			ship->visits++;
	ship_cursor_open(&cursor, tour.ships);
	for (struct ship *ship; (ship = ship_cursor_next(&cursor));)
		ship->visits++;
	assert_null(ship_cursor_next(&cursor));
	assert_int_equal(ship_copy_active(tour.ships, seen, FLEET + 1), FLEET);
	for (size_t i = 0; i < FLEET; i++)
		seen[i]->visits++;
	for (size_t i = 0; i < FLEET; i++)
		assert_int_equal(fleet[i]->visits, 4);
	assert_int_equal(ship_copy_active_objects(tour.ships, copies, FLEET), FLEET);
	for (size_t i = 0; i < FLEET; i++) {
		assert_memory_equal(&copies[i], seen[i], sizeof(copies[i]));
		assert_ptr_equal(ship_object_at(tour.ships, ship_index_of(tour.ships, fleet[i])), fleet[i]);
	}
	seen[10] = NULL;
	assert_int_equal(ship_copy_active(tour.ships, seen, 10), 10);
	assert_null(seen[10]);

	tour.visits = 0;
	tour.stop_after = 5;
	assert_int_equal(ship_for_each_active(tour.ships, call_at, &tour), 5);
	assert_int_equal(tour.visits, 5);
	ship_for_each_active(tour.ships, sink_odd, &tour);
	assert_int_equal(lfpool_active_count(tour.ships.untyped), FLEET / 2);

	tour.visits = tour.stop_after = 0;
	assert_int_equal(ship_for_each_slot(tour.ships, call_at_slot, &tour), CAPACITY);
	assert_int_equal(tour.visits, CAPACITY);
	assert_int_equal(tour.actives, FLEET / 2);
	tour.stop_after = CAPACITY + 3;
	assert_int_equal(ship_for_each_slot(tour.ships, call_at_slot, &tour), 3);

	assert_int_equal(ship_release_all(tour.ships), FLEET / 2);
	assert_int_equal(ship_pool_destroy(tour.ships), 0);
}

/* ---- Caches ------------------------------------------------------------------------------------------------ */

TEST(caches)
{
	ship_pool_t ships = ships_of(500);
	ship_cache_t cache = ship_cache_create(ships);
	struct ship *fleet[501];

	assert_non_null(cache.untyped);
	assert_int_equal(ship_cache_acquire_bulk(cache, fleet, 501), 500);
	assert_null(ship_cache_acquire(cache));
	assert_int_equal(ship_cache_release_bulk(cache, fleet, 500), 500);
	for (size_t i = 0; i < 500; i++) {
		fleet[i] = ship_cache_acquire(cache);
		assert_non_null(fleet[i]);
		fleet[i]->number = i;
	}
	assert_null(ship_cache_acquire(cache));
	for (size_t i = 0; i < 500; i++) {
		assert_int_equal(fleet[i]->number, i);
		assert_int_equal(ship_cache_release(cache, fleet[i]), LFPOOL_OK);
	}
	assert_int_equal(ship_cache_release(cache, fleet[7]), LFPOOL_E_NOT_IN_USE);
	assert_int_equal(ship_cache_release(cache, (struct ship *)(void *)&fleet[7]->name), LFPOOL_E_INTERIOR);
	assert_int_equal(ship_cache_release(cache, NULL), LFPOOL_OK);
	ship_cache_destroy(cache);
	require_whole(ships.untyped, sizeof(struct ship));
	assert_int_equal(ship_pool_destroy(ships), 0);
}

RUN_TESTS()
