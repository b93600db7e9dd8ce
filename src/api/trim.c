/* SPDX-License-Identifier: MIT */
/*
 * trim.c - lfpool_trim(), and the end of lfpool_shrink(): returns the memory of free objects to the system.
 *
 * Idea         A trim cools and then sweeps.  Cooling takes free slots out of the free lists, one by one, and puts them
 *              into the cold store (cold.h), where an acquire looks last.  Sweeping moves a cursor over the pages, and
 *              looks for runs of at most STEP_BYTES in which all slots are cold.  The sweep takes the slots of a run
 *              out of the cold store (first the counts, then the bits: O1), returns the pages, and puts the slots in
 *              again.  The next call starts where the sweep ended.  A trim is complete when the cursor has passed all
 *              pages since a page was last returned.
 * Invariants   TR1 while a trim returns a page, it holds all slots on the page, so no other thread can have an object
 *                  there.  A page is skipped if the cold store has not opened every slot on it yet, because a thread
 *                  that opens a slot does not use the cold store's bits.
 *              TR2 `dirty` of a page is 0 only if no slot on the page was put into the cold store since the page was
 *                  last returned.  For a page that was never returned, `dirty` is 0 only if no slot on the page was
 *                  ever put into the cold store.  A call that puts a slot into the cold store sets `dirty` while it
 *                  holds the slot.  A call that returns the page clears `dirty` while it holds all slots on the page.
 *                  So untouched pages are neither returned nor counted.
 * Progress     Other calls are lock-free.  While the thread of a trim is stopped in a step of the sweep, no other call
 *              can get the slots that this step holds.
 * Edges        COLD (cold.h): from the call that cooled the slot, to the sweep, to the call that takes the slot next.
 */
#include "api/api.h"
#include "base/probes.h"
#include "core/cold.h"
#include "object/lifecycle.h"
#include "os/os.h"
#include "pool/slots.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

#include "lfpool/resize.h"

#define STEP_BYTES ((size_t)64 << 10)
#define LOOK_SHARE 64 /* examining a page takes 1 / LOOK_SHARE of the budget that returning it takes */

/* ---- Cooling ---- */

/* Cools one slot of the free lists, through the cache `head`; false if no slot is free, or *budget is used up. */
static bool cool_one(lfpool_t *pool, struct cache_head *head, size_t *budget)
{
	const size_t stride = pool->core.arena.stride;
	const uint32_t slot = *budget ? slots_take_idle(pool, head) : SLOT_NONE;

	if (!slot)
		return false;
	lifecycle_cool(pool->lifecycle, slot, arena_object(&pool->core.arena, slot));
	cold_put(&pool->core.cold, slot);
	resize_serve_if_wanted(pool, NULL);
	*budget -= stride < *budget ? stride : *budget;
	return true;
}

/* Cools free slots until the free lists have `keep` left, or *budget is used up; true if more could be cooled. */
static bool cool(lfpool_t *pool, size_t keep, size_t *budget)
{
	for (size_t listed = slots_listed(pool); listed > keep; listed--)
		if (!cool_one(pool, thread_cache(pool), budget))
			return !*budget;
	return false;
}

/*
 * With LFPOOL_IDLE, cooling works in rounds.  A round has to cool as many objects as were free during the whole
 * previous round.  Returns the number of objects that the present round still has to cool.  If there is no round,
 * begins one.
 */
static uint64_t idle_round(lfpool_t *pool)
{
	/* relaxed, here and below: these are counts.  Concurrent calls share a round, and may count some objects
	 * twice. */
	uint64_t left = load_relaxed(&pool->idle_left);

	if (!left) {
		const uint64_t steals = census_steals(&pool->core);

		left = census_idle(&pool->core, steals - load_relaxed(&pool->idle_steals)) + 1;
		census_reset_idle(&pool->core);
		store_relaxed(&pool->idle_steals, steals);
	}
	return left - 1;
}

/* Like cool(), but for idle objects only.  It uses a borrowed cache, because objects in the caller's own cache may not
 * be idle. */
static bool cool_idle(lfpool_t *pool, size_t keep, size_t *budget)
{
	const uint64_t idle = idle_round(pool), steals = census_steals(&pool->core);
	size_t listed = slots_listed(pool), most = listed > keep ? listed - keep : 0;
	size_t left = idle < most ? (size_t)idle : most;
	bool more = false;

	for (; left; left--)
		if (!cool_one(pool, NULL, budget)) {
			more = !*budget;
			break;
		}
	(void)fetch_add_relaxed(&pool->idle_steals, census_steals(&pool->core) - steals);
	store_relaxed(&pool->idle_left, more ? left + 1 : 1);
	return more;
}

/* ---- Sweeping ---- */

/* Returns the pages to the system if all slots on them are cold.  False: a slot is not cold, or the system refuses. */
static bool give_back(lfpool_t *pool, struct page_run run)
{
	const size_t page = os_page_bytes();
	struct page_hold hold;
	bool done = false;

	if (pages_hold(&pool->core.cold, &run, &hold)) {
		done = os_discard(pool->core.arena.objects + run.first_page * page, run.pages * page);
		if (done)
			pages_mark_clean(&pool->core.cold, &run);
		pages_let_go(&pool->core.cold, &hold);
	}
	/* Serves even after a failure, because this call held slots for which other calls may wait. */
	resize_serve_if_wanted(pool, NULL);
	if (done) {
		tally_shared(&pool->given_back, run.pages * page);
		probe_trim(pool, pool->name, run.pages * page);
	}
	return done;
}

/* Moves the cursor over the pages; after the last page the cursor continues with the first.  False: every page was
 * examined since a page was last returned.  True: *budget was used up before that. */
static bool sweep(lfpool_t *pool, size_t *budget)
{
	const size_t page = os_page_bytes(), most = STEP_BYTES / page ? STEP_BYTES / page : 1;
	const size_t end = pages_end(&pool->core.cold);
	/* relaxed, all: an imprecise cursor is harmless, because concurrent trims may sweep the same pages anyway. */
	size_t at = (size_t)load_relaxed(&pool->trim_at), in_vain = (size_t)load_relaxed(&pool->trim_in_vain);
	struct page_run run;

	while (*budget && in_vain < end) {
		if (!pages_next_run(&pool->core.cold, &at, most, *budget / (page / LOOK_SHARE) + 1, &run)) {
			at = 0;
			continue;
		}

		const size_t looked = run.first_page + run.pages - run.from;
		const bool given = run.pages && give_back(pool, run);
		const size_t spent = looked * (page / LOOK_SHARE) + (given ? run.pages * page : 0);

		in_vain = given ? 0 : in_vain + looked;
		*budget -= spent < *budget ? spent : *budget;
	}
	store_relaxed(&pool->trim_at, at);
	store_relaxed(&pool->trim_in_vain, in_vain < end ? in_vain : 0);
	return in_vain < end;
}

void trim_removed(lfpool_t *pool, size_t bytes)
{
	if (pool_in_place(pool) && pool->core.arena.dirty)
		(void)sweep(pool, &bytes);
}

bool lfpool_trim(lfpool_t *pool, size_t keep, size_t budget)
{
	/* SIZE_MAX has the bit LFPOOL_IDLE, but means that no object is cooled. */
	const bool idle = keep != SIZE_MAX && (keep & LFPOOL_IDLE);
	bool more;

	if (!pool_in_place(pool) || !pool->core.arena.dirty)
		return false;
	if (!budget)
		budget = 1;
	more = idle ? cool_idle(pool, keep & ~LFPOOL_IDLE, &budget) : cool(pool, keep, &budget);
	more |= sweep(pool, &budget);
	if (idle && !more)
		/* relaxed: as in idle_round(). */
		store_relaxed(&pool->idle_left, 0);
	return more;
}
