/* SPDX-License-Identifier: MIT */
/* test: wrap=clock_gettime wrap=syscall wrap=backing_map wrap=cache_take wrap=os_wake wrap=os_heavy_fence */
/*
 * unit_turn.c - calls that wait keep their turn, and sleep until they were given something; with the clock of
 * own_time.h, so that what happens in which sleep is the test's choice.
 *
 * (Threads that do so at any moment: the programs wait-* of verify/explore.)
 */
#include "../support/kinds.h"
#include "../support/own_time.h"

#include "core/cells.h"
#include "pool/pool.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

enum { MOST = 8, LONG_MS = 4000 };
#define LONG_NS (INT64_C(1000000) * LONG_MS)
#define FOR_EVER INT64_C(-1)

/* For the functions that run while a call sleeps. */
static struct scene {
	lfpool_t *pool;
	void *held[MOST];
	unsigned before;    /* sleeps before this call                    */
	void *early, *late; /* what continuations were called with */
	struct cell *early_cell;
	uint64_t early_ticket; /* was drawn before the call's                */
	size_t waiting[3];     /* in the first sleeps                        */
	bool bad, refuses;     /* the next validate, or create, says false   */
	unsigned created, asked, activated;
} scene;

static void scene_open(lfpool_t *pool, size_t held)
{
	scene = (struct scene){.pool = pool};
	REQUIRE(lfpool_acquire_bulk(pool, scene.held, held) == held);
}

/* Which sleep of the call is this, from 1 on?  `sleeps` counts it. */
static unsigned nth_sleep(void)
{
	return sleeps - scene.before;
}

static lfpool_status_t wait_for(size_t count, int64_t timeout_ns, void **objects_out, void (*meanwhile)(void))
{
	scene.before = sleeps;
	in_sleep = meanwhile;
	const lfpool_status_t status = lfpool_acquire_bulk_wait(scene.pool, NULL, objects_out, count, timeout_ns);
	in_sleep = NULL;
	return status;
}

/* A continuation that keeps its object, in `*context`. */
static void keep(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	REQUIRE(!*(void **)context);
	*(void **)context = object;
}

static void give_back(size_t held)
{
	REQUIRE(lfpool_release(scene.pool, scene.held[held]) == LFPOOL_OK);
	scene.held[held] = NULL;
}

/* ---- A call that was given nothing sleeps ---- */

KIND_TEST(a_call_for_several_that_is_given_nothing_sleeps_once)
{
	for (size_t count = 1; count <= 3; count++)
		for (int behind = 0; behind < 2; behind++) {
			struct stage s;
			void *objects[3];

			stage_open(&s, kind, 4, 0);
			scene_open(s.pool, 4);
			if (behind)
				assert_int_equal(lfpool_acquire_async(s.pool, keep, &scene.early, NULL), LFPOOL_OK);
			assert_int_equal(wait_for(count, LONG_NS, objects, NULL), LFPOOL_E_EXHAUSTED);
			assert_int_equal(nth_sleep(), 1);
			release_all(s.pool, scene.held, 4);
			assert_true(!scene.early == !behind);
			assert_int_equal(lfpool_release(s.pool, scene.early), LFPOOL_OK);
			stage_close(&s);
		}
}

static void release_one_at_first(void)
{
	if (nth_sleep() == 1)
		give_back(0);
}

/* An earlier call may need its objects: one that took its ticket, and has not come into the queue yet. */
KIND_TEST(a_call_that_was_given_some_looks_every_millisecond)
{
	struct stage s;
	void *objects[2];

	stage_open(&s, kind, 4, 0);
	scene_open(s.pool, 4);
	assert_int_equal(wait_for(2, LONG_NS, objects, release_one_at_first), LFPOOL_E_EXHAUSTED);
	assert_in_range(nth_sleep(), LONG_MS - 10, LONG_MS + 10);
	/* It has given that back. */
	assert_non_null(scene.held[0] = lfpool_acquire(s.pool));
	release_all(s.pool, scene.held, 4);
	stage_close(&s);
}

/* ---- And keeps its turn ---- */

static void an_earlier_call_comes_late(void)
{
	struct waiters *d = &scene.pool->waiters;
	struct cell *cell;

	switch (nth_sleep()) {
	case 1: give_back(0); break;
	case 2:
		REQUIRE(cell = cell_claim(d));
		cell_enlist(d, cell, scene.early_ticket, keep, &scene.early);
		cells_shown(d);
		REQUIRE(lfpool_acquire_async(scene.pool, keep, &scene.late, NULL) == LFPOOL_OK);
		break;
	case 3:
		/* The call has given its object back, to the earlier one; and it comes before the later one. */
		REQUIRE(scene.early && !scene.late);
		give_back(1);
		REQUIRE(lfpool_release(scene.pool, scene.early) == LFPOOL_OK);
		REQUIRE(!scene.late);
		break;
	default: REQUIRE(false && "a call that has everything sleeps"); break;
	}
}

KIND_TEST(a_call_for_several_gives_way_and_keeps_its_ticket)
{
	struct stage s;
	void *objects[2];

	stage_open(&s, kind, 3, 0);
	scene_open(s.pool, 3);
	scene.early_ticket = cells_tickets(&s.pool->waiters, 1);
	assert_int_equal(wait_for(2, FOR_EVER, objects, an_earlier_call_comes_late), LFPOOL_OK);
	assert_int_equal(nth_sleep(), 3);
	assert_null(scene.late);
	release_all(s.pool, objects, 2);
	assert_non_null(scene.late);
	assert_int_equal(lfpool_release(s.pool, scene.late), LFPOOL_OK);
	assert_int_equal(lfpool_release(s.pool, scene.held[2]), LFPOOL_OK);
	stage_close(&s);
}

/* ---- And is found ---- */

static void (*at_fence)(void); /* runs once, at the next heavy fence */

void __wrap_os_heavy_fence(void);
void __real_os_heavy_fence(void);

void __wrap_os_heavy_fence(void)
{
	void (*const others)(void) = at_fence;

	at_fence = NULL;
	if (others)
		others();
	__real_os_heavy_fence();
}

/* A release by another thread.  It has looked at the queue before the call waited again, and its push becomes visible
 * only at the fence. */
static void a_push_becomes_visible(void)
{
	struct cache_head *cache = thread_cache(scene.pool);
	uint32_t slot;

	REQUIRE(pool_locate(scene.pool, scene.held[1], &slot) == LFPOOL_OK);
	REQUIRE(arena_leave_active(&scene.pool->core.arena, slot, false, GENERATION_RELEASED) == LEAVE_NOW);
	slots_put_ended(scene.pool, cache, slots_end(scene.pool, slot, scene.held[1]));
	scene.held[1] = NULL;
}

static void an_earlier_call_and_a_push_come_late(void)
{
	switch (nth_sleep()) {
	case 1: give_back(0); break;
	case 2:
		an_earlier_call_comes_late();
		at_fence = a_push_becomes_visible;
		break;
	/* The call has given its object to the earlier one, and got the other. */
	case 3:
		REQUIRE(scene.early && !scene.held[1] && !scene.late);
		give_back(2);
		break;
	default: REQUIRE(false && "a call that has everything sleeps"); break;
	}
}

TEST(a_call_that_waits_again_sees_a_push_that_missed_it)
{
	lfpool_t *pool = pool_of(SIZE, 3);
	void *objects[2];

	/* Only with membarrier(2) can a push be late: without it the release fences before it looks at the queue. */
	if (!pool->core.asymmetric) {
		REQUIRE(lfpool_destroy(pool) == 0);
		skip();
	}
	scene_open(pool, 3);
	scene.early_ticket = cells_tickets(&pool->waiters, 1);
	assert_int_equal(wait_for(2, FOR_EVER, objects, an_earlier_call_and_a_push_come_late), LFPOOL_OK);
	assert_int_equal(nth_sleep(), 3);
	release_all(pool, objects, 2);
	assert_int_equal(lfpool_release(pool, scene.late), LFPOOL_OK);
	assert_int_equal(lfpool_release(pool, scene.early), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* A continuation that releases all objects. */
static void release_the_rest(void *context, lfpool_t *pool, void *object)
{
	(void)context;
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	give_back(1);
	give_back(2);
}

static void one_is_released_and_a_continuation_queues(void)
{
	if (nth_sleep() != 1)
		return;
	give_back(0);
	REQUIRE(lfpool_acquire_async(scene.pool, release_the_rest, NULL, NULL) == LFPOOL_OK);
}

/* At its deadline the call puts back its one object, which goes to the continuation, and that makes all free. */
KIND_TEST(a_call_at_its_deadline_looks_once_more)
{
	struct stage s;
	void *objects[3];

	stage_open(&s, kind, 3, 0);
	scene_open(s.pool, 3);
	assert_int_equal(wait_for(3, 5 * 1000000, objects, one_is_released_and_a_continuation_queues), LFPOOL_OK);
	release_all(s.pool, objects, 3);
	stage_close(&s);
}

static void release_after_5_ms(void)
{
	clock_ns += 5000000;
	give_back(0);
}

static void close_after_1_ms(void)
{
	clock_ns += 1000000;
	REQUIRE(lfpool_close(scene.pool, 0) == 1);
}

static void assert_waited(const lfpool_t *pool, uint64_t waits, uint64_t timeouts, uint64_t ms, uint64_t longest_ms)
{
	enum { TICKS_NS = 1000 * TICK_NS };
	lfpool_stats_t stats;

	assert_int_equal(lfpool_stats(pool, &stats), LFPOOL_OK);
	assert_int_equal(stats.waits, waits);
	assert_int_equal(stats.timeouts, timeouts);
	assert_in_range(stats.wait_ns, ms * 1000000, ms * 1000000 + TICKS_NS);
	assert_in_range(stats.wait_ns_max, longest_ms * 1000000, longest_ms * 1000000 + TICKS_NS);
}

KIND_TEST(statistics_tell_how_long_calls_waited)
{
	struct stage s;
	void *object;

	stage_open(&s, kind, 1, 0);
	scene_open(s.pool, 1);
	assert_int_equal(wait_for(1, 0, &object, NULL), LFPOOL_E_EXHAUSTED);
	assert_waited(s.pool, 0, 0, 0, 0);
	assert_int_equal(wait_for(1, FOR_EVER, &object, release_after_5_ms), LFPOOL_OK);
	assert_waited(s.pool, 1, 0, 5, 5);
	assert_int_equal(wait_for(1, 3000000, &scene.held[0], NULL), LFPOOL_E_EXHAUSTED);
	assert_waited(s.pool, 2, 1, 8, 5);
	lfpool_high_water_reset(s.pool);
	assert_waited(s.pool, 2, 1, 8, 0);
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	stage_close(&s);
}

TEST(wait_that_closing_ends_is_no_timeout)
{
	lfpool_t *pool = pool_of(SIZE, 1);
	void *object;

	scene_open(pool, 1);
	assert_int_equal(wait_for(1, FOR_EVER, &object, close_after_1_ms), LFPOOL_E_CLOSED);
	assert_waited(pool, 1, 0, 1, 1);
	assert_int_equal(lfpool_release(pool, scene.held[0]), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* W14: a server has looked at the place of the call's first cell before that was enlisted, and finds the second. */
TEST(objects_are_given_in_the_order_of_cells)
{
	lfpool_t *pool = pool_of(SIZE, 2);
	struct waiters *d = &pool->waiters;
	struct cell *second, *others[CELL_LOT], *first;
	uint64_t word;

	scene_open(pool, 2);
	second = cell_claim(d);
	for (size_t i = 1; i < CELL_LOT; i++)
		others[i] = cell_claim(d);
	/* It is found through bounds, which this one does not lower. */
	first = cell_claim(d);
	const uint64_t ticket = cells_tickets(d, 2);

	store_relaxed(&first->word, cell_waiting(ticket));
	store_relaxed(&second->before, first->index + 1);
	cell_enlist(d, second, ticket + 1, NULL, this_thread());
	assert_ptr_equal(cells_oldest(d, &word), first);
	assert_int_equal(word, cell_waiting(ticket));
	/* That cell is another call's by now, or was given something. */
	store_relaxed(&first->word, cell_waiting(ticket + 2));
	assert_ptr_equal(cells_oldest(d, &word), second);
	assert_int_equal(word, cell_waiting(ticket + 1));
	store_relaxed(&first->word, cell_given(cell_waiting(ticket), SLOT_NONE));
	assert_ptr_equal(cells_oldest(d, &word), second);
	assert_int_equal(word, cell_waiting(ticket + 1));
	cell_unclaim(d, first);
	for (size_t i = 1; i < CELL_LOT; i++)
		cell_unclaim(d, others[i]);
	cell_vacate(d, second);
	release_all(pool, scene.held, 2);
	assert_int_equal(lfpool_destroy(pool), 0);
}

static bool create(void *context, void *object)
{
	(void)context;
	(void)object;
	scene.created++;
	const bool refuses = scene.refuses;
	scene.refuses = false;
	return !refuses;
}

static bool validate(void *context, void *object)
{
	(void)context;
	(void)object;
	const bool bad = scene.bad;
	scene.bad = false;
	return !bad;
}

/* In the last sleep the first object of the call is bad, and cannot be built anew. */
static void the_object_is_bad(void)
{
	const bool last = !scene.held[1] || nth_sleep() == 2;

	if (nth_sleep() == 1)
		REQUIRE(lfpool_acquire_async(scene.pool, keep, &scene.late, NULL) == LFPOOL_OK);
	scene.bad = scene.refuses = last;
	give_back(last ? 0 : 1);
	REQUIRE(!scene.late);
}

/* W15: the objects that are free afterwards go to the call, not to the one behind it. */
BACKEND_TEST(a_call_whose_object_is_bad_keeps_its_turn, LFPOOL_BACKEND_MUTEX)
{
	for (size_t count = 1; count <= 2; count++) {
		const lfpool_hooks_t hooks = {.create = create, .validate = validate};
		lfpool_t *pool = POOL_OF(SIZE, count, .backend = backend, .hooks = hooks);
		void *objects[2] = {NULL, NULL};

		scene_open(pool, count);
		assert_int_equal(wait_for(count, FOR_EVER, objects, the_object_is_bad), LFPOOL_OK);
		assert_int_equal(nth_sleep(), count);
		assert_null(scene.late);
		/* Once in vain. */
		assert_int_equal(scene.created, count + 2);
		release_all(pool, objects, count);
		assert_non_null(scene.late);
		assert_int_equal(lfpool_release(pool, scene.late), LFPOOL_OK);

		/* Objects that the call was given, and put back, do not count. */
		const lfpool_stats_t stats = stats_of(pool);

		assert_int_equal(stats.acquires, 2 * count + 1);
		assert_int_equal(stats.releases, 2 * count + 1);
		assert_int_equal(stats.unaccounted, 0);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

/* While it is asked about the first object of a call, a continuation comes that wants one; and the hook refuses. */
static bool activate(void *context, void *object)
{
	(void)context;
	(void)object;
	if (!scene.refuses)
		return true;
	scene.refuses = false;
	REQUIRE(lfpool_acquire_async(scene.pool, keep, &scene.late, NULL) == LFPOOL_OK);
	return false;
}

static void release_all_held(void)
{
	for (size_t i = 0; i < MOST; i++)
		if (scene.held[i])
			give_back(i);
	scene.refuses = true;
}

/* The objects that the call does not get are free: the continuation gets one at once. */
BACKEND_TEST(a_refusal_serves_the_next_in_the_queue, LFPOOL_BACKEND_MUTEX)
{
	for (size_t count = 1; count <= 3; count++)
		for (int waits = 0; waits < 2; waits++) {
			lfpool_t *pool = POOL_OF(SIZE, count, .backend = backend, .hooks = {.activate = activate});
			void *objects[3];

			scene_open(pool, count);
			if (!waits)
				release_all_held();
			/* The reason is asked for afterwards, when the continuation has the one object. */
			const lfpool_status_t expected = waits || count > 1 ? LFPOOL_E_REFUSED : LFPOOL_E_EXHAUSTED;

			assert_int_equal(wait_for(count, waits ? FOR_EVER : 0, objects, release_all_held), expected);
			assert_non_null(scene.late);
			assert_int_equal(lfpool_active_count(pool), 1);
			assert_int_equal(lfpool_release(pool, scene.late), LFPOOL_OK);
			assert_int_equal(lfpool_destroy(pool), 0);
		}
}

/* ---- Without cells ---- */

static void there_may_be_more(void)
{
	if (nth_sleep() == 2)
		REQUIRE(lfpool_limit(scene.pool, 40) == LFPOOL_OK);
}

static void the_pool_is_closed(void)
{
	if (nth_sleep() == 2)
		REQUIRE(lfpool_close(scene.pool, 0) == 1);
}

/* The system refuses memory for more cells than 16.  Such a call looks again and again. */
TEST(a_call_without_cells_grows_the_pool_and_sees_that_it_is_closed)
{
	enum { WANTED = 20 };
	lfpool_t *pool = POOL_OF(SIZE, 10, .max_capacity = 40, .growth_step = 1);
	void *objects[WANTED];

	scene_open(pool, 1);
	assert_int_equal(lfpool_limit(pool, 10), LFPOOL_OK);
	maps_nothing = true;
	assert_int_equal(wait_for(WANTED, 10 * 1000000, objects, NULL), LFPOOL_E_EXHAUSTED);
	assert_in_range(nth_sleep(), 9, 11);
	assert_int_equal(wait_for(WANTED, FOR_EVER, objects, there_may_be_more), LFPOOL_OK);
	assert_int_equal(nth_sleep(), 2);
	assert_int_equal(lfpool_capacity(pool), WANTED + 1);
	release_all(pool, objects, WANTED);
	assert_int_equal(lfpool_limit(pool, WANTED), LFPOOL_OK);
	assert_int_equal(lfpool_shrink(pool, 1), 1);
	assert_int_equal(wait_for(WANTED, LONG_NS, objects, the_pool_is_closed), LFPOOL_E_CLOSED);
	assert_int_equal(nth_sleep(), 2);
	maps_nothing = false;
	assert_int_equal(lfpool_release(pool, scene.held[0]), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- Statistics ---- */

static void count_waiting(void)
{
	if (nth_sleep() <= COUNT(scene.waiting))
		scene.waiting[nth_sleep() - 1] = stats_of(scene.pool).waiting;
	if (nth_sleep() == 1)
		give_back(0);
	if (nth_sleep() == 2)
		REQUIRE(lfpool_acquire_async(scene.pool, keep, &scene.late, NULL) == LFPOOL_OK);
}

KIND_TEST(a_call_for_several_counts_once_while_it_waits)
{
	struct stage s;
	void *objects[3];

	stage_open(&s, kind, 4, 0);
	scene_open(s.pool, 4);
	assert_int_equal(wait_for(3, LONG_NS, objects, count_waiting), LFPOOL_E_EXHAUSTED);
	assert_int_equal(scene.waiting[0], 1);
	assert_int_equal(scene.waiting[1], 1);
	assert_int_equal(scene.waiting[2], 2);
	assert_int_equal(stats_of(s.pool).waiting, 0);
	assert_non_null(scene.late);
	assert_int_equal(lfpool_release(s.pool, scene.late), LFPOOL_OK);
	release_all(s.pool, scene.held + 1, 3);
	stage_close(&s);
}

/* ---- A hook that asks for a wait ---- */

static bool wait_for_ever(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	(void)context;
	(void)pool;
	(void)attempt;
	scene.asked++;
	*wait_ns = FOR_EVER;
	return true;
}

static bool wait_a_little(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	(void)context;
	(void)pool;
	(void)attempt;
	scene.asked++;
	*wait_ns = 1000000;
	return true;
}

/* A wait that the hook asks for ends when the call's own does. */
TEST(hook_cannot_make_a_call_wait_beyond_its_deadline)
{
	static bool (*const hooks[])(void *, lfpool_t *, uint32_t, int64_t *) = {wait_for_ever, wait_a_little};

	for (size_t i = 0; i < COUNT(hooks); i++) {
		lfpool_t *pool = POOL_OF(SIZE, 2, .hooks = {.exhausted = hooks[i]});
		void *object;

		scene_open(pool, 2);
		for (int64_t ms = 1; ms <= 100; ms *= 10) {
			const uint64_t start = clock_ns;

			scene.asked = 0;
			assert_int_equal(wait_for(1, ms * 1000000, &object, NULL), LFPOOL_E_EXHAUSTED);
			assert_in_range(clock_ns - start, ms * 1000000, ms * 1000000 + ms * 2000);
			assert_in_range(scene.asked, 1, i == 0 ? 1 : ms);
		}
		release_all(pool, scene.held, 2);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

/* A call that has promised not to wait takes the request for `false`. */
TEST(hook_cannot_make_a_call_wait_that_promised_not_to)
{
	lfpool_t *pool = POOL_OF(SIZE, 3, .hooks = {.exhausted = wait_for_ever});
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	void *objects[3] = {NULL, NULL, NULL};

	scene_open(pool, 2);
	scene.before = sleeps;
	/* With an object in its hands a call must not wait for another: two such calls might wait for each other. */
	assert_int_equal(lfpool_acquire_bulk(pool, objects, 2), 1);
	assert_int_equal(lfpool_release(pool, objects[0]), LFPOOL_OK);
	assert_int_equal(lfpool_cache_acquire_bulk(cache, objects, 3), 1);
	assert_int_equal(scene.asked, 2);
	assert_null(lfpool_acquire_wait(pool, 0));
	assert_null(lfpool_cache_acquire_wait(cache, 0));
	assert_int_equal(lfpool_acquire_bulk_wait(pool, NULL, &objects[1], 1, 0), LFPOOL_E_EXHAUSTED);
	assert_int_equal(scene.asked, 5);
	assert_int_equal(lfpool_acquire_async(pool, keep, &scene.late, NULL), LFPOOL_OK);
	assert_int_equal(scene.asked, 6);
	assert_int_equal(nth_sleep(), 0);
	assert_null(scene.late);
	assert_int_equal(lfpool_release(pool, objects[0]), LFPOOL_OK);
	assert_int_equal(lfpool_release(pool, scene.late), LFPOOL_OK);
	lfpool_cache_destroy(cache);
	release_all(pool, scene.held, 2);
	assert_int_equal(lfpool_destroy(pool), 0);
}

static void release_the_first(void)
{
	give_back(0);
}

/* Where neither is so, it waits. */
TEST(hook_makes_other_calls_wait)
{
	lfpool_t *pool = POOL_OF(SIZE, 1, .hooks = {.exhausted = wait_for_ever});
	void *object;

	for (int bulk = 0; bulk < 2; bulk++) {
		scene_open(pool, 1);
		scene.before = sleeps;
		in_sleep = release_the_first;
		if (bulk)
			assert_int_equal(lfpool_acquire_bulk(pool, &object, 1), 1);
		else
			assert_non_null(object = lfpool_acquire(pool));
		in_sleep = NULL;
		assert_int_equal(nth_sleep(), 1);
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	}
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- A scheme that is asked ---- */

static bool ready(void *context, const lfpool_batch_t *batch)
{
	(void)batch;
	scene.asked++;
	return *(bool *)context;
}

static lfpool_t *pool_with_retired_object(bool *due)
{
	lfpool_t *pool = POOL_OF(SIZE, 2, .scheme = {.context = due, .ready = ready});

	scene_open(pool, 2);
	assert_int_equal(lfpool_retire(pool, scene.held[1]), LFPOOL_OK);
	scene.asked = 0;
	return pool;
}

/* The n-th in the queue asks every n milliseconds, up to 16. */
TEST(the_first_of_the_calls_that_wait_asks_most_often)
{
	static const unsigned in_front[] = {0, 1, 3, 15, 100};

	for (size_t i = 0; i < COUNT(in_front); i++) {
		bool due = false;
		lfpool_t *pool = pool_with_retired_object(&due);
		const unsigned pause = in_front[i] < 16 ? in_front[i] + 1 : 16;
		lfpool_ticket_t tickets[100];
		void *object;

		for (unsigned k = 0; k < in_front[i]; k++)
			assert_int_equal(lfpool_acquire_async(pool, keep, &scene.late, &tickets[k]), LFPOOL_OK);
		scene.asked = 0;
		assert_int_equal(wait_for(1, LONG_NS, &object, NULL), LFPOOL_E_EXHAUSTED);
		assert_in_range(scene.asked, LONG_MS / pause - 2, LONG_MS / pause + 10);
		for (unsigned k = 0; k < in_front[i]; k++)
			assert_true(lfpool_cancel(pool, tickets[k]));
		due = true;
		assert_int_equal(lfpool_release(pool, scene.held[0]), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

static bool now_due;

static void the_batch_is_due(void)
{
	now_due = nth_sleep() == 10;
}

TEST(close_asks_the_scheme)
{
	lfpool_t *pool = pool_with_retired_object(&now_due);

	assert_int_equal(lfpool_release(pool, scene.held[0]), LFPOOL_OK);
	assert_int_equal(lfpool_close(pool, 10 * 1000000), 1);
	assert_in_range(scene.asked, 9, 12);
	scene.before = sleeps;
	in_sleep = the_batch_is_due;
	assert_int_equal(lfpool_close(pool, FOR_EVER), 0);
	in_sleep = NULL;
	assert_in_range(nth_sleep(), 10, 11);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- A closing thread that stops ---- */

void __wrap_os_wake(_Atomic(uint64_t) *word);
void __real_os_wake(_Atomic(uint64_t) *word);

static bool closes, looks;
static unsigned woken_by_a_look;

/* The closing thread has told the call, and has not woken it yet.  An earlier call comes late, in `early_cell`, and
 * another call looks at the queue. */
void __wrap_os_wake(_Atomic(uint64_t) *word)
{
	struct waiters *d = &scene.pool->waiters;
	uint64_t unused;

	woken_by_a_look += looks;
	if (closes && !looks) {
		looks = true;
		cell_enlist(d, scene.early_cell, scene.early_ticket, keep, &scene.early);
		REQUIRE(cells_oldest(d, &unused) == scene.early_cell);
		store_relaxed(&scene.early_cell->word, CLAIMED);
		waiters_want(d, -UINT32_C(1));
		looks = false;
	}
	__real_os_wake(word);
}

static void another_thread_closes(void)
{
	closes = true;
	REQUIRE(lfpool_close(scene.pool, 0) == 1);
	closes = false;
}

/* W5, W12: also beyond the first lot. */
TEST(a_call_that_was_told_of_closing_is_woken_by_any_look)
{
	for (size_t others = 1; others <= CELL_LOT; others += CELL_LOT - 1) {
		lfpool_t *pool = pool_of(SIZE, 1);
		struct cell *cells[CELL_LOT];
		void *object;

		scene_open(pool, 1);
		for (size_t i = 0; i < others; i++)
			assert_non_null(cells[i] = cell_claim(&pool->waiters));
		scene.early_cell = cells[0];
		scene.early_ticket = cells_tickets(&pool->waiters, 1);
		woken_by_a_look = 0;
		assert_int_equal(wait_for(1, FOR_EVER, &object, another_thread_closes), LFPOOL_E_CLOSED);
		assert_int_equal(woken_by_a_look, 1);
		for (size_t i = 0; i < others; i++)
			cell_unclaim(&pool->waiters, cells[i]);
		assert_int_equal(lfpool_release(pool, scene.held[0]), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

/* ---- A wait inside a continuation ---- */

uint32_t __wrap_cache_take(struct cache *c, bool after_hit);
uint32_t __real_cache_take(struct cache *c, bool after_hit);

static bool others_release, others_allow_more;

static void *release_two(void *unused)
{
	(void)unused;
	give_back(0);
	give_back(1);
	return NULL;
}

static void *allow_more(void *unused)
{
	(void)unused;
	REQUIRE(lfpool_limit(scene.pool, 3) == LFPOOL_OK);
	return NULL;
}

/* Runs the function once, in another thread, if a call waits. */
static void by_others(bool *once, void *(*function)(void *))
{
	pthread_t thread;

	if (!*once || !lfpool_quick_stats(scene.pool).waiting)
		return;
	*once = false;
	REQUIRE(pthread_create(&thread, NULL, function, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

/* Between the nested call's look at its cell and its take; between a server's look at the capacity and its
 * take. */
uint32_t __wrap_cache_take(struct cache *c, bool after_hit)
{
	by_others(&others_release, release_two);
	by_others(&others_allow_more, allow_more);
	return __real_cache_take(c, after_hit);
}

static void wait_for_another(void *context, lfpool_t *pool, void *object)
{
	(void)context;
	others_release = true;
	REQUIRE(scene.late = lfpool_acquire_wait(pool, FOR_EVER));
	REQUIRE(!others_release && scene.late != object);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

/* It takes an object itself while another thread gives it one. */
TEST(a_nested_wait_loses_no_object)
{
	lfpool_t *pool = pool_of(SIZE, 3);

	scene_open(pool, 2);
	assert_int_equal(lfpool_acquire_async(pool, wait_for_another, NULL, NULL), LFPOOL_OK);
	assert_int_equal(lfpool_release(pool, scene.late), LFPOOL_OK);
	require_all_there(pool, SIZE);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- Other calls come between ---- */

/* While a call that waits searches, another thread makes the pool grow for it. */
TEST(a_growth_during_a_search_is_not_followed_by_another)
{
	lfpool_t *pool = POOL_OF(SIZE, 1, .max_capacity = 3, .growth_step = 1);
	void *object;

	scene_open(pool, 1);
	assert_int_equal(lfpool_limit(pool, 1), LFPOOL_OK);
	others_allow_more = true;
	assert_int_equal(wait_for(1, FOR_EVER, &object, NULL), LFPOOL_OK);
	assert_false(others_allow_more);
	assert_int_equal(lfpool_capacity(pool), 2);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_int_equal(lfpool_release(pool, scene.held[0]), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* The call has seen that its second cell waits, and looks at the clock.  Before it steps back for an earlier call, that
 * cell is given a slot too, and a search finds that nothing waits below its bounds. */
static void second_is_given_and_an_earlier_call_comes(void)
{
	struct waiters *d = &scene.pool->waiters;
	uint64_t word;

	give_back(1);
	REQUIRE(!cells_oldest(d, &word));
	cell_enlist(d, scene.early_cell, scene.early_ticket, keep, &scene.early);
	cells_shown(d);
}

static void the_first_is_given(void)
{
	if (nth_sleep() == 1) {
		give_back(0);
		at_next_look = second_is_given_and_an_earlier_call_comes;
	}
	/* The call has put both back.  One went to the earlier call, and one came back to its first cell. */
	if (nth_sleep() == 2) {
		REQUIRE(scene.early);
		give_back(2);
	}
}

/* Beyond the first lot, where a search goes by bounds. */
TEST(cells_that_wait_again_are_found)
{
	lfpool_t *pool = pool_of(SIZE, 3);
	struct cell *cells[CELL_LOT];
	void *objects[2];

	scene_open(pool, 3);
	for (size_t i = 0; i < CELL_LOT; i++)
		assert_non_null(cells[i] = cell_claim(&pool->waiters));
	scene.early_cell = cells[0];
	scene.early_ticket = cells_tickets(&pool->waiters, 1);
	assert_int_equal(wait_for(2, LONG_NS, objects, the_first_is_given), LFPOOL_OK);
	assert_int_equal(nth_sleep(), 2);
	release_all(pool, objects, 2);
	assert_int_equal(lfpool_release(pool, scene.early), LFPOOL_OK);
	/* The first cell is vacant already. */
	for (size_t i = 1; i < CELL_LOT; i++)
		cell_unclaim(&pool->waiters, cells[i]);
	assert_int_equal(lfpool_destroy(pool), 0);
}

RUN_TESTS()
