/* SPDX-License-Identifier: MIT */
/*
 * trim.c - lfpool_trim(): memory of free objects goes back to the system.
 *
 * Idea         Two halves.  Cooling: free slots are taken out of the free lists, one by one, and put into the cold
 *              store (cold.h), where an acquire finds them last.  Sweeping: a cursor goes over the pages; of those
 *              whose slots are all cold a run of at most STEP_BYTES is taken out of the cold store (counts first, then
 *              bits: O1), given back, and put into the cold store again.  Where the sweep ends the next call goes on;
 *              it is over when it has come round without giving anything back.
 * Invariants   TR1 while a page is being given back, all slots on it are in the hands of this call: nobody else can
 *                  have an object there.  A page on which a slot lies that is not opened yet is left alone: who opens
 *                  it does not come by the cold store's bits.
 *              TR2 `gone` of a page is 1 only if it was given back, and no slot on it has left the cold store since:
 *                  who takes a slot clears it, holding the slot; a call that gives a page back sets it, holding all of
 *                  them.
 * Progress     Lock-free for others.  A trim that is stopped takes with it the slots of one step.
 * Edges        COLD (cold.h): from who cooled the slot, to this call, to who takes it next.
 */
#include "base/probes.h"
#include "core/cold.h"
#include "object/lifecycle.h"
#include "os/os.h"
#include "pool/slots.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

#include "lfpool/resize.h"

#define STEP_BYTES ((size_t)64 << 10)
#define LOOK_SHARE 64 /* a page looked at costs this share of a page given back */

/* ---- Cooling ---- */

/* Takes free slots out of the free lists until `keep` are left there, or *budget is used up; true if there are more. */
static bool cool(lfpool_t *pool, size_t keep, size_t *budget)
{
	const size_t stride = pool->core.arena.stride;
	size_t listed = slots_listed(pool);

	for (; listed > keep; listed--) {
		const uint32_t slot = *budget ? slots_take_idle(pool, thread_cache(pool)) : SLOT_NONE;

		if (!slot)
			return !*budget;
		lifecycle_cool(pool->lifecycle, slot, arena_object(&pool->core.arena, slot));
		cold_put(&pool->core.cold, slot);
		resize_serve_if_wanted(pool, NULL);
		*budget -= stride < *budget ? stride : *budget;
	}
	return false;
}

/* ---- Sweeping ---- */

/* Gives the pages back if all slots on them are cold; false if one is not, or the system refuses. */
static bool give_back(lfpool_t *pool, struct page_run run)
{
	const size_t page = os_page_bytes();
	struct page_hold hold;
	bool done = false;

	if (pages_hold(&pool->core.cold, &run, &hold)) {
		done = os_discard(pool->core.arena.objects + run.first_page * page, run.pages * page);
		if (done)
			pages_mark_gone(&pool->core.cold, &run);
		pages_let_go(&pool->core.cold, &hold);
	}
	/* Meanwhile, even if it failed, it had slots that others may wait for; and what it borrowed counted as
	 * objects: there seemed to be less room to grow, and more that could be owed. */
	debt_limit(pool);
	resize_serve_if_wanted(pool, NULL);
	if (done) {
		tally_shared(&pool->given_back, run.pages * page);
		probe_trim(pool, pool->name, run.pages * page);
	}
	return done;
}

/* From the cursor on, round and round: false when all pages were looked at since one was given back, true if *budget
 * ended before.  (Pages before the cursor may have become cold since it passed them.) */
static bool sweep(lfpool_t *pool, size_t *budget)
{
	const size_t page = os_page_bytes(), most = STEP_BYTES / page ? STEP_BYTES / page : 1;
	const size_t end = pages_end(&pool->core.cold);
	/* relaxed, all: another trim may sweep the same pages. */
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

bool lfpool_trim(lfpool_t *pool, size_t keep, size_t budget)
{
	bool more;

	if (!pool_in_place(pool) || !pool->core.arena.gone)
		return false;
	if (!budget)
		budget = 1;
	more = cool(pool, keep, &budget);
	more |= sweep(pool, &budget);
	return more;
}
