/* SPDX-License-Identifier: MIT */
/*
 * typed.h - every macro of lfpool/typed.h and lfpool/hidden.h, and every function that they define; for typed.c and
 * typed.cpp, which include it in every C from C99 on and in every C++ from C++11 on.  Nothing here is run: what the
 * functions do is in tests/api/test_typed.c.  Names like `pool` and `count` are taken on purpose.
 */
#include <lfpool/hidden.h>
#include <lfpool/typed.h>

#ifdef __cplusplus
#define NONE nullptr
#else
#define NONE NULL
#endif

size_t use_typed(void);
extern int pool, object, count, context, handle, cursor, cache, visit, hooks;

struct ship {
	char name[5];
	double position[3];
};

typedef char letter;

LFPOOL_DEFINE(ship, struct ship);
LFPOOL_DEFINE(letter, letter);
LFPOOL_DEFINE(unused, struct ship);

#ifndef __cplusplus
struct message {
	size_t length;
	char text[];
};
LFPOOL_DEFINE(message, struct message);
#endif

/* A table, and a pool that calls it. */
LFPOOL_HOOKS(engine, struct ship);
static bool start(void *c, struct ship *s)
{
	return c && s;
}
static void stop(void *c, struct ship *s)
{
	if (c)
		s->name[0] = 0;
}
static const struct engine_hooks engine_table = {start, NONE, start, stop, start};
LFPOOL_DEFINE_WITH(engine, struct ship, engine_table);
static const struct engine_hooks no_table = {NONE, NONE, NONE, NONE, NONE};
LFPOOL_DEFINE_WITH(idle, struct ship, no_table);

/* Declared while the type is incomplete. */
LFPOOL_DECLARE(crate, struct crate);
LFPOOL_DECLARE(barrel, struct crate);
size_t use_declared(struct crate *c);
size_t use_declared(struct crate *c)
{
	if (crate_release(c) != LFPOOL_OK || crate_resolve(crate_handle_of(c)) == crate_acquire())
		return 0;
	return crate_active_count();
}
struct crate {
	int weight;
};
LFPOOL_HOOKS(barrel, struct crate);
static bool fill(void *c, struct crate *b)
{
	b->weight = c != NONE;
	return true;
}
static const struct barrel_hooks barrel_table = {fill, fill, fill, NONE, NONE};
LFPOOL_DEFINE_HIDDEN(crate, struct crate);
LFPOOL_DEFINE_HIDDEN_WITH(barrel, struct crate, barrel_table);

static bool visit_ship(void *c, struct ship *s)
{
	return c || s->name[0];
}

static bool visit_any_ship(void *c, struct ship *s, bool active)
{
	return active && visit_ship(c, s);
}

static bool visit_crate(void *c, struct crate *crate)
{
	return c || crate->weight;
}

static size_t use_hidden(const lfpool_config_t *config)
{
	if (crate_hidden_pool_create(&crate_hidden, config) != LFPOOL_OK ||
	    barrel_hidden_pool_create(&barrel_hidden, config) != LFPOOL_OK)
		return 0;
	size_t sum = crate_for_each_active(visit_crate, NONE) + use_declared(crate_acquire());
	sum += barrel_active_count();
	sum += barrel_release_handle(barrel_handle_of(barrel_acquire())) == LFPOOL_OK;
	return sum + crate_hidden_pool_destroy(crate_hidden) + barrel_hidden_pool_destroy(barrel_hidden);
}

static size_t use_caches(ship_pool_t ships)
{
	ship_cache_t own = ship_cache_create(ships);
	struct ship *fleet[3];
	size_t sum = own.untyped ? ship_cache_acquire_bulk(own, fleet, 3) : 0;

	sum += ship_cache_release_bulk(own, fleet, sum);
	sum += ship_cache_release(own, ship_cache_acquire(own)) == LFPOOL_OK;
	ship_cache_destroy(own);
	return sum;
}

static size_t use_walks(ship_pool_t ships)
{
	lfpool_cursor_t parts[2];
	struct ship *fleet[3];
	size_t sum = ship_for_each_active(ships, visit_ship, NONE);

	sum += ship_for_each_slot(ships, visit_any_ship, NONE) + ship_copy_active(ships, fleet, 3);
	ship_cursor_open(&parts[0], ships);
	ship_cursor_split(parts, 2, ships);
	sum += ship_cursor_next(&parts[1]) != NONE;
	return sum + ship_release_all(ships);
}

size_t use_typed(void)
{
	lfpool_config_t config;
	ship_pool_t ships;
	engine_pool_t engines;
	idle_pool_t idle;
	letter_pool_t letters;
	struct ship *fleet[3];

	lfpool_config_init(&config);
	config.capacity = 10;
	if (ship_pool_create(&ships, &config) != LFPOOL_OK || letter_pool_create(&letters, &config) != LFPOOL_OK ||
	    engine_pool_create(&engines, &config) != LFPOOL_OK || idle_pool_create(&idle, &config) != LFPOOL_OK)
		return 0;
	struct ship *flagship = ship_acquire(ships);
	ship_handle_t name = ship_handle_of(ships, flagship);
	size_t sum = ship_resolve(ships, name) == flagship && ship_in_use(ships, flagship);

	sum += ship_owns(ships, flagship);
	sum += ship_object_at(ships, ship_index_of(ships, flagship)) == flagship;
	sum += ship_copy_active_objects(ships, flagship, 0) + (ship_release_if_owned(ships, &sum) == LFPOOL_OK);
	sum += ship_index_of(ships, flagship) + (ship_pool_of(flagship).untyped == ships.untyped);
	sum += ship_release_handle(ships, name) == LFPOOL_OK || ship_release(ships, flagship) == LFPOOL_OK;
	sum += ship_release_self(ship_acquire(ships)) == LFPOOL_OK;
	sum += ship_retire(ships, ship_acquire(ships)) == LFPOOL_E_NO_SCHEME;
	sum += ship_acquire_bulk(ships, fleet, 3) + ship_release_bulk(ships, fleet, 3);
	sum += letter_release(letters, letter_acquire(letters)) == LFPOOL_OK;
	sum += use_caches(ships) + use_walks(ships) + use_hidden(&config);
	sum += lfpool_active_count(ships.untyped) + engine_pool_destroy(engines) + idle_pool_destroy(idle);
	return sum + ship_pool_destroy(ships) + letter_pool_destroy(letters);
}
