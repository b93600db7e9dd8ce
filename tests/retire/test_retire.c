/* SPDX-License-Identifier: MIT */
/*
 * test_retire.c - what lfpool/retire.h promises about a retired object: its use is over, but it is not free, and
 * nothing happens to it, until its batch is reclaimed.  On every kind of pool, with a scheme that is asked and one
 * that is not.
 */
#include "../support/scheme_stage.h"

enum { CAPACITY = 40, RETIRED = 15 };

static bool on_the_heap(const struct stage *s)
{
	return lfpool_backend(s->pool) == LFPOOL_BACKEND_MALLOC;
}

/* What every account says of `active` objects in use and `retired` ones. */
static void require_accounts(const struct stage *s, size_t active, size_t retired)
{
	const lfpool_stats_t stats = stats_of(s->pool);

	require_intact(s->pool);
	REQUIRE(lfpool_retired_count(s->pool) == retired);
	REQUIRE(lfpool_active_count(s->pool) == active + retired);
	REQUIRE(lfpool_available_count(s->pool) == lfpool_capacity(s->pool) - active - retired);
	REQUIRE(stats.active == active);
	REQUIRE(stats.retired == retired);
	REQUIRE(stats.unaccounted == 0);
	REQUIRE(stats.active + stats.retired + stats.cached + stats.shared + stats.untouched == stats.capacity);
}

/* ---- One object after the other ---- */

struct met {
	void *const *retired;
	size_t visits;
};

static bool meets_no_retired(void *context, void *object)
{
	struct met *met = context;

	for (size_t i = 0; i < RETIRED; i++)
		REQUIRE(object != met->retired[i]);
	met->visits++;
	return true;
}

static bool marks_none_active(void *context, void *object, bool active)
{
	return active ? meets_no_retired(context, object) : true;
}

/* objects[0 .. RETIRED - 1] are retired, the others active. */
static void require_out_of_sight(const struct stage *s, void **objects, const lfpool_handle_t *handles)
{
	void *copied[CAPACITY + 1];
	struct met met = {.retired = objects};
	lfpool_cursor_t cursor;

	for (size_t i = 0; i < CAPACITY; i++) {
		const bool active = i >= RETIRED;

		REQUIRE(lfpool_resolve(s->pool, handles[i]) == (active ? objects[i] : NULL));
		REQUIRE(lfpool_handle_of(s->pool, objects[i]) == (active ? handles[i] : 0));
		REQUIRE(lfpool_in_use(s->pool, objects[i]) == active);
		REQUIRE(lfpool_owns(s->pool, objects[i]));
		REQUIRE(mark_holds(objects[i], i));
	}
	REQUIRE(lfpool_for_each_active(s->pool, meets_no_retired, &met) == CAPACITY - RETIRED);
	met.visits = 0;
	(void)lfpool_for_each_slot(s->pool, marks_none_active, &met);
	/* There free slots have no memory, and nothing is visited. */
	REQUIRE(met.visits == (on_the_heap(s) ? 0 : CAPACITY - RETIRED));
	REQUIRE(lfpool_copy_active(s->pool, copied, CAPACITY + 1) == CAPACITY - RETIRED);
	for (size_t i = 0; i < CAPACITY - RETIRED; i++)
		(void)meets_no_retired(&met, copied[i]);
	lfpool_cursor_open(&cursor, s->pool);
	for (const void *object; (object = lfpool_cursor_next(&cursor));)
		for (size_t i = 0; i < RETIRED; i++)
			REQUIRE(object != objects[i]);
}

STAGED_TEST(a_retired_object_is_neither_in_use_nor_free, CAPACITY, 0)
{
	lfpool_handle_t handles[CAPACITY];
	void *objects[CAPACITY + 1], *again[RETIRED + 1];

	REQUIRE(acquire_all(s->pool, objects, CAPACITY + 1) == CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++) {
		mark_write(objects[i], i);
		REQUIRE(handles[i] = lfpool_handle_of(s->pool, objects[i]));
	}
	for (size_t i = 0; i < RETIRED; i++) {
		REQUIRE(lfpool_retire(s->pool, objects[i]) == LFPOOL_OK);
		require_accounts(s, CAPACITY - i - 1, i + 1);
	}
	REQUIRE(lfpool_retire(s->pool, NULL) == LFPOOL_OK);
	require_out_of_sight(s, objects, handles);
	REQUIRE(!lfpool_acquire(s->pool));
	REQUIRE(lfpool_acquire_bulk(s->pool, again, RETIRED) == 0);
	REQUIRE(!lfpool_acquire_wait(s->pool, 1000));
	/* Whoever asked, asked in vain. */
	require_out_of_sight(s, objects, handles);
	REQUIRE(s->deactivated == 0 && s->destroyed == 0);
	/* The first went alone, and the others together after it. */
	REQUIRE(fake_period(s->pool) == 1);
	require_accounts(s, CAPACITY - RETIRED, RETIRED - 1);
	REQUIRE(fake_period(s->pool) == 1);
	require_accounts(s, CAPACITY - RETIRED, 0);
	REQUIRE(fake_period(s->pool) == 0);
	REQUIRE(s->deactivated == (s->kind->hooks ? RETIRED : 0));
	for (size_t i = 0; i < RETIRED; i++)
		REQUIRE(!lfpool_in_use(s->pool, objects[i]));
	REQUIRE(acquire_all(s->pool, again, RETIRED + 1) == RETIRED);
	for (size_t i = 0; i < CAPACITY; i++)
		REQUIRE(lfpool_resolve(s->pool, handles[i]) == (i < RETIRED ? NULL : objects[i]));
	memcpy(objects, again, RETIRED * sizeof(*objects));
	REQUIRE(sort_disjoint(objects, CAPACITY, SIZE));
	release_all(s->pool, objects, CAPACITY);
}

/* Those that are active, and no others. */
STAGED_TEST(release_all_does_not_meet_them, CAPACITY, 0)
{
	void *objects[CAPACITY];

	REQUIRE(acquire_all(s->pool, objects, CAPACITY) == CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++)
		mark_write(objects[i], i);
	REQUIRE(lfpool_retire_bulk(s->pool, objects, RETIRED) == RETIRED);
	REQUIRE(lfpool_release_all(s->pool) == CAPACITY - RETIRED);
	REQUIRE(s->deactivated == (s->kind->hooks ? CAPACITY - RETIRED : 0));
	require_accounts(s, 0, RETIRED);
	for (size_t i = 0; i < RETIRED; i++)
		REQUIRE(mark_holds(objects[i], i));
	REQUIRE(lfpool_release_all(s->pool) == 0);
	REQUIRE(lfpool_retired_count(s->pool) == RETIRED);
	REQUIRE(fake_period(s->pool) == 1);
	require_accounts(s, 0, 0);
}

/* ---- Many at once ---- */

STAGED_TEST(bulk_passes_over_null, CAPACITY, 0)
{
	void *objects[CAPACITY], *given[2 * CAPACITY] = {NULL};

	REQUIRE(lfpool_retire_bulk(s->pool, given, 0) == 0);
	REQUIRE(lfpool_retire_bulk(s->pool, given, COUNT(given)) == 0);
	REQUIRE(fake.begun == 0);
	REQUIRE(acquire_all(s->pool, objects, CAPACITY) == CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++)
		given[2 * i + i % 2] = objects[i];
	REQUIRE(lfpool_retire_bulk(s->pool, given, COUNT(given)) == CAPACITY);
	/* One piece of one batch. */
	REQUIRE(fake.begun == 1);
	require_accounts(s, 0, CAPACITY);
	REQUIRE(!lfpool_acquire(s->pool));
	REQUIRE(fake_period(s->pool) == 1);
	require_accounts(s, 0, 0);
}

/* ---- A random life, against a model ---- */

/* With one thread there is one place: what is retired while nothing is with the scheme goes there, what is retired
 * meanwhile is next. */
enum state { FREE, HELD, WITH, NEXT };

struct life {
	struct stage *s;
	struct random random;
	void *object[CAPACITY]; /* by number, unless that is free */
	lfpool_handle_t handle[CAPACITY];
	enum state state[CAPACITY];
	size_t count[NEXT + 1]; /* in each state */
};

static size_t life_pick(struct life *l, enum state state)
{
	size_t i = random_below(&l->random, CAPACITY);

	while (l->state[i] != state)
		i = (i + 1) % CAPACITY;
	return i;
}

static void life_move(struct life *l, size_t number, enum state to)
{
	l->count[l->state[number]]--;
	l->count[to]++;
	l->state[number] = to;
}

static void life_acquire(struct life *l)
{
	void *object = lfpool_acquire(l->s->pool);

	/* NULL when all are in use or retired, else an object that is neither. */
	REQUIRE(!object == !l->count[FREE]);
	if (!object)
		return;
	for (size_t i = 0; i < CAPACITY; i++)
		REQUIRE(l->state[i] == FREE || l->object[i] != object);

	const size_t number = life_pick(l, FREE);

	l->object[number] = object;
	l->handle[number] = lfpool_handle_of(l->s->pool, object);
	REQUIRE(lfpool_resolve(l->s->pool, l->handle[number]) == object);
	mark_write(object, number);
	life_move(l, number, HELD);
}

static void life_release(struct life *l)
{
	if (!l->count[HELD])
		return;

	const size_t number = life_pick(l, HELD);

	REQUIRE(mark_holds(l->object[number], number));
	REQUIRE(lfpool_release(l->s->pool, l->object[number]) == LFPOOL_OK);
	REQUIRE(!lfpool_resolve(l->s->pool, l->handle[number]));
	life_move(l, number, FREE);
}

/* Up to `count`, by one call. */
static void life_retire(struct life *l, size_t count, bool bulk)
{
	const enum state to = l->count[WITH] ? NEXT : WITH;
	void *objects[8];

	count = count < l->count[HELD] ? count : l->count[HELD];
	for (size_t i = 0; i < count; i++) {
		const size_t number = life_pick(l, HELD);

		objects[i] = l->object[number];
		life_move(l, number, to);
	}
	if (bulk)
		REQUIRE(lfpool_retire_bulk(l->s->pool, objects, count) == count);
	else if (count)
		REQUIRE(lfpool_retire(l->s->pool, objects[0]) == LFPOOL_OK);
}

static void life_period(struct life *l)
{
	for (size_t i = 0; i < CAPACITY; i++)
		REQUIRE(l->state[i] == FREE || mark_holds(l->object[i], i));
	REQUIRE(fake_period(l->s->pool) == (l->count[WITH] ? 1 : 0));
	for (size_t i = 0; i < CAPACITY; i++) {
		if (l->state[i] != FREE)
			REQUIRE(!lfpool_resolve(l->s->pool, l->handle[i]) == (l->state[i] != HELD));
		if (l->state[i] == WITH)
			life_move(l, i, FREE);
		else if (l->state[i] == NEXT)
			life_move(l, i, WITH);
	}
}

STAGED_TEST(a_random_life, CAPACITY, 0)
{
	static uint64_t seed;

	if (!seed)
		seed = test_seed("retire");
	struct life l = {.s = s, .random = random_for(seed, fake.kind), .count = {[FREE] = CAPACITY}};

	for (int step = 0; step < TIMES(4000, 800); step++) {
		const uint32_t what = random_below(&l.random, 16);

		if (what < 8)
			life_acquire(&l);
		else if (what < 11)
			life_release(&l);
		else if (what < 15)
			life_retire(&l, what < 14 ? 1 : random_below(&l.random, 8), what == 14);
		else
			life_period(&l);
		if (step % 16 == 0)
			require_accounts(s, l.count[HELD], l.count[WITH] + l.count[NEXT]);
	}
	fake_end_all(s->pool);
	REQUIRE(lfpool_release_all(s->pool) == l.count[HELD]);
}

/* ---- At the end ---- */

/* Destroying the pool ends the grace periods first: deactivate, then destroy, for each. */
KIND_TEST(destroy_reclaims_first)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		void *objects[CAPACITY];
		struct stage s;

		scheme_stage_open(&s, kind, how, CAPACITY, 0);
		REQUIRE(acquire_all(s.pool, objects, CAPACITY) == CAPACITY);
		for (size_t i = 0; i < RETIRED; i++)
			REQUIRE(lfpool_retire(s.pool, objects[i]) == LFPOOL_OK);
		/* The malloc backend leaves alone what is active. */
		release_all(s.pool, objects + RETIRED, CAPACITY - RETIRED - 1);
		const size_t active = !on_the_heap(&s);

		if (!active)
			REQUIRE(lfpool_release(s.pool, objects[CAPACITY - 1]) == LFPOOL_OK);
		atomic_store(&fake.yes, true);
		REQUIRE(lfpool_destroy(s.pool) == active);
		REQUIRE(fake.begun == 2 && fake.ended == 2);
		REQUIRE(s.created == s.destroyed);
		REQUIRE(s.activated == s.deactivated);
		REQUIRE(s.findings == 0);
	}
}

RUN_TESTS()
