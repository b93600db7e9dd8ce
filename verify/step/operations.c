/* SPDX-License-Identifier: MIT */
/*
 * operations.c - the operations that are stopped at every instruction, and how a pool is prepared for each.
 *
 * Idea         With magazines of four slots (cache_capacity 8) the state after a few acquires and releases on one
 *              thread is exact.  A fresh cache's first four acquires carve a chunk: its magazine becomes `current`,
 *              the one the cache was born with `previous`.  The next chunk's magazine sends the emptied one to the
 *              depot.  So after 8 acquires: current empty, previous empty; and from there releases fill them.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "lfpool/inline.h"
#include "prepare.h"
#include "stepper.h"

#define EMPTY_IN_DEPOT 10 /* magazines, after two caches were born and one carved all and was given up */

/* ---- Preparations: `mine` and `other` are there, and have been used by nobody ---- */

void prepare_fresh(struct scene *s)
{
	s->wanted = 1;
}

/* current 2 of 4 */
void prepare_hit(struct scene *s)
{
	take(s, s->mine, 2);
	s->wanted = 1;
}

/* The older one of two, so that the entry it is to be written to says something else. */
static void hand_over_older(struct scene *s)
{
	s->given[s->given_count++] = s->held[0];
	s->held[0] = s->held[--s->held_count];
}

void prepare_release_hit(struct scene *s)
{
	take(s, s->mine, 2);
	hand_over_older(s);
}

/* The thread's own cache: the victim attaches here, so the operation is not its first call. */
static void prepare_thread_hit(struct scene *s)
{
	take(s, NULL, 2);
	s->wanted = 1;
}

static void prepare_thread_release_hit(struct scene *s)
{
	take(s, NULL, 2);
	hand_over_older(s);
}

/* current 1 of 4 */
static void prepare_last(struct scene *s)
{
	take(s, s->mine, 3);
	s->wanted = 1;
}

/* current empty, previous full */
static void prepare_swap_back(struct scene *s)
{
	take(s, s->mine, 2 * EACH);
	give(s, s->mine, 2 * EACH);
	take(s, s->mine, EACH);
	s->wanted = 1;
}

/* The depot has a full magazine. */
static void prepare_full(struct scene *s)
{
	take(s, s->other, EACH);
	give(s, s->other, EACH);
	lfpool_cache_destroy(s->other);
	s->other = lfpool_cache_create(s->pool);
	s->wanted = 1;
}

/* The depot has a magazine with two objects. */
static void prepare_partial(struct scene *s)
{
	take(s, s->other, EACH);
	give(s, s->other, 2);
	lfpool_cache_destroy(s->other);
	s->other = lfpool_cache_create(s->pool);
	s->wanted = 1;
}

/* current empty, previous an empty one already */
static void prepare_carve(struct scene *s)
{
	take(s, s->mine, EACH);
	s->wanted = 1;
}

/* Nothing but three objects in another cache's current. */
static void prepare_steal(struct scene *s)
{
	take(s, s->other, lfpool_capacity(s->pool));
	give(s, s->other, 3);
	s->wanted = 1;
}

/* Nothing but another cache's two full magazines. */
static void prepare_rob(struct scene *s)
{
	take(s, s->other, lfpool_capacity(s->pool));
	give(s, s->other, 2 * EACH);
	s->wanted = 1;
}

void prepare_exhausted(struct scene *s)
{
	take(s, s->other, lfpool_capacity(s->pool));
	s->wanted = 1;
}

/* This cache has said "nothing" before. */
static void prepare_exhausted_again(struct scene *s)
{
	prepare_exhausted(s);
	(void)lfpool_cache_acquire(s->mine);
}

/* current full, previous empty */
static void prepare_swap_over(struct scene *s)
{
	take(s, s->mine, 2 * EACH);
	give(s, s->mine, EACH);
	hand_over(s, 1);
}

/* current full, previous full: of nine acquired three are left in the third chunk, and the release fills both */
static void prepare_drain(struct scene *s)
{
	take(s, s->mine, 2 * EACH + 1);
	give(s, s->mine, EACH + 1);
	hand_over(s, 1);
}

/* current full, no previous: the magazine that the cache was born with has been filled */
static void prepare_no_previous(struct scene *s)
{
	take(s, s->other, EACH + 1);
	give(s, s->mine, EACH);
	hand_over(s, 1);
}

/*
 * current full, no previous, and no empty magazine in the depot.  Each cache that is given up with one object sends
 * one magazine from the empty stack to the partial one.
 */
static void prepare_partial_room(struct scene *s)
{
	take(s, s->other, 4 * EACH);
	give(s, s->mine, EACH);
	hand_over(s, 1);
	for (int i = 0; i < EMPTY_IN_DEPOT; i++) {
		give(s, s->other, 1);
		lfpool_cache_destroy(s->other);
		s->other = lfpool_cache_create(s->pool);
	}
}

/* Six objects, over the end of a magazine. */
void prepare_bulk_acquire(struct scene *s)
{
	take(s, NULL, 2);
	s->wanted = 6;
}

static void prepare_bulk_release(struct scene *s)
{
	take(s, NULL, 8);
	hand_over(s, 6);
}

static void prepare_create(struct scene *s)
{
	take(s, s->other, 3);
}

/* As many caches as the first lot has room for: the next one maps a lot. */
static void prepare_create_lot(struct scene *s)
{
	for (int i = 0; i < 10; i++)
		(void)lfpool_cache_create(s->pool);
}

static void prepare_create_again(struct scene *s)
{
	take(s, s->other, 3);
	lfpool_cache_destroy(s->mine);
	s->mine = NULL;
}

/* current 2 of 4, previous full */
static void prepare_destroy(struct scene *s)
{
	take(s, s->mine, 2 * EACH);
	give(s, s->mine, EACH + 2);
}

/* Calls that borrow a cache: objects lie in the few caches for calls. */
static void prepare_borrowed(struct scene *s)
{
	take(s, NULL, 3);
	give(s, NULL, 1);
	s->wanted = 1;
}

static void prepare_borrowed_release(struct scene *s)
{
	take(s, NULL, 3);
	hand_over(s, 1);
}

/* ---- Operations ---- */

__attribute__((noinline)) void acquire_inlined(struct scene *s)
{
	STEP_BEGIN();
	s->got[0] = lfpool_cache_acquire_inline(s->mine);
	STEP_END();
}

__attribute__((noinline)) void release_inlined(struct scene *s)
{
	STEP_BEGIN();
	s->released = lfpool_cache_release_inline(s->mine, s->given[0]) == LFPOOL_OK;
	STEP_END();
}

void acquire_through_cache(struct scene *s)
{
	STEP_BEGIN();
	s->got[0] = lfpool_cache_acquire(s->mine);
	STEP_END();
}

void release_through_cache(struct scene *s)
{
	STEP_BEGIN();
	s->released = lfpool_cache_release(s->mine, s->given[0]) == LFPOOL_OK;
	STEP_END();
}

static void acquire(struct scene *s)
{
	STEP_BEGIN();
	s->got[0] = lfpool_acquire(s->pool);
	STEP_END();
}

static void release(struct scene *s)
{
	STEP_BEGIN();
	s->released = lfpool_release(s->pool, s->given[0]) == LFPOOL_OK;
	STEP_END();
}

void acquire_bulk(struct scene *s)
{
	STEP_BEGIN();
	(void)lfpool_acquire_bulk(s->pool, s->got, s->wanted);
	STEP_END();
}

static void release_bulk(struct scene *s)
{
	STEP_BEGIN();
	s->released = lfpool_release_bulk(s->pool, s->given, s->given_count);
	STEP_END();
}

static void create_cache(struct scene *s)
{
	STEP_BEGIN();
	s->mine = lfpool_cache_create(s->pool);
	STEP_END();
}

static void destroy_cache(struct scene *s)
{
	STEP_BEGIN();
	lfpool_cache_destroy(s->mine);
	STEP_END();
	s->mine = NULL;
}

/* ---- The table ---- */

/* name, pool, prepare, operate, moves, in_hand */
#define BORROWED POOL(4 * EACH, LFPOOL_CACHE_NONE, 0, NULL, NULL, SPECIAL_NOTHING)

const struct operation operations[] = {
	{"acquire hit, inlined", USUAL, prepare_hit, acquire_inlined, 0, 1},
	{"release hit, inlined", USUAL, prepare_release_hit, release_inlined, 0, 1},
	{"acquire hit, function", USUAL, prepare_hit, acquire_through_cache, 0, 1},
	{"release hit, function", USUAL, prepare_release_hit, release_through_cache, 0, 1},
	{"acquire hit, thread's cache", USUAL, prepare_thread_hit, acquire, 0, 1},
	{"release hit, thread's cache", USUAL, prepare_thread_release_hit, release, 0, 1},
	{"acquire, zeroing", WITH(LFPOOL_ZERO), prepare_hit, acquire_inlined, 0, 1},
	{"release, races checked", WITH(LFPOOL_CHECK_RACES), prepare_release_hit, release_inlined, 0, 1},
	{"acquire last of current", USUAL, prepare_last, acquire_inlined, MOVES_TOP, 1},
	{"acquire, swap back", USUAL, prepare_swap_back, acquire_inlined, CHANGED, 1},
	{"acquire, refill full", USUAL, prepare_full, acquire_inlined, CHANGED | MOVES_FULL, 1},
	{"acquire, refill partial", USUAL, prepare_partial, acquire_inlined, CHANGED | MOVES_PARTIAL, 1},
	{"acquire, carve", USUAL, prepare_fresh, acquire_inlined, CHANGED | MOVES_CARVED, 1},
	{"acquire, carve, empty to depot", USUAL, prepare_carve, acquire_inlined,
		  MOVES_CURRENT | MOVES_CARVED | MOVES_EMPTY, 1},
	{"acquire, steal one", SMALL, prepare_steal, acquire_inlined, MOVES_TOP, 1},
	{"acquire, rob a previous", SMALL, prepare_rob, acquire_inlined, CHANGED, 1},
	{"acquire, exhausted", SMALL, prepare_exhausted, acquire_inlined, 0, 0},
	{"acquire, exhausted again", SMALL, prepare_exhausted_again, acquire_inlined, 0, 0},
	{"release, swap over", USUAL, prepare_swap_over, release_inlined, CHANGED, 1},
	{"release, no previous", USUAL, prepare_no_previous, release_inlined, CHANGED | MOVES_EMPTY, 1},
	{"release, drain", USUAL, prepare_drain, release_inlined, CHANGED | MOVES_FULL | MOVES_EMPTY, 1},
	{"release, room in partial", USUAL, prepare_partial_room, release_inlined, CHANGED | MOVES_PARTIAL, 1},
	{"acquire, borrowed cache", BORROWED, prepare_borrowed, acquire, 0, 1},
	{"release, borrowed cache", BORROWED, prepare_borrowed_release, release, 0, 1},
	{"acquire, thread's first call", USUAL, prepare_fresh, acquire,
		  CHANGED | MOVES_CARVED | MOVES_EMPTY | MOVES_CACHES, 1},
	{"acquire bulk of 6", USUAL, prepare_bulk_acquire, acquire_bulk,
		  MOVES_CURRENT | MOVES_CARVED | MOVES_EMPTY | MOVES_TOP, 6},
	{"release bulk of 6", USUAL, prepare_bulk_release, release_bulk, CHANGED, 6},
	{"cache create", USUAL, prepare_create, create_cache, MOVES_CURRENT | MOVES_EMPTY | MOVES_CACHES, 0},
	{"cache create, new lot", USUAL, prepare_create_lot, create_cache,
		  MOVES_CURRENT | MOVES_EMPTY | MOVES_CACHES, 0},
	{"cache create, used before", USUAL, prepare_create_again, create_cache, MOVES_CACHES, 0},
	{"cache destroy", USUAL, prepare_destroy, destroy_cache,
		  CHANGED | MOVES_FULL | MOVES_PARTIAL | MOVES_EMPTY | MOVES_CACHES, 0},
};
const size_t operation_count = sizeof(operations) / sizeof(*operations);
