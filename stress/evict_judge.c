/* SPDX-License-Identifier: MIT */
/* evict_judge.c - the rules of the scenario `evict`; see evict.c. */
#include "evict.h"
#include "faults.h"

#include "lfpool/report.h"

#include <inttypes.h>

struct use *use_of(const void *object)
{
	const size_t index = lfpool_index_of(current.pool, object);

	if (index < current.most)
		return &evicting.uses[index];
	violation("object %p has index %zu of %zu", object, index, current.most);
	return NULL;
}

/* ---- Ended handles ---- */

/* Counts a refused unpin: the pool reports it to the misuse hook. */
static lfpool_status_t told(lfpool_status_t status)
{
	if (status != LFPOOL_OK)
		count_up(&current.provoked);
	return status;
}

void expect_stale(struct actor *actor, lfpool_handle_t handle, bool pinned)
{
	lfpool_t *pool = current.pool;
	const char *found = NULL;
	uint64_t priority;

	if (lfpool_pin(pool, handle) || fault_strikes(actor->worker, FAULT_STALE_HANDLE))
		found = "pin";
	else if (lfpool_resolve(pool, handle) || lfpool_get_priority(pool, handle, &priority))
		found = "a look-up";
	else if (lfpool_set_priority(pool, handle, 0) != LFPOOL_E_STALE)
		found = "set_priority";
	else if (lfpool_release_handle(pool, handle) != LFPOOL_E_STALE)
		found = "release";
	else if (!pinned && told(lfpool_unpin(pool, handle)) == LFPOOL_OK)
		found = "unpin";
	expect(!found, "handle %" PRIx64 " is stale, but %s takes it", handle, found);
}

void show_dead(struct actor *actor, lfpool_handle_t handle)
{
	if (evicting.judged)
		/* release: publishes that the handle's use has ended. */
		atomic_store_explicit(place(actor->worker, evicting.dead), handle, memory_order_release);
}

/* ---- Witnesses ---- */

bool is_pinned(const struct actor *actor, lfpool_handle_t handle)
{
	for (uint32_t i = 0; i < actor->pinned_count; i++)
		if (actor->pinned[i].handle == handle)
			return true;
	return false;
}

struct claim witness_draw(struct actor *actor)
{
	struct claim witness = {.handle = 0};

	for (unsigned tries = 0; evicting.own && tries < 8; tries++) {
		const struct claim *claim = &actor->mine[draw(actor->worker, evicting.hold)];

		if (claim->handle && claim->published &&
		    (!witness.handle || rank_of(claim->settled) < rank_of(witness.settled)))
			witness = *claim;
	}
	if (is_pinned(actor, witness.handle))
		witness.handle = 0;
	return witness;
}

void witness_expect(const struct claim *witness, uint64_t rank, const char *what)
{
	if (witness->handle && rank_of(witness->settled) < rank && lfpool_resolve(current.pool, witness->handle))
		violation("%s of rank %" PRIx64 " though one of rank %" PRIx64 " could be evicted all the time", what,
			  rank, rank_of(witness->settled));
}

/* ---- Evictions ---- */

/* At rest victims come in order; with equal priorities the older first. */
static void expect_order(struct call *call, const struct use *use, uint64_t rank)
{
	if (call->evictions && (rank < call->last || (rank == call->last && use->end < call->victim.begin)))
		violation("at rest an object of rank %" PRIx64 ", acquired at %" PRIu64
			  ", is evicted after one of rank %" PRIx64 ", acquired at %" PRIu64,
			  rank, use->begin, call->last, call->victim.begin);
	call->victim = *use;
}

static void expect_call(struct call *call, const struct use *use, uint64_t rank)
{
	expect(call->kind != CALL_NONE, "an eviction by a call that must not evict");
	if (call->kind == CALL_ACQUIRE && call->evictions)
		violation("one acquire evicts two objects");
	if (call->kind == CALL_ACQUIRE && (evicting.equal ? call->rank < rank : call->rank <= rank))
		violation("a newcomer of rank %" PRIx64 " evicts an object of rank %" PRIx64, call->rank, rank);
	if (evicting.at_rest)
		expect_order(call, use, rank);
	if (!call->evictions || call->last < rank)
		call->last = rank;
	call->evictions++;
}

/* Ends the object's use.  False: it had already ended. */
static bool end_use(struct use *use, lfpool_handle_t handle)
{
	if (use->evicted == handle) {
		violation("handle %" PRIx64 " was evicted, but was already evicted before", handle);
		return false;
	}
	use->evicted = handle;
	if (use->offered == handle)
		subtract_relaxed(&evicting.offers, 1);
	else if (!ledger_end(&use->held) && use->held.mark && load_relaxed(use->held.mark) != use->held.token)
		violation("handle %" PRIx64 " is evicted, but another thread holds its object", handle);
	return true;
}

void on_evict(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct actor *actor = &evicting.actors[here->index];
	struct use *use = use_of(object);

	(void)context;
	if (use)
		history_victim(actor->worker->log, actor->call.began, use->held.hold, rank_of(priority));
	if (!use || use->handle != handle || use->held.object != object) {
		violation("handle %" PRIx64 ", object %p, is evicted, but no such object exists", handle, object);
		return;
	}
	expect(!load_relaxed(&use->pins), "handle %" PRIx64 " is pinned by %u, but evicted", handle,
	       load_relaxed(&use->pins));
	if (!end_use(use, handle) || (fault_strikes(actor->worker, FAULT_EVICTED_TWICE) && !end_use(use, handle)))
		return;
	expect(load_relaxed(&use->tried) & bit_of(priority),
	       "handle %" PRIx64 " is evicted with priority %" PRIx64 ", which no call gave it", handle, priority);
	(void)ledger_stamped(object, use->held.token, "when it was evicted");
	actor->evicted++;
	expect_call(&actor->call, use, rank_of(priority));
	if (chance(actor->worker, 4))
		expect_stale(actor, handle, false);
	show_dead(actor, handle);
}

/* ---- At rest ---- */

/* The objects that can be evicted: their number, and the least. */
struct census {
	const struct use *least, *other;
	uint64_t rank;
	size_t count;
};

static void count_use(struct census *census, const struct use *use)
{
	const bool marked = use->held.mark && load_relaxed(use->held.mark) == (use->held.token | 1);
	uint64_t priority = 0;

	if (!use->handle || !use->published || !(marked || use->offered == use->handle))
		return;
	if (!lfpool_get_priority(current.pool, use->handle, &priority)) {
		expect(!marked, "handle %" PRIx64 " is stale, but its object is held", use->handle);
		return;
	}
	expect(load_relaxed(&use->tried) & bit_of(priority),
	       "handle %" PRIx64 " has priority %" PRIx64 ", which no call gave it", use->handle, priority);
	census->count++;
	if (!census->least || rank_of(priority) < census->rank) {
		census->other = census->least;
		census->least = use;
		census->rank = rank_of(priority);
	} else if (rank_of(priority) != census->rank) {
		census->other = use;
	}
}

static void expect_least(struct worker *worker, const struct census *census)
{
	uint64_t priority = 0;
	lfpool_handle_t handle = lfpool_least(current.pool, &priority);

	if (census->other && fault_strikes(worker, FAULT_WRONG_LEAST))
		lfpool_get_priority(current.pool, handle = census->other->handle, &priority);
	if (!handle != !census->count || (handle && rank_of(priority) != census->rank))
		violation("lfpool_least() returns handle %" PRIx64 ", rank %" PRIx64
			  "; the least of %zu objects has rank %" PRIx64,
			  handle, rank_of(priority), census->count, census->rank);
}

static void expect_counts(void)
{
	uint64_t evicted = 0, refused = 0;
	lfpool_stats_t stats;

	for (unsigned i = 0; i <= current.threads; i++) {
		evicted += evicting.actors[i].evicted;
		refused += evicting.actors[i].refused;
	}
	if (lfpool_stats(current.pool, &stats) != LFPOOL_OK || stats.evicted != evicted || stats.not_evicted != refused)
		violation("the statistics count %" PRIu64 " evictions and %" PRIu64 " refusals, but there were %" PRIu64
			  " and %" PRIu64,
			  stats.evicted, stats.not_evicted, evicted, refused);
}

void evict_inspect(struct worker *worker)
{
	struct census census = {.least = NULL};
	const size_t decoys = current.decoy.object != NULL, offers = load_relaxed(&evicting.offers);

	evicting.at_rest = true;
	round_expect_intact(ledger_held() - decoys + offers, "at a meeting");
	for (size_t i = 0; i < current.most && !cell_failed(); i++)
		if (evicting.uses[i].handle)
			count_use(&census, &evicting.uses[i]);
	if (!cell_failed()) {
		expect_counts();
		expect_least(worker, &census);
	}
	if (!cell_failed() && chance(worker, 4)) {
		/* HISTORY_RESERVE allows no more. */
		const size_t most = current.most < 1024 ? current.most : 1024;
		const size_t wanted = draw(worker, (uint32_t)most) + (size_t)1;
		const size_t released = release_least(&evicting.actors[worker->index], wanted);

		expect(released == (census.count < wanted ? census.count : wanted),
		       "release_least of %zu released %zu of %zu", wanted, released, census.count);
	}
	evicting.at_rest = false;
}
