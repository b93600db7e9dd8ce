/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_priority_noise.c - what one thread may rely on while others make noise: it is refused only when that was promised,
 * and the least is the least.
 *
 * Idea         The noise is made where it cannot matter: priorities change above the least ones, or below what would
 *              keep a newcomer out; pins hold fewer objects than there are.  So each call of the thread that looks has one
 *              outcome, and every other one is an error of the pool's.
 */
#include "../support/priority_support.h"

#include <stdatomic.h>

enum { CAPACITY_MAX = 300, NOISY = 3, LOW = 100, HIGH = 1000, ROUNDS = 100000 };

struct din {
	lfpool_priority_t *pool;
	/* The objects that the noise is made with; who looks replaces what he has evicted. */
	_Atomic(lfpool_handle_t) handles[CAPACITY_MAX];
	uint32_t count;
	bool pins;              /* and not only updates */
	uint64_t base;          /* priorities from here, LOW of them */
	lfpool_handle_t victim; /* of the last eviction, by who looks */
	uint64_t evictions, victim_priority;
	_Atomic(bool) over;
	_Atomic(unsigned) noisy;
	_Atomic(uint64_t) updates, pinned;
	struct random random[NOISY + 1];
};

struct noise {
	struct din *din;
	unsigned number;
};

static void on_evict(void *context, const lfpool_evicted_t *e)
{
	struct din *d = context;

	d->victim = e->handle;
	d->victim_priority = e->priority;
	d->evictions++;
}

static void *make_noise(void *argument)
{
	struct noise *n = argument;
	struct din *d = n->din;
	struct random *r = &d->random[n->number];

	atomic_fetch_add(&d->noisy, 1);
	/* relaxed: a sign only. */
	while (!atomic_load_explicit(&d->over, memory_order_relaxed)) {
		const lfpool_handle_t handle = atomic_load(&d->handles[random_below(r, d->count)]);

		if (!d->pins || random_below(r, 4)) {
			if (lfpool_priority_update(d->pool, handle, d->base + random_below(r, LOW)) == LFPOOL_OK)
				atomic_fetch_add_explicit(&d->updates, 1, memory_order_relaxed);
		} else if (lfpool_priority_pin(d->pool, handle)) {
			atomic_fetch_add_explicit(&d->pinned, 1, memory_order_relaxed);
			REQUIRE(lfpool_priority_unpin(d->pool, handle) == LFPOOL_OK);
		}
	}
	return NULL;
}

static void replace(struct din *d, lfpool_handle_t old, lfpool_handle_t new)
{
	uint32_t i = 0;

	while (i < d->count && atomic_load(&d->handles[i]) != old)
		i++;
	/* It was evicted: then it was there. */
	REQUIRE(i < d->count);
	atomic_store(&d->handles[i], new);
}

static void open_din(struct din *d, size_t capacity, uint32_t flags, uint64_t seed)
{
	memset(d, 0, sizeof(*d));
	d->pool = PRIORITY_WITH(.object_size = 16, .capacity = capacity, .on_evict = on_evict, .context = d, .flags = flags);
	for (unsigned i = 0; i <= NOISY; i++)
		d->random[i] = random_for(seed, i);
}

static void with_noise(struct din *d, unsigned threads, void (*look)(struct din *d))
{
	struct noise noises[NOISY];

	for (unsigned i = 0; i < threads; i++)
		noises[i] = (struct noise){.din = d, .number = i + 1};
	const struct threads noisy = threads_start(threads, make_noise, noises, sizeof(noises[0]));

	while (atomic_load(&d->noisy) < threads || !atomic_load(&d->updates))
		;
	look(d);
	atomic_store(&d->over, true);
	threads_join(&noisy);
	print_message("%zu objects: %llu updates, %llu pins meanwhile\n", lfpool_priority_capacity(d->pool),
		      (unsigned long long)d->updates, (unsigned long long)d->pinned);
}

/* ---- Refused only when that was promised ---- */

/* Everybody is low, whatever becomes of him; so a high one comes in.  Then he is one of them. */
static void come_in(struct din *d)
{
	for (int round = 0; round < TIMES(ROUNDS, ROUNDS / 20); round++) {
		lfpool_handle_t handle;
		void *object = lfpool_priority_acquire(d->pool, HIGH, NULL, &handle);

		REQUIRE(object && d->evictions == (uint64_t)round + 1 && d->victim_priority < LOW);
		REQUIRE(lfpool_priority_publish(d->pool, handle) == LFPOOL_OK);
		REQUIRE(lfpool_priority_update(d->pool, handle, random_below(&d->random[0], LOW)) == LFPOOL_OK);
		replace(d, d->victim, handle);
	}
	REQUIRE(priority_stats_of(d->pool).refused == 0);
}

static void never_refused(size_t capacity, unsigned threads, bool pins, uint64_t seed)
{
	static struct din d;

	open_din(&d, capacity, 0, seed);
	d.pins = pins;
	d.count = (uint32_t)capacity;
	for (size_t i = 0; i < capacity; i++)
		d.handles[i] = priority_put(d.pool, random_below(&d.random[0], LOW));
	with_noise(&d, threads, come_in);
	assert_int_equal(lfpool_priority_release_min(d.pool, capacity), capacity);
	priority_close(d.pool, 16);
}

TEST(a_high_one_is_never_refused_by_low_ones)
{
	const uint64_t seed = test_seed("a_high_one_is_never_refused_by_low_ones");

	never_refused(1, 1, false, seed);
	never_refused(1, NOISY, false, seed + 1);
	never_refused(2, NOISY, false, seed + 2);
	never_refused(17, NOISY, false, seed + 3);
	never_refused(CAPACITY_MAX, NOISY, false, seed + 4);
}

/* Each pins one at most. */
TEST(nor_by_pins_as_long_as_there_are_more_objects)
{
	const uint64_t seed = test_seed("nor_by_pins_as_long_as_there_are_more_objects");

	never_refused(2, 1, true, seed);
	never_refused(NOISY + 1, NOISY, true, seed + 1);
	never_refused(20, NOISY, true, seed + 2);
}

/* ---- The least is the least ---- */

enum { QUEUE = 5 };

/* QUEUE objects of priority 5, the noise above them: first come, first gone. */
static void queue_up(struct din *d)
{
	lfpool_handle_t queue[QUEUE], handle;
	size_t head = 0;

	for (size_t i = 0; i < QUEUE; i++)
		REQUIRE(queue[i] = priority_put(d->pool, 5));
	for (int round = 0; round < TIMES(ROUNDS, ROUNDS / 20); round++) {
		const uint64_t evictions = d->evictions;
		const bool release = round % 3 == 0;
		uint64_t priority = 0;

		REQUIRE(lfpool_priority_peek_min(d->pool, &priority) == queue[head] && priority == 5);
		if (release)
			REQUIRE(lfpool_priority_release_min(d->pool, 1) == 1 && d->evictions == evictions + 1);
		/* The same for the equal one, who may stay what he is, and for the higher one. */
		REQUIRE(lfpool_priority_acquire(d->pool, round % 2 ? 5 : 6, NULL, &handle));
		REQUIRE(d->evictions == evictions + 1 && d->victim == queue[head] && d->victim_priority == 5);
		REQUIRE(lfpool_priority_publish(d->pool, handle) == LFPOOL_OK);
		REQUIRE(lfpool_priority_update(d->pool, handle, 5) == LFPOOL_OK);
		queue[head] = handle;
		head = (head + 1) % QUEUE;
		/* A pin takes one out of the queue, and back to its place. */
		if (round % 5 == 0) {
			REQUIRE(lfpool_priority_pin(d->pool, queue[head]));
			REQUIRE(lfpool_priority_peek_min(d->pool, NULL) == queue[(head + 1) % QUEUE]);
			REQUIRE(lfpool_priority_unpin(d->pool, queue[head]) == LFPOOL_OK);
		}
	}
}

static void keep_order(size_t noisy, unsigned threads, bool pins, uint64_t seed)
{
	static struct din d;

	open_din(&d, noisy + QUEUE, LFPOOL_EVICT_EQUAL, seed);
	d.pins = pins;
	d.base = 10;
	d.count = (uint32_t)noisy;
	for (size_t i = 0; i < noisy; i++)
		d.handles[i] = priority_put(d.pool, d.base);
	with_noise(&d, threads, queue_up);
	assert_int_equal(lfpool_priority_release_min(d.pool, noisy + QUEUE), noisy + QUEUE);
	priority_close(d.pool, 16);
}

TEST(the_least_goes_whatever_happens_above)
{
	const uint64_t seed = test_seed("the_least_goes_whatever_happens_above");

	keep_order(1, NOISY, false, seed);
	keep_order(5, NOISY, true, seed + 1);
	keep_order(30, NOISY, true, seed + 2);
	keep_order(CAPACITY_MAX - QUEUE, NOISY, true, seed + 3);
}

/* ---- Many updates of one object ---- */

enum { UPDATES = 100000 };

struct updater {
	lfpool_priority_t *pool;
	lfpool_handle_t handle;
	uint64_t number;
};

/* {check, who, count}: nothing that was not written passes for it. */
static uint64_t marked(uint64_t who, uint64_t count)
{
	const uint64_t value = who << 28 | count;

	return (value * UINT64_C(0x9e3779b1) & 0xffffffff) << 32 | value;
}

/* What is seen of each updater never goes back. */
static void must_follow(uint64_t priority, uint64_t *seen)
{
	const uint64_t value = priority & 0xffffffff, who = value >> 28, count = value & 0xfffffff;

	REQUIRE(priority == marked(who, count) && who <= NOISY && count >= seen[who]);
	seen[who] = count;
}

static void *update_often(void *argument)
{
	struct updater *u = argument;
	uint64_t seen[NOISY + 1] = {0}, peeked[NOISY + 1] = {0}, priority;

	for (uint64_t i = 1; i <= (uint64_t)TIMES(UPDATES, UPDATES / 20); i++) {
		REQUIRE(lfpool_priority_update(u->pool, u->handle, marked(u->number, i)) == LFPOOL_OK);
		if (i % 4 == 0) {
			REQUIRE(lfpool_priority_get(u->pool, u->handle, &priority));
			must_follow(priority, seen);
		} else if (i % 4 == 1) {
			REQUIRE(lfpool_priority_peek_min(u->pool, &priority) == u->handle);
			must_follow(priority, peeked);
		}
	}
	return NULL;
}

static void update_one(size_t capacity)
{
	lfpool_priority_t *pool = priority_of(16, capacity);
	struct updater updaters[NOISY + 1];
	uint64_t priority = 0, last = (uint64_t)TIMES(UPDATES, UPDATES / 20);

	for (size_t i = 1; i < capacity; i++)
		REQUIRE(priority_put(pool, UINT64_MAX));
	const lfpool_handle_t handle = priority_put(pool, marked(0, 0));

	for (size_t i = 0; i < COUNT(updaters); i++)
		updaters[i] = (struct updater){pool, handle, i};
	threads_run(COUNT(updaters), update_often, updaters, sizeof(updaters[0]));
	assert_true(lfpool_priority_get(pool, handle, &priority));
	assert_int_equal(priority & 0xfffffff, last);
	assert_true(lfpool_priority_peek_min(pool, NULL) == handle);
	assert_int_equal(lfpool_priority_destroy(pool), capacity);
}

TEST(many_updates_of_one_object)
{
	update_one(1);
	update_one(2);
	update_one(300);
}

RUN_TESTS()
