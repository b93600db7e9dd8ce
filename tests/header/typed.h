/* SPDX-License-Identifier: MIT */
/* typed.h - every macro of lfpool/typed.h and lfpool/hidden.h, and every function that they define: each does the
 * same as its untyped counterpart, on objects of its type.  typed.c and typed.cpp compile it in every C from C99 on
 * and in every C++ from C++11 on, and tests/api/test_typed.c runs it.  Names like `pool` and `count` are used on
 * purpose. */
#include <lfpool/hidden.h>
#include <lfpool/report.h>
#include <lfpool/typed.h>

#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
#define NONE nullptr
#define OF(type, pointer) static_cast<type *>(pointer)
#else
#define NONE NULL
#define OF(type, pointer) ((type *)(pointer))
#endif
#define MUST(condition) must((condition), __LINE__)

void use_typed(void);
extern int pool, object, count, context, handle, cursor, cache, visit, hooks;

static void must(bool holds, int line)
{
	if (holds)
		return;
	fprintf(stderr, "typed.h:%d\n", line);
	abort();
}

struct ship {
	char name[5];
	double position[3];
	size_t number;
	int visits;
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

static void ignore(void *c, const lfpool_misuse_t *misuse)
{
	(void)c, (void)misuse;
}

/* A scheme without a grace period. */
static bool at_once(void *c, const lfpool_batch_t *batch)
{
	(void)c;
	return batch->count == 1;
}

static lfpool_config_t config_for(size_t capacity, void *its_context)
{
	lfpool_config_t config;

	lfpool_config_init(&config);
	config.capacity = capacity;
	config.scheme.ready = at_once;
	config.hooks.context = its_context;
	config.hooks.misuse = ignore;
	return config;
}

static ship_pool_t ships_of(size_t capacity)
{
	const lfpool_config_t config = config_for(capacity, NONE);
	ship_pool_t ships;

	MUST(ship_pool_create(&ships, &config) == LFPOOL_OK && ships.untyped);
	return ships;
}

/* ---- Objects ---- */

static void use_one_object(void)
{
	const lfpool_config_t config = config_for(1, NONE);
	ship_pool_t ships = ships_of(2);
	letter_pool_t letters;
	struct ship *a = ship_acquire(ships), *b = ship_acquire(ships);

	MUST(a && b && a != b && !ship_acquire(ships));
	MUST(ship_in_use(ships, a) && ship_owns(ships, a) && !ship_owns(ships, &a->position));
	MUST(ship_index_of(ships, a) + ship_index_of(ships, b) == 1 &&
	     ship_object_at(ships, ship_index_of(ships, b)) == b);
	MUST(ship_pool_of(a).untyped == ships.untyped);
	MUST(ship_release(ships, a) == LFPOOL_OK && !ship_in_use(ships, a));
	MUST(ship_release(ships, a) == LFPOOL_E_NOT_IN_USE);
	MUST(ship_release_self(b) == LFPOOL_OK && ship_release_self(b) == LFPOOL_E_NOT_IN_USE);
	MUST(ship_release_if_owned(ships, &ships) == LFPOOL_E_FOREIGN);
	MUST(ship_release_if_owned(ships, ship_acquire(ships)) == LFPOOL_OK);
	MUST(lfpool_quick_stats(ships.untyped).misuses == 2);
	MUST(ship_retire(ships, NONE) == LFPOOL_OK && ship_retire(ships, ship_acquire(ships)) == LFPOOL_OK);
	MUST(lfpool_quick_stats(ships.untyped).retired == 1 && ship_acquire(ships) && ship_acquire(ships));
	MUST(ship_release_all(ships) == 2 && ship_pool_destroy(ships) == 0);
	MUST(letter_pool_create(&letters, &config) == LFPOOL_OK);
	MUST(letter_release(letters, letter_acquire(letters)) == LFPOOL_OK && letter_pool_destroy(letters) == 0);
}

/* Up to all objects, through the pool and through a cache; a wrong one in the middle is refused, and the rest
 * released. */
static void use_many(size_t wanted)
{
	const size_t expected = wanted < 200 ? wanted : 200;
	ship_pool_t ships = ships_of(200);
	ship_cache_t own = ship_cache_create(ships);
	struct ship *fleet[202], *kept, *stranger = ship_acquire(ships);

	MUST(own.untyped && ship_cache_release(own, stranger) == LFPOOL_OK);
	for (int i = 0; i < 2; i++) {
		fleet[wanted] = stranger;
		MUST((i ? ship_acquire_bulk(ships, fleet, wanted) : ship_cache_acquire_bulk(own, fleet, wanted)) ==
		     expected);
		MUST(fleet[wanted] == stranger);
		for (size_t k = 0; k < expected; k++)
			fleet[k]->number = k;
		for (size_t k = 0; k < expected; k++)
			MUST(fleet[k]->number == k);
		kept = expected > 2 ? fleet[expected / 2] : NONE;
		if (kept)
			fleet[expected / 2] = fleet[0];
		MUST((i ? ship_release_bulk(ships, fleet, expected) : ship_cache_release_bulk(own, fleet, expected)) ==
		     expected - (kept ? 1 : 0));
		MUST(ship_cache_release(own, kept) == LFPOOL_OK && lfpool_active_count(ships.untyped) == 0);
	}
	MUST(ship_cache_release(own, ship_cache_acquire(own)) == LFPOOL_OK);
	ship_cache_destroy(own);
	MUST(ship_pool_destroy(ships) == 0);
}

static void use_handles(void)
{
	ship_pool_t ships = ships_of(1);
	struct ship *ship = ship_acquire(ships);
	const ship_handle_t name = ship_handle_of(ships, ship), nothing = {0};

	MUST(name.untyped && name.untyped == lfpool_handle_of(ships.untyped, ship));
	MUST(ship_resolve(ships, name) == ship && !ship_resolve(ships, nothing));
	MUST(ship_release_handle(ships, name) == LFPOOL_OK && !ship_resolve(ships, name));
	MUST(ship_release_handle(ships, name) == LFPOOL_E_STALE);
	MUST(ship_pool_destroy(ships) == 0);
}

/* ---- Walks ---- */

static bool visit_ship(void *ships, struct ship *s)
{
	s->visits++;
	return ship_in_use(*OF(ship_pool_t, ships), s);
}

static bool visit_one_ship(void *ships, struct ship *s)
{
	return !visit_ship(ships, s);
}

static bool visit_any_ship(void *ships, struct ship *s, bool active)
{
	return ship_in_use(*OF(ship_pool_t, ships), s) == active;
}

static void use_walks(void)
{
	enum { FLEET = 300 };
	ship_pool_t ships = ships_of(1000);
	struct ship *fleet[FLEET], *seen[FLEET + 1], copies[FLEET], *ship;
	lfpool_cursor_t whole, parts[7];

	MUST(ship_acquire_bulk(ships, fleet, FLEET) == FLEET);
	for (int i = 0; i < FLEET; i++)
		fleet[i]->visits = 0;
	/* Each object four times: in a walk, in parts, by a cursor, by a copy. */
	MUST(ship_for_each_active(ships, visit_ship, &ships) == FLEET);
	ship_cursor_split(parts, 7, ships);
	for (int i = 0; i < 7; i++)
		while ((ship = ship_cursor_next(&parts[i])) != NONE)
			ship->visits++;
	ship_cursor_open(&whole, ships);
	while ((ship = ship_cursor_next(&whole)) != NONE)
		ship->visits++;
	MUST(ship_copy_active(ships, seen, FLEET + 1) == FLEET);
	for (int i = 0; i < FLEET; i++)
		seen[i]->visits++;
	MUST(ship_copy_active_objects(ships, copies, FLEET) == FLEET);
	for (int i = 0; i < FLEET; i++)
		MUST(fleet[i]->visits == 4 && copies[i].visits == 4);
	MUST(ship_for_each_active(ships, visit_one_ship, &ships) == 1);
	MUST(ship_for_each_slot(ships, visit_any_ship, &ships) == 1000);
	MUST(ship_release_all(ships) == FLEET && ship_pool_destroy(ships) == 0);
}

/* ---- Tables of hooks ---- */

struct calls {
	size_t create, activate, deactivate, destroy, validate;
};

static bool create_ship(void *calls, struct ship *s)
{
	s->number = ++OF(struct calls, calls)->create;
	return true;
}

static bool activate_ship(void *calls, struct ship *s)
{
	OF(struct calls, calls)->activate += s->number;
	return true;
}

/* Every second time unfit for reuse. */
static bool deactivate_ship(void *calls, struct ship *s)
{
	return s->number && ++OF(struct calls, calls)->deactivate % 2 == 1;
}

static void destroy_ship(void *calls, struct ship *s)
{
	s->number = 0;
	OF(struct calls, calls)->destroy++;
}

static bool validate_ship(void *calls, struct ship *s)
{
	return s->number && ++OF(struct calls, calls)->validate > 0;
}

LFPOOL_HOOKS(engine, struct ship);
static const struct engine_hooks engine_table = {create_ship, activate_ship, deactivate_ship, destroy_ship,
						 validate_ship};
LFPOOL_DEFINE_WITH(engine, struct ship, engine_table);
static const struct engine_hooks half_table = {create_ship, NONE, NONE, destroy_ship, NONE};
LFPOOL_DEFINE_WITH(half, struct ship, half_table);

static bool untyped_hook(void *its_context, void *its_object)
{
	return its_context && its_object;
}

/* Each hook is called with the pool's context; missing ones are skipped.  A table, and hooks of the config, exclude
 * each other. */
static void use_hooks(void)
{
	struct calls calls = {0, 0, 0, 0, 0}, others = {0, 0, 0, 0, 0};
	lfpool_config_t config = config_for(1, &calls), other = config_for(1, &others);
	engine_pool_t engines;
	half_pool_t halves;

	MUST(engine_pool_create(&engines, &config) == LFPOOL_OK && half_pool_create(&halves, &other) == LFPOOL_OK);
	for (int i = 0; i < 3; i++) {
		MUST(engine_release(engines, engine_acquire(engines)) == LFPOOL_OK);
		MUST(half_release(halves, half_acquire(halves)) == LFPOOL_OK);
	}
	/* Built twice: active 1 + 1 + 2 times, and validated before the second. */
	MUST(calls.create == 2 && calls.activate == 4 && calls.deactivate == 3 && calls.destroy == 1 &&
	     calls.validate == 1);
	MUST(others.create == 1 && others.activate + others.deactivate + others.destroy + others.validate == 0);
	MUST(engine_pool_destroy(engines) == 0 && half_pool_destroy(halves) == 0);
	MUST(calls.destroy == 2 && others.destroy == 1);
	other.hooks.activate = untyped_hook;
	MUST(half_pool_create(&halves, &other) == LFPOOL_E_CONFIG_HOOKS && !halves.untyped);
}

/* ---- Hidden pools, declared while the type is incomplete ---- */

LFPOOL_DECLARE(crate, struct crate);
LFPOOL_DECLARE(barrel, struct crate);
static void use_declared(struct crate *c)
{
	const crate_handle_t name = crate_handle_of(c);

	MUST(crate_resolve(name) == c && crate_active_count() == 1 && !crate_acquire());
	MUST(crate_release_handle(name) == LFPOOL_OK && !crate_resolve(name) && crate_active_count() == 0);
	MUST(crate_release(crate_acquire()) == LFPOOL_OK);
}
struct crate {
	int weight;
};
LFPOOL_HOOKS(barrel, struct crate);
static bool fill(void *c, struct crate *b)
{
	b->weight = c ? 42 : 0;
	return true;
}
static const struct barrel_hooks barrel_table = {fill, fill, fill, NONE, NONE};
LFPOOL_DEFINE_HIDDEN(crate, struct crate);
LFPOOL_DEFINE_HIDDEN_WITH(barrel, struct crate, barrel_table);

static bool add_weight(void *sum, struct crate *c)
{
	*OF(int, sum) += c->weight;
	return true;
}

static void use_hidden(void)
{
	int sum = 0;
	const lfpool_config_t config = config_for(1, &sum);

	MUST(crate_hidden_pool_create(&crate_hidden, &config) == LFPOOL_OK);
	MUST(barrel_hidden_pool_create(&barrel_hidden, &config) == LFPOOL_OK);
	use_declared(crate_acquire());
	MUST(barrel_acquire() && barrel_for_each_active(add_weight, &sum) == 1 && sum == 42);
	MUST(crate_hidden_pool_destroy(crate_hidden) == 0 && barrel_hidden_pool_destroy(barrel_hidden) == 1);
}

void use_typed(void)
{
	static const size_t counts[] = {
		0,   1,  LFPOOL_TYPED_BATCH - 1, LFPOOL_TYPED_BATCH, LFPOOL_TYPED_BATCH + 1, 2 * LFPOOL_TYPED_BATCH,
		200, 201};

	use_one_object();
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		use_many(counts[i]);
	use_handles();
	use_walks();
	use_hooks();
	/* Again, after the first pool was destroyed. */
	use_hidden();
	use_hidden();
}
