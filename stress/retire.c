/* SPDX-License-Identifier: MIT */
/*
 * retire.c - scenario: an epoch scheme made here protects the readers of nodes (nodes.h), through the interface that
 * lfpool/retire.h has for schemes.
 *
 * Idea         A counter.  A reader publishes the counter's value when a section begins (its stand), and 0 when the
 *              section ends.  A batch that begins advances the counter and keeps the new value.  Once every reader's
 *              stand is 0, or at least that value, no thread can have the batch's objects.
 * Why          All accesses that matter are seq_cst, so they have one order.  A pointer is taken out before its batch
 *              begins, and the batch begins before a reader's stand is read.  Suppose the check reads an old stand or
 *              0, although the reader's section has begun since: then the reader wrote its stand after the check, and
 *              reads the pointer after that, when it is gone.  If the check reads a stand at or after the batch, the
 *              reader read the counter after the batch began, so also after the pointer was gone.
 * ThreadSan    sees all of it: nothing here is assembly, and there is no stand-alone fence.
 * Interface    A round draws how the pool asks: by `ready`, with or without `begin` and `wait`. (`rcu` tests a scheme
 *              that is not asked and reclaims automatically.) The promises of lfpool/retire.h to a scheme are
 *              checked: no overlapping calls for a batch, the right order, an untouched room, and the right number of
 *              objects, none of which is in use.
 */
#include "nodes.h"

#include "lfpool/report.h"
#include "lfpool/retire.h"

#include <sched.h>
#include <string.h>

enum seam { SEAM_READY_ONLY, SEAM_READY, SEAM_READY_WAIT, SEAMS };

/* A thread's published value; 0: in no section. */
struct stand {
	_Alignas(64) _Atomic(uint64_t) at;
};

/* The state of the batch in a place, whichever thread calls for it. */
struct kept {
	_Alignas(64) bool begun;
	uint64_t when;
	size_t count;
	_Atomic(unsigned) busy; /* calls in progress for this place */
};

static struct {
	enum seam seam;
	unsigned threads; /* without the keeper */
	_Alignas(64) _Atomic(uint64_t) now;
	struct kept kept[LFPOOL_PLACES_MAX];
	struct stand *stands;
} retire;

/* The calling thread's. */
static _Atomic(uint64_t) *own_stand(void)
{
	return &retire.stands[here->index].at;
}

/* ---- The scheme ---- */

/* No thread can have objects that were taken out before the counter was `when`. acquire, from every reader that has
 * ended its section: its accesses there. */
static bool passed(uint64_t when)
{
	for (unsigned i = 0; i <= retire.threads; i++) {
		/* seq_cst: see Why. */
		const uint64_t at = atomic_load(&retire.stands[i].at);

		if (at && at < when)
			return false;
	}
	return true;
}

static struct kept *enter_place(const lfpool_batch_t *batch, const char *name)
{
	const size_t place = batch->place;

	if (place >= LFPOOL_PLACES_MAX) {
		violation("%s: place %zu", name, place);
		return NULL;
	}
	/* relaxed: the pool must provide the order. */
	if (add_relaxed(&retire.kept[place].busy, 1) != 0)
		violation("%s: another call is in progress for the batch in place %zu", name, place);
	return &retire.kept[place];
}

static void leave_place(struct kept *kept)
{
	/* relaxed: as above. */
	subtract_relaxed(&kept->busy, 1);
}

/* The batch's objects: the right number, and none of them held. */
static void expect_objects(const lfpool_batch_t *batch, const struct kept *kept)
{
	lfpool_t *pool = current.pool;
	const size_t count = batch->count;
	uint32_t cursor = 0;
	const void *object;
	size_t found = 0;

	while (found <= count && (object = lfpool_batch_next(batch, &cursor)) != NULL) {
		found++;
		if (!lfpool_owns(pool, object) ||
		    (options.backend != LFPOOL_BACKEND_MALLOC && lfpool_in_use(pool, object)))
			violation("a batch contains object %p, which is not retired", object);
	}
	if (!count || found != count || kept->count != count)
		violation("a batch claims %zu objects, claimed %zu when it began, and has %zu", count, kept->count,
			  found);
}

static void begin_kept(lfpool_batch_t *batch, struct kept *kept)
{
	uint64_t *room = batch->room;

	expect(!kept->begun, "a batch begins in place %zu before the one there was reclaimed", batch->place);
	/* seq_cst: see Why. */
	kept->when = *room = atomic_fetch_add(&retire.now, 1) + 1;
	kept->count = batch->count;
	kept->begun = true;
}

/* No thread reads its objects any longer: is the batch unchanged? */
static void end_kept(const lfpool_batch_t *batch, struct kept *kept)
{
	const uint64_t *room = batch->room;

	expect_objects(batch, kept);
	if ((lfpool_batch_t *)(void *)(uintptr_t)room != batch || *room != kept->when)
		violation("the room of the batch in place %zu was written to", batch->place);
	kept->begun = false;
}

static void on_begin(void *context, lfpool_batch_t *batch)
{
	struct kept *kept = enter_place(batch, "begin");

	(void)context;
	if (!kept)
		return;
	begin_kept(batch, kept);
	leave_place(kept);
}

static bool on_ready(void *context, const lfpool_batch_t *batch)
{
	struct kept *kept = enter_place(batch, "ready");
	bool ready;

	(void)context;
	if (!kept)
		return false;
	if (retire.seam == SEAM_READY_ONLY && !kept->begun)
		begin_kept((lfpool_batch_t *)(uintptr_t)batch, kept);
	expect(kept->begun, "polled a batch in place %zu that has not begun", batch->place);
	ready = passed(kept->when);
	if (ready)
		end_kept(batch, kept);
	leave_place(kept);
	return ready;
}

static bool on_wait(void *context)
{
	(void)context;
	/* relaxed: this thread's own. */
	if (load_relaxed(own_stand()) != 0)
		return false;
	(void)sched_yield();
	return true;
}

/* ---- The regime ---- */

static void retire_open(void)
{
	static const char *const seams[] = {"ready only", "begin, ready", "begin, ready, wait"};
	lfpool_scheme_t *scheme = &current.config.scheme;

	memset(&retire, 0, sizeof(retire));
	retire.seam = (enum seam)random_below(&current.random, SEAMS);
	retire.threads = current.threads;
	retire.stands = round_memory(retire.threads + 1, sizeof(struct stand));
	atomic_store(&retire.now, 1);
	scheme->context = &retire;
	scheme->begin = retire.seam == SEAM_READY_ONLY ? NULL : on_begin;
	scheme->ready = on_ready;
	scheme->wait = retire.seam == SEAM_READY_WAIT ? on_wait : NULL;
	text_add(&current.remark, ", by %s", seams[retire.seam]);
}

static void retire_close(void)
{
	free(retire.stands);
}

static void retire_begin(void)
{
	/* seq_cst, both: see Why. */
	atomic_store(own_stand(), atomic_load(&retire.now));
}

static void retire_end(void)
{
	/* A drain in a section would wait for itself, unless it has nothing to wait for. */
	if (current.config.scheme.wait && chance(here, 64)) {
		const lfpool_status_t status = doing(lfpool_drain)(current.pool);

		if (status != LFPOOL_OK && status != LFPOOL_E_IN_SECTION)
			violation("lfpool_drain() in a section: %s", lfpool_status_string(status));
	}
	/* release: the reads come before the next holder's writes. */
	atomic_store_explicit(own_stand(), 0, memory_order_release);
}

static const struct regime regime_retire = {
	.open = retire_open,
	.close = retire_close,
	.begin = retire_begin,
	.end = retire_end,
	.linger_ns = 4000000,
	.any_may_retire = true,
};

NODES_SCENARIO(retire, "retire",
	       "nodes are read while other threads take them out and retire them, with a home-made epoch scheme",
	       &regime_retire);
