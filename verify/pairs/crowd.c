/* SPDX-License-Identifier: MIT */
/*
 * crowd.c - four threads use one pool at once.
 *
 * Idea         Each thread stamps every object that it acquires, and checks the stamp when it releases it, so the
 *              second of two holders finds the other.  After all have ended the state is exact again.  Counts, the
 *              identity of the statistics and lfpool_check() must agree; no call may wait while an object is free; no
 *              pending shrink may exceed the capacity.  At the end the model takes over the remaining objects.
 */
#include "row.h"

#include "lfpool/report.h"
#include "lfpool/resize.h"
#include "lfpool/retire.h"
#include "lfpool/wait.h"

#include <string.h>

#define THREADS 4
#define ROUNDS 4
#define STEPS 150
#define WISHES 4
#define BULK 8

struct hand {
	void *object;
	uint64_t stamp;
};

/* One continuation's wish for an object. */
struct wish {
	_Atomic(int) state;
	void *object;
	lfpool_ticket_t ticket;
};
enum { IDLE, WAITING, ARRIVED, REFUSED };

struct member {
	struct model *m;
	struct random r;
	struct hand held[MODEL_CAPACITY_MAX];
	size_t count;
	struct wish wish[WISHES];
	uint64_t stamps;
	lfpool_cache_t *cache;
};

static struct member members[THREADS];

/* ---- Objects ----------------------------------------------------------------------------------------------- */

static void take(struct member *me, void *object)
{
	const struct model *m = me->m;
	const unsigned char *bytes = object;

	REQUIRE((uintptr_t)object % m->config.object_alignment == 0 && me->count < MODEL_CAPACITY_MAX);
	if (m->plan.zeroes)
		REQUIRE(!bytes[0] && memcmp(bytes, bytes + 1, m->config.object_size - 1) == 0);
	me->held[me->count++] = (struct hand){object, ++me->stamps};
	stamp_write(object, m->config.object_size, me->stamps);
}

/* Gives up one of the member's objects, which must be unchanged. */
static void *give(struct member *me)
{
	if (!me->count)
		return NULL;

	struct hand *hand = &me->held[random_below(&me->r, (uint32_t)me->count)];
	void *object = hand->object;

	stamp_require(object, me->m->config.object_size, hand->stamp);
	*hand = me->held[--me->count];
	return object;
}

static void acquire(struct member *me)
{
	const struct model *m = me->m;
	void *object = me->cache                                ? lfpool_cache_acquire(me->cache)
		       : m->plan.way->acquire && me->stamps % 2 ? m->plan.way->acquire(me->m)
								: lfpool_acquire(m->pool);

	if (object)
		take(me, object);
}

static void release(struct member *me)
{
	void *object = give(me);

	REQUIRE((me->cache ? lfpool_cache_release(me->cache, object) : lfpool_release(me->m->pool, object)) ==
		LFPOOL_OK);
}

static void acquire_bulk(struct member *me)
{
	void *objects[BULK];
	const size_t count = lfpool_acquire_bulk(me->m->pool, objects, BULK);

	for (size_t i = 0; i < count; i++)
		take(me, objects[i]);
}

static void release_bulk(struct member *me)
{
	void *objects[BULK];
	size_t count = 0;

	for (size_t i = 0; i < BULK; i++) {
		objects[i] = give(me);
		count += objects[i] != NULL;
	}
	REQUIRE(lfpool_release_bulk(me->m->pool, objects, BULK) == count);
}

/* ---- Continuations ----------------------------------------------------------------------------------------- */

/* Runs on any thread, so it leaves the object in the wish. */
static void arrive(void *context, lfpool_t *pool, void *object)
{
	struct wish *wish = context;

	(void)pool;
	wish->object = object;
	REQUIRE(atomic_exchange(&wish->state, object ? ARRIVED : REFUSED) == WAITING);
}

/* Fetches an object that arrived; asks, cancels, or keeps waiting. */
static void wish_for(struct member *me, bool may_ask)
{
	struct wish *wish = &me->wish[random_below(&me->r, WISHES)];
	const int state = atomic_load(&wish->state);

	if (state == ARRIVED)
		take(me, wish->object);
	REQUIRE(state != REFUSED || me->m->plan.refuses);
	if (state == WAITING) {
		if (random_below(&me->r, 4) || !lfpool_cancel(me->m->pool, wish->ticket))
			return;
		atomic_store(&wish->state, IDLE);
	} else if (state != IDLE || !may_ask) {
		atomic_store(&wish->state, IDLE);
	} else {
		lfpool_ticket_t ticket;

		atomic_store(&wish->state, WAITING);

		const lfpool_status_t status = lfpool_acquire_async(me->m->pool, arrive, wish, &ticket);

		wish->ticket = ticket;
		if (status == LFPOOL_OK)
			return;
		REQUIRE(status == LFPOOL_E_NO_MEMORY && me->m->plan.in_buffer);
		atomic_store(&wish->state, IDLE);
	}
}

/* ---- Resizing and waiting ---------------------------------------------------------------------------------- */

static void resize(struct member *me)
{
	lfpool_t *pool = me->m->pool;
	const size_t count = random_below(&me->r, 6);

	switch (random_below(&me->r, 7)) {
	case 0: (void)lfpool_grow(pool, count); break;
	case 1: (void)lfpool_reserve(pool, 1 + random_below(&me->r, (uint32_t)me->m->reserved)); break;
	case 2:
	case 3: REQUIRE(lfpool_shrink(pool, count) <= count); break;
	case 4: (void)lfpool_shrink_cancel(pool); break;
	case 5: (void)lfpool_trim(pool, count, 1); break;
	default: REQUIRE(lfpool_limit(pool, me->m->reserved) == LFPOOL_OK); break;
	}
	REQUIRE(lfpool_capacity(pool) <= me->m->reserved);
}

static void retire(struct member *me)
{
	const lfpool_scheme_t scheme = me->m->config.scheme;

	if (!scheme.begin && !scheme.ready)
		return;
	atomic_store(&me->m->ready, random_below(&me->r, 4) != 0);
	if (random_below(&me->r, 4)) {
		REQUIRE(lfpool_retire(me->m->pool, give(me)) == LFPOOL_OK);
	} else if (random_below(&me->r, 4)) {
		(void)lfpool_retire_poll(me->m->pool);
	} else {
		const lfpool_status_t status = lfpool_drain(me->m->pool);

		REQUIRE(status == LFPOOL_OK || status == LFPOOL_E_IN_SECTION);
	}
}

/* ---- Threads ----------------------------------------------------------------------------------------------- */

static void renew_cache(struct member *me)
{
	const struct model *m = me->m;

	lfpool_cache_destroy(me->cache);
	me->cache = m->plan.explicit_caches || !me->cache ? lfpool_cache_create(m->pool) : NULL;
	REQUIRE(me->cache || !m->plan.explicit_caches || m->plan.in_buffer);
}

static void ask(struct member *me)
{
	wish_for(me, true);
}

/* A member's actions, and how often of 256 times. */
static const struct {
	void (*run)(struct member *me);
	unsigned weight;
} doings[] = {{acquire, 80}, {release, 72}, {acquire_bulk, 8}, {release_bulk, 16},
	      {ask, 32},     {resize, 24},  {retire, 16},      {renew_cache, 8}};

static void step(struct member *me)
{
	unsigned drawn = random_below(&me->r, 256);
	size_t i = 0;

	while (drawn >= doings[i].weight)
		drawn -= doings[i++].weight;
	doings[i].run(me);
}

static void *run(void *member)
{
	struct member *me = member;

	row_thread(true, NULL);
	for (unsigned n = 0; n < STEPS; n++)
		step(me);
	row_thread(false, NULL);
	return NULL;
}

/* ---- At rest ----------------------------------------------------------------------------------------------- */

/* For all members: fetches objects that arrived, and counts held objects and waiters. */
static void count_all(size_t *held_out, size_t *waiting_out)
{
	*held_out = *waiting_out = 0;
	for (unsigned i = 0; i < THREADS; i++) {
		struct member *me = &members[i];

		for (unsigned k = 0; k < WISHES; k++) {
			struct wish *wish = &me->wish[k];

			if (atomic_load(&wish->state) == ARRIVED) {
				take(me, wish->object);
				atomic_store(&wish->state, IDLE);
			}
			*waiting_out += atomic_load(&wish->state) == WAITING;
		}
		*held_out += me->count;
	}
}

static void check_at_rest(const struct model *m)
{
	lfpool_stats_t s;
	size_t held, waiting;

	count_all(&held, &waiting);

	const char *damage = lfpool_check(m->pool, NULL);

	if (damage)
		fprintf(stderr, "lfpool_check: %s\n", damage);
	REQUIRE(!damage && lfpool_stats(m->pool, &s) == LFPOOL_OK);
	REQUIRE(s.unaccounted == 0 && s.active == held && s.waiting == waiting && s.misuses == 0);
	REQUIRE(s.active + s.retired + s.cached + s.shared + s.untouched == s.capacity);

	const size_t unheld = s.capacity - s.active - s.retired;

	/* Free objects complete a pending shrink first, and then go to waiters. */
	REQUIRE(s.owed <= s.capacity && (!s.owed || !unheld) && (!waiting || !unheld));
	REQUIRE(!waiting || s.owed || !m->config.growth_step || s.capacity >= s.max_capacity);
}

/* The model takes over the held objects and their number. */
static void hand_over(struct model *m)
{
	m->strange = true;
	for (unsigned i = 0; i < THREADS; i++) {
		struct member *me = &members[i];

		for (unsigned k = 0; k < WISHES; k++)
			REQUIRE(atomic_load(&me->wish[k].state) != WAITING ||
				lfpool_cancel(m->pool, me->wish[k].ticket));
		lfpool_cache_destroy(me->cache);
	}
	atomic_store(&m->ready, true);
	REQUIRE(lfpool_drain(m->pool) == LFPOOL_OK && lfpool_quick_stats(m->pool).retired == 0);
	atomic_store(&m->ready, false);
	m->capacity = lfpool_capacity(m->pool);
	m->maximum = lfpool_quick_stats(m->pool).max_capacity;
	m->owed = lfpool_quick_stats(m->pool).owed;
	for (unsigned i = 0; i < THREADS; i++) {
		struct member *me = &members[i];

		for (size_t k = 0; k < me->count; k++) {
			struct cell *cell = model_found(m, me->held[k].object);

			cell->stamp = me->held[k].stamp;
		}
	}
	model_check_contents(m);
	model_check_counts(m);
}

void crowd_run(struct model *m, uint64_t seed)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		struct member *me = &members[i];

		*me = (struct member){.m = m, .r = random_for(seed, i), .stamps = (uint64_t)(i + 1) << 48};
		if (m->plan.explicit_caches)
			me->cache = lfpool_cache_create(m->pool);
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < THREADS; i++)
			thread_start(&threads[i], run, &members[i]);
		for (unsigned i = 0; i < THREADS; i++)
			REQUIRE(pthread_join(threads[i], NULL) == 0);
		check_at_rest(m);
	}
	hand_over(m);
}
