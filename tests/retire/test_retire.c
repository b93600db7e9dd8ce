/* SPDX-License-Identifier: MIT */
/*
 * test_retire.c - what lfpool/retire.h promises about a retired object: its use is over, but it is not free, and
 * nothing happens to it, until its batch is reclaimed.  On every kind of pool, with a scheme that is asked and one
 * that is not.
 */
#include "../support/kinds.h"
#include "../support/schemes.h"

enum { CAPACITY = 40, RETIRED = 15 };

static struct fake fake;

static void open_with(struct stage *s, const struct kind *kind, enum scheme_kind how, size_t capacity)
{
	lfpool_config_t config = stage_config(s, kind, capacity, 0);

	config.scheme = fake_scheme(&fake, how);
	s->pool = pool_with(&config);
}

static bool cannot_tell(const struct stage *s)
{
	return lfpool_backend(s->pool) == LFPOOL_BACKEND_MALLOC;
}

/* What every account says of `active` objects in use and `retired` ones. */
static void require_accounts(const struct stage *s, size_t active, size_t retired)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	require_intact(s->pool);
	REQUIRE(lfpool_retired_count(s->pool) == retired);
	REQUIRE(lfpool_active_count(s->pool) == active + retired);
	REQUIRE(lfpool_available_count(s->pool) == lfpool_capacity(s->pool) - active - retired);
	REQUIRE(lfpool_stats(s->pool, &stats) == LFPOOL_OK);
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
		REQUIRE(lfpool_in_use(s->pool, objects[i]) == (active || cannot_tell(s)));
		REQUIRE(lfpool_owns(s->pool, objects[i]));
		REQUIRE(mark_holds(objects[i], i));
	}
	REQUIRE(lfpool_for_each_active(s->pool, meets_no_retired, &met) == CAPACITY - RETIRED);
	met.visits = 0;
	(void)lfpool_for_each_slot(s->pool, marks_none_active, &met);
	/* There free slots have no memory, and nothing is visited. */
	REQUIRE(met.visits == (cannot_tell(s) ? 0 : CAPACITY - RETIRED));
	REQUIRE(lfpool_copy_active(s->pool, copied, CAPACITY + 1) == CAPACITY - RETIRED);
	for (size_t i = 0; i < CAPACITY - RETIRED; i++)
		(void)meets_no_retired(&met, copied[i]);
	lfpool_cursor_open(&cursor, s->pool);
	for (const void *object; (object = lfpool_cursor_next(&cursor));)
		for (size_t i = 0; i < RETIRED; i++)
			REQUIRE(object != objects[i]);
}

static void retire_on(const struct kind *kind, enum scheme_kind how)
{
	lfpool_handle_t handles[CAPACITY];
	void *objects[CAPACITY + 1], *again[RETIRED + 1];
	struct stage s;

	open_with(&s, kind, how, CAPACITY);
	REQUIRE(acquire_all(s.pool, objects, CAPACITY + 1) == CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++) {
		mark_write(objects[i], i);
		REQUIRE(handles[i] = lfpool_handle_of(s.pool, objects[i]));
	}
	for (size_t i = 0; i < RETIRED; i++) {
		REQUIRE(lfpool_retire(s.pool, objects[i]) == LFPOOL_OK);
		require_accounts(&s, CAPACITY - i - 1, i + 1);
	}
	REQUIRE(lfpool_retire(s.pool, NULL) == LFPOOL_OK);
	require_out_of_sight(&s, objects, handles);
	REQUIRE(!lfpool_acquire(s.pool));
	REQUIRE(lfpool_acquire_bulk(s.pool, again, RETIRED) == 0);
	REQUIRE(!lfpool_acquire_wait(s.pool, 1000));
	/* Whoever asked, asked in vain. */
	require_out_of_sight(&s, objects, handles);
	REQUIRE(s.deactivated == 0 && s.destroyed == 0);
	/* The first went alone, and the others together after it. */
	REQUIRE(fake_period(&fake, s.pool) == 1);
	require_accounts(&s, CAPACITY - RETIRED, RETIRED - 1);
	REQUIRE(fake_period(&fake, s.pool) == 1);
	require_accounts(&s, CAPACITY - RETIRED, 0);
	REQUIRE(fake_period(&fake, s.pool) == 0);
	REQUIRE(s.deactivated == (kind->hooks ? RETIRED : 0));
	if (!cannot_tell(&s))
		for (size_t i = 0; i < RETIRED; i++)
			REQUIRE(!lfpool_in_use(s.pool, objects[i]));
	REQUIRE(acquire_all(s.pool, again, RETIRED + 1) == RETIRED);
	for (size_t i = 0; i < CAPACITY; i++)
		REQUIRE(lfpool_resolve(s.pool, handles[i]) == (i < RETIRED ? NULL : objects[i]));
	memcpy(objects, again, RETIRED * sizeof(*objects));
	REQUIRE(sort_disjoint(objects, CAPACITY, SIZE));
	release_all(s.pool, objects, CAPACITY);
	stage_close(&s);
}

static void retire_with_both(const struct kind *kind)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++)
		retire_on(kind, how);
}

TEST(a_retired_object_is_neither_in_use_nor_free)
{
	on_every_kind(retire_with_both);
}

/* Those that are active, and no others. */
static void release_all_on(const struct kind *kind)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		void *objects[CAPACITY];
		struct stage s;

		open_with(&s, kind, how, CAPACITY);
		REQUIRE(acquire_all(s.pool, objects, CAPACITY) == CAPACITY);
		for (size_t i = 0; i < CAPACITY; i++)
			mark_write(objects[i], i);
		REQUIRE(lfpool_retire_bulk(s.pool, objects, RETIRED) == RETIRED);
		REQUIRE(lfpool_release_all(s.pool) == CAPACITY - RETIRED);
		REQUIRE(s.deactivated == (kind->hooks ? CAPACITY - RETIRED : 0));
		require_accounts(&s, 0, RETIRED);
		for (size_t i = 0; i < RETIRED; i++)
			REQUIRE(mark_holds(objects[i], i));
		REQUIRE(lfpool_release_all(s.pool) == 0);
		REQUIRE(lfpool_retired_count(s.pool) == RETIRED);
		REQUIRE(fake_period(&fake, s.pool) == 1);
		require_accounts(&s, 0, 0);
		stage_close(&s);
	}
}

TEST(release_all_does_not_meet_them)
{
	on_every_kind(release_all_on);
}

/* ---- Many at once ---- */

static void bulk_on(const struct kind *kind)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		void *objects[CAPACITY], *given[2 * CAPACITY] = {NULL};
		struct stage s;

		open_with(&s, kind, how, CAPACITY);
		REQUIRE(lfpool_retire_bulk(s.pool, given, 0) == 0);
		REQUIRE(lfpool_retire_bulk(s.pool, given, COUNT(given)) == 0);
		REQUIRE(fake.begun == 0);
		REQUIRE(acquire_all(s.pool, objects, CAPACITY) == CAPACITY);
		for (size_t i = 0; i < CAPACITY; i++)
			given[2 * i + i % 2] = objects[i];
		REQUIRE(lfpool_retire_bulk(s.pool, given, COUNT(given)) == CAPACITY);
		/* One piece of one batch. */
		REQUIRE(fake.begun == 1);
		require_accounts(&s, 0, CAPACITY);
		REQUIRE(!lfpool_acquire(s.pool));
		REQUIRE(fake_period(&fake, s.pool) == 1);
		require_accounts(&s, 0, 0);
		stage_close(&s);
	}
}

TEST(bulk_passes_over_null)
{
	on_every_kind(bulk_on);
}

/* ---- A random life, against a model ---- */

/* With one thread there is one place: what is retired while nothing is with the scheme goes there, what is retired
 * meanwhile is next. */
enum state { FREE, HELD, WITH, NEXT };

struct life {
	struct stage s;
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
	void *object = lfpool_acquire(l->s.pool);

	/* NULL when all are in use or retired, else an object that is neither. */
	REQUIRE(!object == !l->count[FREE]);
	if (!object)
		return;
	for (size_t i = 0; i < CAPACITY; i++)
		REQUIRE(l->state[i] == FREE || l->object[i] != object);

	const size_t number = life_pick(l, FREE);

	l->object[number] = object;
	l->handle[number] = lfpool_handle_of(l->s.pool, object);
	REQUIRE(lfpool_resolve(l->s.pool, l->handle[number]) == object);
	mark_write(object, number);
	life_move(l, number, HELD);
}

static void life_release(struct life *l)
{
	if (!l->count[HELD])
		return;

	const size_t number = life_pick(l, HELD);

	REQUIRE(mark_holds(l->object[number], number));
	REQUIRE(lfpool_release(l->s.pool, l->object[number]) == LFPOOL_OK);
	REQUIRE(!lfpool_resolve(l->s.pool, l->handle[number]));
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
		REQUIRE(lfpool_retire_bulk(l->s.pool, objects, count) == count);
	else if (count)
		REQUIRE(lfpool_retire(l->s.pool, objects[0]) == LFPOOL_OK);
}

static void life_period(struct life *l)
{
	for (size_t i = 0; i < CAPACITY; i++)
		REQUIRE(l->state[i] == FREE || mark_holds(l->object[i], i));
	REQUIRE(fake_period(&fake, l->s.pool) == (l->count[WITH] ? 1 : 0));
	for (size_t i = 0; i < CAPACITY; i++) {
		if (l->state[i] != FREE)
			REQUIRE(!lfpool_resolve(l->s.pool, l->handle[i]) == (l->state[i] != HELD));
		if (l->state[i] == WITH)
			life_move(l, i, FREE);
		else if (l->state[i] == NEXT)
			life_move(l, i, WITH);
	}
}

static void live_on(const struct kind *kind)
{
	static uint64_t seed;

	if (!seed)
		seed = test_seed("retire");
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		struct life l = {.random = random_for(seed, how), .count = {[FREE] = CAPACITY}};

		open_with(&l.s, kind, how, CAPACITY);
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
				require_accounts(&l.s, l.count[HELD], l.count[WITH] + l.count[NEXT]);
		}
		fake_end_all(&fake, l.s.pool);
		REQUIRE(lfpool_release_all(l.s.pool) == l.count[HELD]);
		stage_close(&l.s);
	}
}

TEST(a_random_life)
{
	on_every_kind(live_on);
}

/* ---- At the end ---- */

/* Destroying the pool ends the grace periods first: deactivate, then destroy, for each. */
static void destroy_on(const struct kind *kind)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		void *objects[CAPACITY];
		struct stage s;

		open_with(&s, kind, how, CAPACITY);
		REQUIRE(acquire_all(s.pool, objects, CAPACITY) == CAPACITY);
		for (size_t i = 0; i < RETIRED; i++)
			REQUIRE(lfpool_retire(s.pool, objects[i]) == LFPOOL_OK);
		/* The malloc backend leaves alone what is active. */
		release_all(s.pool, objects + RETIRED, CAPACITY - RETIRED - 1);
		const size_t active = !cannot_tell(&s);

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

TEST(destroy_reclaims_first)
{
	on_every_kind(destroy_on);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIND_TEST(a_retired_object_is_neither_in_use_nor_free),
		KIND_TEST(release_all_does_not_meet_them),
		KIND_TEST(bulk_passes_over_null),
		KIND_TEST(a_random_life),
		KIND_TEST(destroy_reclaims_first),
	};

	return cmocka_run_group_tests_name("retire", tests, NULL, NULL);
}
