/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_priority_order.c - which object is evicted, and what each handle is good for: random calls of one thread against a model.
 *
 * Idea         The model is a list of what is in use, and looks through all of it for the least: of what is active and
 *              not pinned, what no other goes before; of equals, what was acquired first.  Each call of the pool must do
 *              what the model says, and the hook must be told of just the objects that the model gives up.  What a holder wrote is
 *              there for the next.
 *                 The capacities are those where a tree of any sensible fan gains a level, and their neighbours.
 */
#include "../support/priority_support.h"

enum { SIZE = 8, NEW, ACTIVE, RELEASED };

/* Of a pool's priorities, if they are few: none is 0, which memory is full of. */
#define FLOOR UINT64_C(5000)

struct entry {
	lfpool_handle_t handle;
	void *object;
	uint64_t priority, age; /* age: how many were acquired before */
	unsigned pins, life;
};

struct model {
	lfpool_priority_t *pool;
	lfpool_priority_config_t config;
	struct random random;
	uint64_t range; /* priorities are as many from FLOOR on; 0: any of 64 bits, a few of them often */
	struct entry *entries;
	size_t count;
	lfpool_priority_stats_t stats;
	/* What the hook was told of in this call, and what the model gave up. */
	size_t told, given_up;
	struct entry last_given_up[8];
	lfpool_handle_t last_stale;
};

static void on_evict(void *context, const lfpool_evicted_t *e)
{
	struct model *m = context;
	const struct entry *expected = &m->last_given_up[m->told];

	REQUIRE(m->told < m->given_up && e->pool == m->pool);
	REQUIRE(e->handle == expected->handle && e->object == expected->object);
	REQUIRE(e->priority == expected->priority && e->owner == (void *)(uintptr_t)(expected->age + 1));
	/* Stale already; and the object is still in use, by this call. */
	require_stale(m->pool, e->handle);
	REQUIRE(lfpool_priority_count(m->pool) == m->count + m->given_up - m->told);
	REQUIRE(stamp_holds(e->object, SIZE, (uintptr_t)e->object));
	m->told++;
}

static bool model_before(const struct model *m, uint64_t a, uint64_t b)
{
	return m->config.before ? m->config.before(m->config.context, a, b) : a < b;
}

static bool entry_before(const struct model *m, const struct entry *a, const struct entry *b)
{
	if (model_before(m, a->priority, b->priority))
		return true;
	return !model_before(m, b->priority, a->priority) && a->age < b->age;
}

/* The least; NULL if nothing can be evicted. */
static struct entry *model_min(struct model *m)
{
	struct entry *min = NULL;

	for (struct entry *e = m->entries; e < m->entries + m->count; e++)
		if (e->life == ACTIVE && !e->pins && (!min || entry_before(m, e, min)))
			min = e;
	return min;
}

static void forget(struct model *m, struct entry *e)
{
	m->last_stale = e->handle;
	*e = m->entries[--m->count];
}

static void give_up(struct model *m, struct entry *e)
{
	m->last_given_up[m->given_up++] = *e;
	m->stats.evicted++;
	forget(m, e);
}

static uint64_t any_priority(struct model *m)
{
	const uint64_t number = random_next(&m->random);

	if (m->range)
		return FLOOR + number % m->range;
	return number % 8 == 0 ? UINT64_MAX : number % 8 == 1 ? 0 : number >> (number & 63);
}

static void do_acquire(struct model *m)
{
	struct entry e = {.priority = any_priority(m), .age = m->stats.acquired, .life = NEW};
	const bool full = m->count == m->config.capacity;
	struct entry *min = full ? model_min(m) : NULL;
	bool expected = !full;

	if (min && (model_before(m, min->priority, e.priority) ||
		    (m->config.flags & LFPOOL_EVICT_EQUAL && !model_before(m, e.priority, min->priority)))) {
		give_up(m, min);
		expected = true;
	}
	e.object = lfpool_priority_acquire(m->pool, e.priority, (void *)(uintptr_t)(e.age + 1), &e.handle);
	REQUIRE((e.object != NULL) == expected && (e.handle != 0) == expected);
	REQUIRE(m->told == m->given_up);
	if (!expected) {
		m->stats.refused++;
		return;
	}
	/* (With a quarantine it is another.) */
	if (m->told && !getenv("LFPOOL_DEBUG"))
		REQUIRE(e.object == m->last_given_up[0].object);
	/* Never used, or as it was left. */
	REQUIRE(all_bytes_are(e.object, SIZE, 0) || stamp_holds(e.object, SIZE, (uintptr_t)e.object));
	stamp_write(e.object, SIZE, (uintptr_t)e.object);
	m->stats.acquired++;
	if (random_below(&m->random, 8)) {
		REQUIRE(lfpool_priority_publish(m->pool, e.handle) == LFPOOL_OK);
		e.life = ACTIVE;
	}
	m->entries[m->count++] = e;
}

static void do_release_min(struct model *m)
{
	const size_t count = random_below(&m->random, COUNT(m->last_given_up) + 1);
	struct entry *min;

	while (m->given_up < count && (min = model_min(m)))
		give_up(m, min);
	REQUIRE(lfpool_priority_release_min(m->pool, count) == m->given_up);
	REQUIRE(m->told == m->given_up);
}

static void do_peek(struct model *m)
{
	const struct entry *min = model_min(m);
	uint64_t priority = 0;

	REQUIRE(lfpool_priority_peek_min(m->pool, &priority) == (min ? min->handle : 0));
	REQUIRE(!min || priority == min->priority);
}

static void do_publish(struct model *m, struct entry *e)
{
	REQUIRE(lfpool_priority_publish(m->pool, e->handle) == (e->life == NEW ? LFPOOL_OK : LFPOOL_E_STALE));
	if (e->life == NEW)
		e->life = ACTIVE;
}

static void do_pin(struct model *m, struct entry *e)
{
	const bool can = e->life == ACTIVE && e->pins < PINS;

	REQUIRE(lfpool_priority_pin(m->pool, e->handle) == (can ? e->object : NULL));
	e->pins += can;
}

static void do_unpin(struct model *m, struct entry *e)
{
	const lfpool_status_t status = lfpool_priority_unpin(m->pool, e->handle);

	REQUIRE(e->life == NEW ? status != LFPOOL_OK : status == (e->pins ? LFPOOL_OK : LFPOOL_E_NOT_PINNED));
	if (e->pins && --e->pins == 0 && e->life == RELEASED)
		forget(m, e);
}

/* Up to the most pins that there can be, and back. */
static void do_pins(struct model *m, struct entry *e)
{
	const unsigned before = e->pins;

	for (unsigned i = 0; i < PINS + 2; i++)
		do_pin(m, e);
	while (e->pins > before)
		do_unpin(m, e);
}

static void do_update(struct model *m, struct entry *e)
{
	const uint64_t priority = random_below(&m->random, 8) ? any_priority(m) : e->priority;

	REQUIRE(lfpool_priority_update(m->pool, e->handle, priority) == (e->life == ACTIVE ? LFPOOL_OK : LFPOOL_E_STALE));
	if (e->life == ACTIVE)
		e->priority = priority;
}

static void do_release(struct model *m, struct entry *e)
{
	REQUIRE(lfpool_priority_release(m->pool, e->handle) == (e->life == RELEASED ? LFPOOL_E_STALE : LFPOOL_OK));
	e->life = RELEASED;
	if (!e->pins)
		forget(m, e);
}

static bool is_in_use(const struct model *m, lfpool_handle_t handle)
{
	for (const struct entry *e = m->entries; e < m->entries + m->count; e++)
		if (e->handle == handle)
			return true;
	return false;
}

static void do_questions(struct model *m, const struct entry *e)
{
	const lfpool_priority_stats_t stats = priority_stats_of(m->pool);
	const lfpool_handle_t any = random_next(&m->random) >> random_below(&m->random, 64);
	uint64_t priority = 0;

	REQUIRE(lfpool_priority_is_active(m->pool, e->handle) == (e->life == ACTIVE));
	/* (What the allocator could take back is not shown.) */
	const char *backend = getenv("LFPOOL_BACKEND");
	const bool shown = e->life == ACTIVE && !(backend && strcmp(backend, "malloc") == 0);

	REQUIRE(lfpool_priority_look(m->pool, e->handle) == (shown ? e->object : NULL));
	REQUIRE(lfpool_priority_get(m->pool, e->handle, &priority) == (e->life == ACTIVE));
	REQUIRE(e->life != ACTIVE || priority == e->priority);
	REQUIRE(lfpool_priority_count(m->pool) == m->count);
	REQUIRE(memcmp(&stats, &m->stats, sizeof(stats)) == 0);
	if (m->last_stale)
		require_stale(m->pool, m->last_stale);
	/* Of any other value there is nothing to fear. */
	if (!is_in_use(m, any)) {
		require_stale(m->pool, any);
		REQUIRE(lfpool_priority_unpin(m->pool, any) != LFPOOL_OK);
	}
}

static void step(struct model *m, uint32_t acquires)
{
	const uint32_t what = random_below(&m->random, 32 + acquires);
	struct entry *e = m->count ? &m->entries[random_below(&m->random, (uint32_t)m->count)] : NULL;

	m->told = m->given_up = 0;
	if (!e || what >= 32)
		do_acquire(m);
	else if (what < 8)
		do_update(m, e);
	else if (what < 12)
		(what == 8 && e->age % 16 == 0 ? do_pins : do_pin)(m, e);
	else if (what < 17)
		do_unpin(m, e);
	else if (what < 21)
		do_publish(m, e);
	else if (what < 24)
		do_release(m, e);
	else if (what < 25)
		do_release_min(m);
	else if (what < 28)
		do_questions(m, e);
	else
		do_peek(m);
}

static void against_the_model(const lfpool_priority_config_t *config, uint64_t range, uint64_t seed)
{
	/* Mostly full, and now and then far from it. */
	static const uint32_t acquires[] = {40, 3, 12};
	struct model m = {.config = *config, .range = range, .random = {seed}};
	const unsigned steps = (unsigned)TIMES(8000000, 2000000) / ((unsigned)config->capacity + 400);

	m.config.object_size = SIZE;
	m.config.on_evict = on_evict;
	m.config.context = &m;
	m.pool = priority_with(&m.config);
	m.entries = calloc(config->capacity, sizeof(*m.entries));
	REQUIRE(m.entries);
	while (m.count < config->capacity)
		do_acquire(&m);
	for (unsigned i = 0; i < steps; i++)
		step(&m, acquires[i / (steps / 16 + 1) % COUNT(acquires)]);
	REQUIRE(m.stats.evicted > 0 || config->capacity > 4);
	REQUIRE(lfpool_priority_destroy(m.pool) == m.count);
	free(m.entries);
}

static const size_t capacities[] = {1,  2,  3,  4,  5,   8,   9,   15,   16,   17,   31,    32,
				    33, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, 65536, 65537};

static void with_each_capacity(const char *test, lfpool_priority_config_t config, uint64_t range)
{
	const uint64_t seed = test_seed(test);

	for (size_t i = 0; i < COUNT(capacities); i++) {
		config.capacity = capacities[i];
		against_the_model(&config, range, seed + i);
	}
}

TEST(the_least_goes)
{
	with_each_capacity("the_least_goes", (lfpool_priority_config_t)LFPOOL_PRIORITY_CONFIG_INIT, 0);
}

TEST(of_equals_the_oldest_goes)
{
	with_each_capacity("of_equals_the_oldest_goes", (lfpool_priority_config_t)LFPOOL_PRIORITY_CONFIG_INIT, 3);
}

TEST(a_newcomer_evicts_an_equal)
{
	lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;

	config.flags = LFPOOL_EVICT_EQUAL;
	with_each_capacity("a_newcomer_evicts_an_equal", config, 3);
}

static bool greater(void *context, uint64_t a, uint64_t b)
{
	REQUIRE(context);
	return a > b;
}

/* Weak: numbers that differ are equal. */
static bool by_tens(void *context, uint64_t a, uint64_t b)
{
	REQUIRE(context);
	return a / 10 % 5 < b / 10 % 5;
}

static bool all_alike(void *context, uint64_t a, uint64_t b)
{
	/* Only with priorities of this pool. */
	REQUIRE(context && a - FLOOR < 1000 && b - FLOOR < 1000);
	return false;
}

TEST(any_order)
{
	lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;

	config.before = greater;
	with_each_capacity("any_order: greater", config, 0);
	config.before = by_tens;
	with_each_capacity("any_order: by tens", config, 100);
	config.flags = LFPOOL_EVICT_EQUAL;
	with_each_capacity("any_order: by tens, evict equal", config, 100);
	config.before = all_alike;
	with_each_capacity("any_order: all alike", config, 1000);
}

RUN_TESTS()
