/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_priority_look.c - looking at objects while others come and go: without a pin, as the header's comment says how, and
 * by walks.
 *
 * Idea         An object says twice which handle it belongs to.  Who looks at it without a pin may well read what a
 *              newcomer is just writing; what he reads must be right only if the handle is active afterwards, and then
 *              it must be.
 */
#include "../support/priority_support.h"

#include <sched.h>
#include <stdatomic.h>

enum { BOARD = 16, WRITERS = 2, READERS = 2, REPLACED = 200000, KEPT = 40, WALKS = 1500 };

struct voice {
	_Atomic(uint64_t) handle, twice; /* handle, and 2 * handle + level */
	_Atomic(uint32_t) level;
};

struct stage {
	lfpool_priority_t *pool;
	_Atomic(lfpool_handle_t) board[BOARD];
	_Atomic(unsigned) playing; /* writers that have not come to their end */
	_Atomic(uint64_t) seen, gone, walked;
	lfpool_handle_t kept[KEPT];
};

struct player {
	struct stage *stage;
	struct random random;
	void *(*act)(void *);
};

/* Stores with release, as is asked of what is looked at without a pin. */
static void write_voice(struct voice *v, lfpool_handle_t handle, uint32_t level)
{
	atomic_store_explicit(&v->handle, handle, memory_order_release);
	atomic_store_explicit(&v->level, level, memory_order_release);
	atomic_store_explicit(&v->twice, 2 * handle + level, memory_order_release);
}

static void *play(void *argument)
{
	struct player *p = argument;
	struct stage *s = p->stage;

	for (int i = 0; i < TIMES(REPLACED, REPLACED / 15); i++) {
		_Atomic(lfpool_handle_t) *const place = &s->board[random_below(&p->random, BOARD)];
		lfpool_handle_t handle;
		struct voice *v = lfpool_priority_acquire(s->pool, 1 + random_below(&p->random, 2), NULL, &handle);

		if (v) {
			write_voice(v, handle, random_below(&p->random, 1000));
			REQUIRE(lfpool_priority_publish(s->pool, handle) == LFPOOL_OK);
			handle = atomic_exchange(place, handle);
		} else {
			handle = atomic_load(place);
		}
		if (random_below(&p->random, 3) == 0)
			(void)lfpool_priority_release(s->pool, handle);
	}
	atomic_fetch_sub(&s->playing, 1);
	return NULL;
}

/* True if the handle was active until the end. */
static bool look_once(struct stage *s, lfpool_handle_t handle)
{
	struct voice *v = lfpool_priority_look(s->pool, handle);

	if (!v)
		return false;

	const uint64_t name = atomic_load_explicit(&v->handle, memory_order_acquire);
	const uint64_t twice = atomic_load_explicit(&v->twice, memory_order_acquire);
	const uint32_t level = atomic_load_explicit(&v->level, memory_order_acquire);

	if (!lfpool_priority_is_active(s->pool, handle))
		return false;
	REQUIRE(name == handle && twice == 2 * handle + level);
	return true;
}

static void *watch(void *argument)
{
	struct player *p = argument;
	struct stage *s = p->stage;
	uint64_t seen = 0, gone = 0;

	while (atomic_load(&s->playing)) {
		const lfpool_handle_t handle = atomic_load(&s->board[random_below(&p->random, BOARD)]);

		if (look_once(s, handle))
			seen++;
		else
			gone++;
	}
	atomic_fetch_add(&s->seen, seen);
	atomic_fetch_add(&s->gone, gone);
	return NULL;
}

/* An equal one gives way: so the oldest goes, and the last ones are on the board. */
static void open_stage(struct stage *s, size_t capacity)
{
	memset(s, 0, sizeof(*s));
	s->pool = PRIORITY_WITH(.object_size = sizeof(struct voice), .capacity = capacity, .flags = LFPOOL_EVICT_EQUAL);
	s->playing = WRITERS;
}

static void *act(void *player)
{
	return ((struct player *)player)->act(player);
}

/* WRITERS that play, and READERS that do something else. */
static void perform(struct stage *s, void *(*read)(void *), uint64_t seed)
{
	struct player players[WRITERS + READERS];

	for (unsigned i = 0; i < COUNT(players); i++)
		players[i] = (struct player){.stage = s, .random = random_for(seed, i), .act = i < WRITERS ? play : read};
	threads_run(COUNT(players), act, players, sizeof(players[0]));
}

TEST(what_is_read_without_a_pin_is_right_if_the_handle_still_is)
{
	static const size_t capacities[] = {1, 3, BOARD};
	const uint64_t seed = test_seed("what_is_read_without_a_pin_is_right_if_the_handle_still_is");
	static struct stage s;

	for (size_t i = 0; i < COUNT(capacities); i++) {
		open_stage(&s, capacities[i]);
		perform(&s, watch, seed + i);
		print_message("%zu objects: %llu times seen, %llu times gone\n", capacities[i], (unsigned long long)s.seen,
			      (unsigned long long)s.gone);
		(void)lfpool_priority_release_min(s.pool, BOARD);
		priority_close(s.pool, sizeof(struct voice));
	}
}

/* ---- Walks ---- */

struct walk {
	struct stage *stage;
	struct random *random;
	lfpool_handle_t visited[KEPT + BOARD];
	size_t count, kept;
};

/* Objects of one walk are told apart by their handles; while one is visited it may be released, but not be evicted. */
static bool visit(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct walk *w = context;
	struct voice *v = object;
	const lfpool_priority_t *pool = w->stage->pool;

	REQUIRE(w->count < COUNT(w->visited));
	w->visited[w->count++] = handle;
	w->kept += priority == UINT64_MAX;
	for (int i = 0; i < 2; i++) {
		REQUIRE(atomic_load(&v->handle) == handle);
		REQUIRE(atomic_load(&v->twice) == 2 * handle + atomic_load(&v->level));
		REQUIRE(priority == UINT64_MAX || (priority >= 1 && priority <= 2));
		REQUIRE(!lfpool_priority_look(pool, handle) || lfpool_priority_look(pool, handle) == object ||
			!lfpool_priority_is_active(pool, handle));
		if (random_below(w->random, 64) == 0)
			sched_yield();
	}
	if (priority != UINT64_MAX && random_below(w->random, 16) == 0)
		(void)lfpool_priority_release(w->stage->pool, handle);
	return true;
}

static int compare_handles(const void *a, const void *b)
{
	const lfpool_handle_t x = *(const lfpool_handle_t *)a, y = *(const lfpool_handle_t *)b;

	return (x > y) - (x < y);
}

static void *walk(void *argument)
{
	struct player *p = argument;
	struct stage *s = p->stage;

	for (int round = 0; atomic_load(&s->playing) || round < TIMES(WALKS, WALKS / 10); round++) {
		struct walk w = {.stage = s, .random = &p->random};

		REQUIRE(lfpool_priority_for_each(s->pool, visit, &w) == w.count && w.kept == KEPT);
		qsort(w.visited, w.count, sizeof(*w.visited), compare_handles);
		for (size_t i = 1; i < w.count; i++)
			REQUIRE(w.visited[i] != w.visited[i - 1]);
		for (size_t i = 0; i < KEPT; i++)
			REQUIRE(bsearch(&s->kept[i], w.visited, w.count, sizeof(*w.visited), compare_handles));
		atomic_fetch_add(&s->walked, w.count);
	}
	return NULL;
}

TEST(walks_beside_all_that)
{
	const uint64_t seed = test_seed("walks_beside_all_that");
	static struct stage s;

	open_stage(&s, KEPT + BOARD);
	for (size_t i = 0; i < KEPT; i++) {
		struct voice *v = lfpool_priority_acquire(s.pool, UINT64_MAX, NULL, &s.kept[i]);

		REQUIRE(v);
		write_voice(v, s.kept[i], 7);
		REQUIRE(lfpool_priority_publish(s.pool, s.kept[i]) == LFPOOL_OK);
	}
	perform(&s, walk, seed);
	print_message("%llu visits\n", (unsigned long long)s.walked);
	for (size_t i = 0; i < KEPT; i++) {
		/* No walk has left a pin. */
		assert_int_equal(lfpool_priority_unpin(s.pool, s.kept[i]), LFPOOL_E_NOT_PINNED);
		assert_int_equal(lfpool_priority_release(s.pool, s.kept[i]), LFPOOL_OK);
	}
	(void)lfpool_priority_release_min(s.pool, BOARD);
	priority_close(s.pool, sizeof(struct voice));
}

RUN_TESTS()
