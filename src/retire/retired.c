/* SPDX-License-Identifier: MIT */
/*
 * retired.c - see retired.h.
 */
#include "retire/retired.h"

#include "core/arena.h"
#include "os/os.h"
#include "pool/pool.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

#define SHARDS_LEAST 8
#define DRAIN_PAUSE_NS UINT64_C(100000)

/* Links `slot`, which the caller holds, to `below`. */
static inline void lay_on(struct retired *retired, uint32_t slot, uint32_t below)
{
	/* relaxed: the CAS that pushes the slot publishes the link. */
	store_relaxed(&retired->link[slot], below | LINK_RETIRED);
}

/* ---- A batch begins, and ends ---- */

/* The phase of a shard whose batch is about to begin.  It is HELD if the scheme has to be asked, so that no call asks
 * before `begin` has returned. */
static inline enum phase_of_shard beginning(const struct retired *retired)
{
	return retired->scheme.ready ? HELD : BEGUN;
}

/* Changes the phase from held to begun: from now on another call may ask. */
static void let_go(struct retired_shard *shard)
{
	/* relaxed: the CAS decides, and no other call changes the phase. */
	uint64_t word = load_relaxed(&shard->word);

	/* release, edge RETIRE: publishes our accesses to the batch.  Repeats only after another thread's push. */
	while (!cas_weak_release(&shard->word, &word, shard_in(word, BEGUN)))
		;
}

/* Begins the shard's next batch, of `count` slots that are linked to each other, from `first` on.  This call has the
 * batch (R3). */
static void begin(struct retired *retired, struct retired_shard *shard, uint32_t first, uint32_t count)
{
	struct batch *batch = &shard->batch;
	const bool asks = retired_asks(retired);

	plain_written(&batch->first);
	batch->first = first;
	batch->face.count = count;
	/* relaxed, both: a statistic, and a count that only the call that has the batch changes. */
	store_relaxed(&shard->with_scheme, count);
	const uint32_t begun = load_relaxed(&batch->begun);
	/* release, edge BEGUN: publishes the batch, and the retiring threads' accesses to its objects. */
	store_release(&batch->begun, begun + 1);
	if (retired->scheme.begin)
		retired->scheme.begin(retired->scheme.context, &batch->face);
	/* Without `ready` the scheme reclaims the batch without being asked.  It may have done so by now, and the pool
	 * may be gone, so the shard must not be used after `begin`. */
	if (asks)
		let_go(shard);
}

/* Makes the objects of the shard's batch free.  This call has the batch (R3), and no other thread can reach the
 * objects. */
static void put_back(struct retired *retired, struct batch *batch, struct cache_head *head)
{
	lfpool_t *pool = batch->pool;
	uint32_t slot = batch->first;

	for (uint32_t left = (uint32_t)batch->face.count; left; left--) {
		const uint32_t below = retired_below(retired, slot);

		/* relaxed, both: the free lists publish the slot for its next holder.  The link is no longer marked
		 * (R1). */
		store_relaxed(&retired->link[slot], 0);
		store_relaxed(&batch->shard->with_scheme, left - 1);
		waiters_put(pool, head, slot, pool_object(pool, slot));
		slot = below;
	}
}

/* Ends the shard's batch and begins the next one.  This call has the batch (R3), and the batch's objects may be
 * reused. */
static void end(struct retired *retired, struct retired_shard *shard, struct cache_head *head)
{
	struct batch *batch = &shard->batch;
	lfpool_t *pool = batch->pool;

	if (!head)
		head = thread_cache(pool);
	plain_read(&batch->first);
	put_back(retired, batch, head);
	/* Without `ready` this may be a thread of the scheme, which has no use for objects in its cache.  The flush
	 * moves them to the depot, where other threads find them. */
	if (!retired_asks(retired) && head)
		slots_cache_flush(head);
	/* relaxed: only the call that has the batch changes `ended` (R3).  release, edge ENDED: shows a drain, a poll
	 * or an acquire that the objects are free (R4). */
	const uint64_t ended = load_relaxed(&shard->ended);

	store_release(&shard->ended, ended + 1);

	/* relaxed: the CAS decides. */
	uint64_t word = load_relaxed(&shard->word), next;

	/* R2.  Repeats only after another thread's push.  acq_rel, edge RETIRE: publishes our accesses to the batch,
	 * and acquires the stack. */
	do {
		next = shard_word((uint32_t)word ? beginning(retired) : IDLE, 0, SLOT_NONE);
	} while (!cas_weak_acq_rel(&shard->word, &word, next));
	if ((uint32_t)word)
		begin(retired, shard, (uint32_t)word, shard_count(word));
}

/* Asks the scheme about the shard's batch.  True: the batch was ready, and is reclaimed now. */
static bool ask(struct retired *retired, struct retired_shard *shard, struct cache_head *head)
{
	/* relaxed: the CAS acquires the batch. */
	uint64_t word = load_relaxed(&shard->word);

	/* acquire, edge RETIRE: acquires the batch.  Repeats only after another thread's push.  If another call holds
	 * the batch, that call asks. */
	do {
		if (shard_phase(word) != BEGUN)
			return false;
	} while (!cas_acquire(&shard->word, &word, shard_in(word, HELD)));
	if (retired->scheme.ready(retired->scheme.context, &shard->batch.face)) {
		end(retired, shard, head);
		return true;
	}
	let_go(shard);
	return false;
}

static uint64_t ended_in_all(const struct retired *retired)
{
	uint64_t ended = 0;

	for (uint32_t i = 0; i < retired->shards; i++)
		/* acquire, edge ENDED: a thread that sees that a batch has ended finds its objects. */
		ended += load_acquire(&retired->shard[i].ended);
	return ended;
}

bool retired_poll(struct retired *retired, struct cache_head *head)
{
	if (!retired_asks(retired))
		return false;

	const uint64_t before = ended_in_all(retired);

	for (uint32_t i = 0; i < retired->shards; i++)
		(void)ask(retired, &retired->shard[i], head);
	return ended_in_all(retired) != before;
}

/* ---- Retiring ---- */

/* The calling thread's shard, or the next shard that is not held. */
static struct retired_shard *choose(struct retired *retired)
{
	const uint32_t mine = thread_hint();

	for (uint32_t i = 0; i < retired->shards; i++) {
		struct retired_shard *shard = &retired->shard[(mine + i) & (retired->shards - 1)];

		/* relaxed: any shard is correct, even a held one. */
		if (shard_phase(load_relaxed(&shard->word)) != HELD)
			return shard;
	}
	return &retired->shard[mine & (retired->shards - 1)];
}

/* Pushes `count` slots, which the caller holds and has linked to each other, from `first` to `last`. */
static void push(struct retired *retired, uint32_t first, uint32_t last, uint32_t count)
{
	struct retired_shard *shard = choose(retired);
	/* relaxed: the CAS decides. */
	uint64_t word = load_relaxed(&shard->word), next;

	/* Repeats only after another thread's push, or a change of the phase.  acq_rel, edge RETIRE: publishes the
	 * slots, or acquires the shard's batch from the call that had it last. */
	do {
		if (shard_phase(word) == IDLE) {
			lay_on(retired, last, SLOT_NONE);
			next = shard_word(beginning(retired), 0, SLOT_NONE);
		} else {
			lay_on(retired, last, (uint32_t)word);
			next = shard_word(shard_phase(word), shard_count(word) + count, first);
		}
	} while (!cas_weak_acq_rel(&shard->word, &word, next));
	if (shard_phase(word) == IDLE)
		begin(retired, shard, first, count);
	else if (retired_asks(retired) && shard_count(word) / RETIRES_PER_POLL != shard_count(next) / RETIRES_PER_POLL)
		(void)retired_poll(retired, NULL);
}

void retired_push(lfpool_t *pool, uint32_t slot)
{
	push(pool->retired, slot, slot, 1);
}

/* Ends the object's use, and stores its slot; SLOT_NONE: the object is pinned, and the last unpin retires it. */
static lfpool_status_t take_leave(lfpool_t *pool, const void *object, uint32_t *slot_out)
{
	lfpool_status_t status = pool->retired ? pool_locate(pool, object, slot_out) : LFPOOL_E_NO_SCHEME;

	if (status == LFPOOL_OK) {
		/* Every pool uses a CAS here, because a slot that two threads retired would be on two lists. */
		const enum leave leave = arena_leave_active(&pool->core.arena, *slot_out, true, GENERATION_RETIRED);

		if (leave == LEAVE_REFUSED)
			status = LFPOOL_E_NOT_IN_USE;
		else if (leave == LEAVE_LATER)
			*slot_out = SLOT_NONE;
	}
	return likely(status == LFPOOL_OK) ? status : misuse_report(pool, object, status);
}

lfpool_status_t lfpool_retire(lfpool_t *pool, void *object)
{
	lfpool_status_t status;
	uint32_t slot;

	if (!object)
		return LFPOOL_OK;
	status = take_leave(pool, object, &slot);
	if (status == LFPOOL_OK && slot)
		push(pool->retired, slot, slot, 1);
	KEEP_FRAME();
	return status;
}

size_t lfpool_retire_bulk(lfpool_t *pool, void *const *objects, size_t count)
{
	uint32_t slot, first = SLOT_NONE, last = SLOT_NONE, retired = 0, pinned = 0;

	for (size_t i = 0; i < count; i++) {
		if (!objects[i] || take_leave(pool, objects[i], &slot) != LFPOOL_OK)
			continue;
		if (!slot) {
			pinned++;
			continue;
		}
		if (!retired++)
			last = slot;
		lay_on(pool->retired, slot, first);
		first = slot;
	}
	if (retired)
		push(pool->retired, first, last, retired);
	KEEP_FRAME();
	return retired + pinned;
}

/* ---- Queries ---- */

size_t retired_count(const struct retired *retired, size_t capacity)
{
	size_t count = 0;

	for (uint32_t i = 0; retired && i < retired->shards; i++)
		/* relaxed, both: a snapshot.  If the caller can know of a retire, another edge has made it visible. */
		count += (size_t)shard_count(load_relaxed(&retired->shard[i].word)) +
			 load_relaxed(&retired->shard[i].with_scheme);
	/* A slot that is being put back may have been retired again, and is then counted twice. */
	return count < capacity ? count : capacity;
}

bool lfpool_retire_poll(lfpool_t *pool)
{
	return retired_poll(pool->retired, NULL);
}

/* ---- Draining ---- */

/* Waits for retired objects, after `attempt` earlier waits.  False: the scheme refuses to wait. */
static bool wait_a_while(struct retired *retired, unsigned attempt)
{
	_Atomic(uint64_t) nothing;

	if (retired->scheme.wait && !retired->scheme.wait(retired->scheme.context))
		return false;
	(void)retired_poll(retired, NULL);
	/* relaxed: no other thread knows the word.  A scheme that can wait has just waited, so the first two calls do
	 * not sleep. */
	store_relaxed(&nothing, 0);
	if (!retired->scheme.wait || attempt > 1)
		os_sleep_on(&nothing, 0, os_now_ns() + DRAIN_PAUSE_NS);
	return true;
}

lfpool_status_t lfpool_drain(lfpool_t *pool)
{
	struct retired *retired = pool->retired;

	for (uint32_t i = 0; retired && i < retired->shards; i++) {
		struct retired_shard *shard = &retired->shard[i];
		/* acquire, edge RETIRE: makes the objects of an idle shard's batches visible.  relaxed: a caller that
		 * knows of a retire sees all batches that had ended before that push (RETIRE).  The retired object is
		 * in one of the next two batches, so `goal` is 2 higher. */
		const bool idle = shard_phase(load_acquire(&shard->word)) == IDLE;
		const uint64_t goal = load_relaxed(&shard->ended) + 2;

		if (idle)
			continue;
		/* acquire, edges ENDED, RETIRE: makes the objects that were put back visible. */
		for (unsigned attempt = 0;
		     load_acquire(&shard->ended) < goal && shard_phase(load_acquire(&shard->word)) != IDLE; attempt++)
			if (!wait_a_while(retired, attempt))
				return LFPOOL_E_IN_SECTION;
	}
	return LFPOOL_OK;
}

/* Is no object retired?  A hook that runs at the end of a batch may retire an object in any shard, so the answer is
 * valid only if no batch ended between the first load and the last. */
static bool all_idle(const struct retired *retired)
{
	const uint64_t before = ended_in_all(retired);

	for (uint32_t i = 0; i < retired->shards; i++)
		/* acquire, edge RETIRE: no thread touches the shard after this load. */
		if (shard_phase(load_acquire(&retired->shard[i].word)) != IDLE)
			return false;
	return ended_in_all(retired) == before;
}

lfpool_status_t retired_finish(struct retired *retired, lfpool_t *pool)
{
	lfpool_status_t status = LFPOOL_OK;

	while (retired && status == LFPOOL_OK && !all_idle(retired))
		status = lfpool_drain(pool);
	return status;
}

/* ---- Batches ---- */

const void *lfpool_batch_next(const lfpool_batch_t *batch, uint32_t *cursor)
{
	const struct batch *its = (const struct batch *)batch;
	const uint32_t slot = *cursor ? retired_below(its->pool->retired, *cursor) : its->first;

	if (!slot)
		return NULL;
	*cursor = slot;
	return pool_object(its->pool, slot);
}

void lfpool_batch_reclaim(lfpool_batch_t *batch)
{
	struct batch *its = (struct batch *)batch;

	/* acquire, edge BEGUN. */
	(void)load_acquire(&its->begun);
	end(its->pool->retired, its->shard, NULL);
}

/* ---- Life ---- */

lfpool_status_t retired_open(lfpool_t *pool, const lfpool_scheme_t *scheme, size_t slots, uint32_t flags)
{
	const unsigned processors = os_processors();
	uint32_t shards = SHARDS_LEAST;

	while (shards < LFPOOL_PLACES_MAX && shards < 4 * processors)
		shards *= 2;

	const size_t head = round_up(sizeof(struct retired) + shards * sizeof(struct retired_shard), CACHE_LINE_PAIR);
	const size_t bytes = head + (slots + 1) * sizeof(uint32_t);
	struct retired *retired = os_map(bytes);

	if (!retired)
		return LFPOOL_E_NO_MEMORY;

	const lfpool_status_t status = backing_give(flags, retired, bytes);

	if (status != LFPOOL_OK) {
		os_unmap(retired, bytes);
		return status;
	}
	retired->scheme = *scheme;
	retired->mapped_bytes = bytes;
	retired->shards = shards;
	retired->link = (_Atomic(uint32_t) *)(void *)((char *)retired + head);
	for (uint32_t i = 0; i < shards; i++) {
		retired->shard[i].batch.pool = pool;
		retired->shard[i].batch.shard = &retired->shard[i];
		retired->shard[i].batch.face.place = i;
	}
	pool->retired = retired;
	return LFPOOL_OK;
}

void retired_close(struct retired *retired)
{
	if (retired)
		os_unmap(retired, retired->mapped_bytes);
}
