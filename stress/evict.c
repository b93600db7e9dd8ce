/* SPDX-License-Identifier: MIT */
/*
 * evict.c - scenario: threads acquire by priority in a full pool, and so evict each other's objects (lfpool/evict.h).
 *
 * Holder       The thread that acquired an object.  It releases the object, or offers it: then every thread may
 *              release it.  An object can be evicted at any time, so a thread reads and writes it only while it has it
 *              pinned.
 * Ledger       The mark of an object (ledger.h) is cleared by its holder's release, or by hooks.evict.  In the hook no
 *              other thread has the victim.  It must have been marked, or its holder is releasing it; no thread has it
 *              pinned; its contents are those that its holder wrote; its priority is one that a call has set.
 * Uses         An array has an entry for each slot, which describes its object.  A thread writes to an entry only
 *              while it has the object pinned, so it never writes to the entry of a later object.
 * Witness      In half of the rounds only the holder touches an object.  Take an own object that was published and not
 *              pinned before a call, and is active after it: it could be evicted during the whole call.  So no victim
 *              of the call may have a higher priority, and no newcomer that it gives way to may have been refused.  In
 *              half of these rounds demand.h counts the objects: nothing is evicted or refused while an object is
 *              free.
 * At rest      At a meeting only new objects are pinned.  lfpool_least() and the order of lfpool_release_least() are
 *              exact.
 */
#include "faults.h"

#include "lfpool/evict.h"
#include "lfpool/handle.h"
#include "lfpool/report.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

#define MINE_MAX 128
#define PINNED_MAX 4
#define PLACES 16

/* The object of a slot. */
struct use {
	_Atomic(unsigned) pins; /* raised after a pin, lowered before the unpin */
	/* Written while it is pinned. */
	struct held held;
	lfpool_handle_t handle;  /* 0: the slot's object was never acquired by priority          */
	lfpool_handle_t offered; /* equal to the handle: every thread may release it             */
	uint64_t begin, end;     /* of its acquire, by evicting.ticks                            */
	bool published;
	/* By any thread, also late. */
	_Atomic(uint64_t) tried; /* a bit for each priority that it may ever have had */
	/* By hooks.evict. */
	lfpool_handle_t evicted; /* the last handle                                   */
};

/* An object that this thread acquired; by now it may be gone. */
struct claim {
	struct held held;
	lfpool_handle_t handle; /* 0: none */
	uint64_t settled;       /* the priority that was set last */
	bool published;
};

/* The call that a thread is in, for the hook. */
struct call {
	enum { CALL_NONE, CALL_ACQUIRE, CALL_RELEASE_LEAST } kind;
	uint64_t rank; /* the newcomer's           */
	size_t evictions;
	uint64_t last;     /* the highest rank evicted */
	struct use victim; /* at rest: the last one */
};

struct actor {
	struct worker *worker;
	struct claim mine[MINE_MAX];
	struct pinned {
		lfpool_handle_t handle;
		struct use *use;
	} pinned[PINNED_MAX];
	uint32_t pinned_count;
	struct call call;
	uint64_t evicted, refused;
};

static struct {
	/* Drawn. */
	bool reversed; /* the greatest priority is evicted first                        */
	bool equal;    /* LFPOOL_EVICT_LESS_OR_EQUAL                                    */
	bool own;      /* only the holder touches an object                             */
	bool judged;   /* handles of ended objects are tried, which orders the threads  */
	uint32_t span; /* different priorities; 0: all                                  */
	uint32_t hold; /* objects that a thread remembers                               */
	bool at_rest;
	struct use *uses;
	struct actor *actors; /* threads + 1 */
	lfpool_handle_t decoy;
	_Atomic(uint64_t) ticks;
	_Atomic(size_t) offers; /* offered objects that are still active */
	_Atomic(lfpool_handle_t) shown[PLACES], offered[PLACES], dead[PLACES];
} evicting;

/* ---- Plan ---- */

/* config.before, in rounds in which the greatest is evicted first. */
static bool goes_after(void *context, uint64_t a, uint64_t b)
{
	(void)context;
	return a > b;
}

static void on_evict(void *context, void *object, lfpool_handle_t handle, uint64_t priority);

static void evict_plan(void)
{
	static const uint32_t spans[] = {0, 0, 1, 2, 8, 64, 1000}, calms[] = {30, 200, 200, 2000};
	static const uint32_t capacities[] = {1, 2, 3, 63, 64, 65, 127, 128, 129, 300, 4095, 4097};
	struct random *random = &current.random;
	uint32_t hold;

	memset(&evicting, 0, sizeof(evicting));
	current.capacity = random_below(random, 2) ? PICK(random, capacities) : 1 + random_below(random, 100);
	evicting.reversed = random_below(random, 3) == 0;
	evicting.equal = random_below(random, 2);
	evicting.own = random_below(random, 2);
	evicting.judged = random_below(random, 2);
	evicting.span = PICK(random, spans);
	/* All threads together remember from half of the objects to four times their number. */
	hold = (uint32_t)current.capacity * (1 + random_below(random, 8)) / 2 / current.threads + 1;
	evicting.hold = hold < MINE_MAX ? hold : MINE_MAX;
	current.meeting.calm = PICK(random, calms);
	current.demand.counted = evicting.own && random_below(random, 2) && options.fault != FAULT_DOUBLE_GRANT;
	current.demand.unjudged = !current.demand.counted;
	current.config.evict = evicting.equal ? LFPOOL_EVICT_LESS_OR_EQUAL : LFPOOL_EVICT_LESS;
	current.config.before = evicting.reversed ? goes_after : NULL;
	current.config.hooks.evict = on_evict;
	text_add(&current.remark, ", %u priorities%s%s%s, each holds %u", evicting.span,
		 evicting.reversed ? ", greatest first" : "", evicting.equal ? ", equal ones evicted" : "",
		 evicting.own ? ", holders only" : "", evicting.hold);
}

static void evict_open(void)
{
	evicting.uses = round_memory(current.most, sizeof(*evicting.uses));
	evicting.actors = round_memory(current.threads + (size_t)1, sizeof(*evicting.actors));
	for (unsigned i = 0; i <= current.threads; i++)
		evicting.actors[i].worker = i < current.threads ? &current.workers[i] : &current.keeper;
	if (current.decoy.object)
		evicting.decoy = lfpool_handle_of(current.pool, current.decoy.object);
}

static void evict_close(void)
{
	free(evicting.uses);
	free(evicting.actors);
}

/* ---- Entries ---- */

static uint64_t rank_of(uint64_t priority)
{
	return evicting.reversed ? ~priority : priority;
}

static struct use *use_of(const void *object)
{
	const size_t index = lfpool_index_of(current.pool, object);

	if (index < current.most)
		return &evicting.uses[index];
	violation("object %p has index %zu of %zu", object, index, current.most);
	return NULL;
}

static uint64_t bit_of(uint64_t priority)
{
	return UINT64_C(1) << (priority * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

static void try_priority(struct use *use, uint64_t priority)
{
	/* relaxed, as all in this file that has no other comment: see relaxed.h. */
	(void)atomic_fetch_or_explicit(&use->tried, bit_of(priority), memory_order_relaxed);
}

static uint64_t draw_priority(struct worker *worker)
{
	return evicting.span ? draw(worker, evicting.span) : random_next(&worker->random);
}

static _Atomic(lfpool_handle_t) *place(struct worker *worker, _Atomic(lfpool_handle_t) *places)
{
	return &places[draw(worker, PLACES)];
}

/* The status of an unpin: the pool reports a refused one to the misuse hook. */
static lfpool_status_t told(lfpool_status_t status)
{
	if (status != LFPOOL_OK)
		count_up(&current.provoked);
	return status;
}

/* ---- Ended handles ---- */

/* `pinned`: by another thread perhaps, whose pin an unpin would undo. */
static void expect_stale(struct actor *actor, lfpool_handle_t handle, bool pinned)
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
	expect(!found, "handle %" PRIx64 " is stale, and %s takes it", handle, found);
}

/* The object is gone, whoever ended its use: other threads may try its handle. */
static void show_dead(struct actor *actor, lfpool_handle_t handle)
{
	if (evicting.judged)
		/* release: that it has ended. */
		atomic_store_explicit(place(actor->worker, evicting.dead), handle, memory_order_release);
}

/* A call was refused because an own object is gone: it was evicted. */
static void lose(struct claim *claim)
{
	const void *object = lfpool_resolve(current.pool, claim->handle);

	expect(!object, "handle %" PRIx64 " is refused, and leads to %p", claim->handle, object);
	claim->handle = 0;
}

/* ---- Witnesses ---- */

static bool is_pinned(const struct actor *actor, lfpool_handle_t handle)
{
	for (uint32_t i = 0; i < actor->pinned_count; i++)
		if (actor->pinned[i].handle == handle)
			return true;
	return false;
}

/* An own object that could be evicted before the call. */
static struct claim witness_draw(struct actor *actor)
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

/* The call chose `rank` though the witness comes before it, if the witness is still there. */
static void witness_expect(const struct claim *witness, uint64_t rank, const char *what)
{
	if (witness->handle && rank_of(witness->settled) < rank && lfpool_resolve(current.pool, witness->handle))
		violation("%s of rank %" PRIx64 " though one of rank %" PRIx64 " could be evicted all the time", what,
			  rank, rank_of(witness->settled));
}

/* ---- Acquire ---- */

static void expect_full(uint64_t reading, const char *what)
{
	if (current.demand.counted && !demand_null_allowed(&current.demand, reading))
		violation("%s though at no moment of the call more than %zu objects were held or wanted", what,
			  current.capacity);
}

static void refused(struct actor *actor, const struct claim *witness, lfpool_handle_t handle, uint64_t reading)
{
	actor->refused++;
	if (handle || actor->call.evictions)
		violation("NULL, with handle %" PRIx64 " and %zu evictions", handle, actor->call.evictions);
	expect_full(reading, "NULL");
	/* An equal one gives way, or does not. */
	if (!current.refusals && (evicting.equal || actor->call.rank))
		witness_expect(witness,
			       evicting.equal && actor->call.rank < UINT64_MAX ? actor->call.rank + 1
									       : actor->call.rank,
			       "NULL for a newcomer");
	demand_lower(&current.demand, 1);
	/* With few processors the holders need this one. */
	(void)sched_yield();
}

/* This fault: another object was evicted than the pool has chosen. */
static void evict_wrongly(struct actor *actor)
{
	const struct claim *claim = &actor->mine[draw(actor->worker, evicting.hold)];
	uint64_t priority;
	void *object;

	if (!claim->handle || !claim->published || !fault_strikes(actor->worker, FAULT_WRONG_VICTIM) ||
	    !(object = lfpool_pin(current.pool, claim->handle)))
		return;
	if (lfpool_get_priority(current.pool, claim->handle, &priority) &&
	    lfpool_release_handle(current.pool, claim->handle) == LFPOOL_OK) {
		on_evict(NULL, object, claim->handle, priority);
		/* The statistics must not be what finds it. */
		actor->evicted--;
	}
	(void)lfpool_unpin(current.pool, claim->handle);
}

static void *acquire_raw(struct actor *actor, uint64_t priority, lfpool_handle_t *handle_out)
{
	void *object = fault_instead_of_acquire(actor->worker, current.decoy.object);

	*handle_out = object ? evicting.decoy : 0;
	if (object || fault_null(actor->worker, 0))
		return object;
	evict_wrongly(actor);
	object = lfpool_acquire_evicting(current.pool, priority, handle_out);
	pulse_add(&actor->worker->pulse->acquires, object != NULL);
	return object;
}

/* The pool gave this thread the object: no other may have it. */
static bool granted(struct actor *actor, void *object, struct claim *claim, uint64_t begin)
{
	struct worker *worker = actor->worker;
	struct use *use;

	if (!ledger_take(object, ledger_token(worker->index, ++worker->sequence), &claim->held) ||
	    !(use = use_of(object)))
		return false;
	claim->held.object = object;
	expect(!load_relaxed(&use->pins), "object %p is granted, and pinned by %u", object, load_relaxed(&use->pins));
	use->held = claim->held;
	use->handle = claim->handle;
	use->offered = 0;
	use->begin = begin;
	use->end = add_relaxed(&evicting.ticks, 1);
	use->published = false;
	store_relaxed(&use->tried, bit_of(claim->settled));
	store_relaxed(&use->pins, 1);
	fault_tear(worker, object, current.config.object_size);
	return true;
}

static bool acquire(struct actor *actor, struct claim *claim)
{
	const struct call outer = actor->call;
	const struct claim witness = witness_draw(actor);
	const uint64_t reading = demand_raise(&current.demand, 1), begin = add_relaxed(&evicting.ticks, 1);
	bool good = false;
	void *object;

	claim->settled = draw_priority(actor->worker);
	actor->call = (struct call){.kind = CALL_ACQUIRE, .rank = rank_of(claim->settled)};
	object = acquire_raw(actor, claim->settled, &claim->handle);
	pulse_beat(actor->worker->pulse, 1);
	if (!object) {
		refused(actor, &witness, claim->handle, reading);
	} else {
		good = granted(actor, object, claim, begin);
		if (actor->call.evictions) {
			expect_full(reading, "an eviction");
			witness_expect(&witness, actor->call.last, "an eviction");
			demand_lower(&current.demand, 1);
		}
	}
	actor->call = outer;
	return good;
}

static void publish(struct actor *actor, struct claim *claim)
{
	struct use *use = use_of(claim->held.object);

	claim->published = use->published = true;
	subtract_relaxed(&use->pins, 1);
	expect(lfpool_unpin(current.pool, claim->handle) == LFPOOL_OK, "new object %p cannot be published",
	       (void *)claim->held.object);
	if (!evicting.own)
		store_relaxed(place(actor->worker, evicting.shown), claim->handle);
}

/* ---- Pins ---- */

/* Pinned by this thread, and with the contents that its holder wrote; or NULL. */
static struct use *pin(lfpool_handle_t handle)
{
	void *object = lfpool_pin(current.pool, handle);
	struct use *use = object ? use_of(object) : NULL;

	if (!use)
		return NULL;
	add_relaxed(&use->pins, 1);
	expect(use->handle == handle && use->held.object == object, "handle %" PRIx64 " pins object %p, not %p", handle,
	       object, (void *)use->held.object);
	(void)ledger_stamped(object, use->held.token, "while it was pinned");
	return use;
}

static void unpin(struct use *use, lfpool_handle_t handle)
{
	lfpool_status_t status;

	(void)ledger_stamped(use->held.object, use->held.token, "while it was pinned");
	subtract_relaxed(&use->pins, 1);
	status = lfpool_unpin(current.pool, handle);
	expect(status == LFPOOL_OK, "unpin of handle %" PRIx64 ", which is pinned: %s", handle,
	       lfpool_status_string(status));
}

/* One that stays pinned for a while. */
static void step_pin(struct actor *actor, lfpool_handle_t handle)
{
	struct use *use;

	if (actor->pinned_count == PINNED_MAX || !(use = pin(handle)))
		return;
	/* This fault: the pool has forgotten it. */
	if (fault_strikes(actor->worker, FAULT_LOST_PIN)) {
		(void)lfpool_unpin(current.pool, handle);
		return;
	}
	actor->pinned[actor->pinned_count++] = (struct pinned){handle, use};
}

/* A pinned object keeps its entry, also after a release. */
static void step_unpin(struct actor *actor, uint32_t which)
{
	const struct pinned pinned = actor->pinned[which];

	actor->pinned[which] = actor->pinned[--actor->pinned_count];
	if (pinned.use->handle == pinned.handle)
		unpin(pinned.use, pinned.handle);
	else
		violation("handle %" PRIx64 " is pinned, and its slot has another", pinned.handle);
}

/* ---- Priorities ---- */

static void set_own(struct actor *actor, struct claim *claim)
{
	const uint64_t priority = draw_priority(actor->worker);
	lfpool_status_t status = LFPOOL_OK;

	try_priority(use_of(claim->held.object), priority);
	if (!fault_strikes(actor->worker, FAULT_LOST_UPDATE))
		status = lfpool_set_priority(current.pool, claim->handle, priority);
	if (status == LFPOOL_OK)
		claim->settled = priority;
	else
		lose(claim);
}

static void set_found(struct actor *actor, lfpool_handle_t handle)
{
	const uint64_t priority = draw_priority(actor->worker);
	struct use *use = pin(handle);

	if (!use)
		return;
	try_priority(use, priority);
	/* Refused if it was released meanwhile. */
	(void)lfpool_set_priority(current.pool, handle, priority);
	unpin(use, handle);
}

static void get_own(struct claim *claim)
{
	uint64_t priority;

	if (!lfpool_get_priority(current.pool, claim->handle, &priority))
		lose(claim);
	else if (evicting.own && priority != claim->settled)
		violation("handle %" PRIx64 " has priority %" PRIx64 ", not %" PRIx64, claim->handle, priority,
			  claim->settled);
}

/* ---- Release ---- */

/* Directly: the object may be evicted meanwhile. */
static void release_own(struct actor *actor, struct claim *claim)
{
	struct use *use = use_of(claim->held.object);
	const bool ended = ledger_end(&claim->held);
	lfpool_status_t status = LFPOOL_OK;

	if (!fault_strikes(actor->worker, FAULT_LOST_OBJECT))
		status = lfpool_release_handle(current.pool, claim->handle);
	if (status != LFPOOL_OK) {
		lose(claim);
		return;
	}
	expect(ended, "handle %" PRIx64 " was evicted, and then released", claim->handle);
	/* A new object is pinned. */
	if (!claim->published) {
		subtract_relaxed(&use->pins, 1);
		expect(lfpool_unpin(current.pool, claim->handle) == LFPOOL_OK, "a new object cannot be unpinned");
	}
	demand_lower(&current.demand, 1);
	if (evicting.own)
		show_dead(actor, claim->handle);
	claim->handle = 0;
}

/* While it is pinned: the release takes effect at the last unpin, or every thread may release it from now on. */
static void release_pinned(struct actor *actor, struct claim *claim, bool offer)
{
	struct use *use = pin(claim->handle);

	if (!use) {
		lose(claim);
		return;
	}
	(void)ledger_leave(&claim->held);
	if (offer) {
		use->offered = claim->handle;
		count_up(&evicting.offers);
	} else {
		expect(lfpool_release_handle(current.pool, claim->handle) == LFPOOL_OK,
		       "a pinned object cannot be released");
		expect_stale(actor, claim->handle, true);
	}
	unpin(use, claim->handle);
	demand_lower(&current.demand, 1);
	if (offer)
		/* release: that it is offered. */
		atomic_store_explicit(place(actor->worker, evicting.offered), claim->handle, memory_order_release);
	claim->handle = 0;
}

static void release(struct actor *actor, struct claim *claim)
{
	/* It would take effect at some later unpin, which is not known to the count. */
	if (is_pinned(actor, claim->handle))
		return;
	if (!claim->published || chance(actor->worker, 2))
		release_own(actor, claim);
	else
		release_pinned(actor, claim, !evicting.own && chance(actor->worker, 2));
}

/* Handles from other threads. */
static void look(struct actor *actor)
{
	/* acquire, both: see release_pinned() and show_dead(). */
	const lfpool_handle_t offered = atomic_load_explicit(place(actor->worker, evicting.offered),
							     memory_order_acquire);
	const lfpool_handle_t dead = atomic_load_explicit(place(actor->worker, evicting.dead), memory_order_acquire);

	if (dead)
		expect_stale(actor, dead, !evicting.own);
	if (offered && lfpool_release_handle(current.pool, offered) == LFPOOL_OK)
		subtract_relaxed(&evicting.offers, 1);
}

/* ---- Evictions ---- */

/* At rest victims come in order; of two with one priority not the younger first. */
static void expect_order(struct call *call, const struct use *use, uint64_t rank)
{
	if (call->evictions && (rank < call->last || (rank == call->last && use->end < call->victim.begin)))
		violation("at rest one of rank %" PRIx64 ", acquired at %" PRIu64 ", goes after one of rank %" PRIx64
			  ", acquired at %" PRIu64,
			  rank, use->begin, call->last, call->victim.begin);
	call->victim = *use;
}

static void expect_call(struct call *call, const struct use *use, uint64_t rank)
{
	expect(call->kind != CALL_NONE, "an eviction by a call that evicts nothing");
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

/* Its use ends here.  False: it had none. */
static bool end_use(struct use *use, lfpool_handle_t handle)
{
	if (use->evicted == handle) {
		violation("handle %" PRIx64 " was evicted, and before it was evicted", handle);
		return false;
	}
	use->evicted = handle;
	if (use->offered == handle)
		subtract_relaxed(&evicting.offers, 1);
	else if (!ledger_end(&use->held) && load_relaxed(use->held.mark) != use->held.token)
		violation("handle %" PRIx64 " is evicted, and its object is marked as another's", handle);
	return true;
}

static void on_evict(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct actor *actor = &evicting.actors[here->index];
	struct use *use = use_of(object);

	(void)context;
	if (!use || use->handle != handle || use->held.object != object) {
		violation("handle %" PRIx64 ", object %p, is evicted: no such object", handle, object);
		return;
	}
	expect(!load_relaxed(&use->pins), "handle %" PRIx64 " is pinned by %u, and evicted", handle,
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

/* ---- The least ---- */

static size_t release_least(struct actor *actor, size_t count)
{
	const struct call outer = actor->call;
	const struct claim witness = witness_draw(actor);
	size_t released;

	actor->call = (struct call){.kind = CALL_RELEASE_LEAST};
	released = lfpool_release_least(current.pool, count);
	demand_lower(&current.demand, (uint32_t)released);
	if (released > count || released != actor->call.evictions)
		violation("release_least of %zu released %zu; the hook was told of %zu", count, released,
			  actor->call.evictions);
	if (released)
		witness_expect(&witness, actor->call.last, "release_least took one");
	if (released < count)
		witness_expect(&witness, UINT64_MAX, "release_least found no more: it stopped before one");
	actor->call = outer;
	pulse_beat(actor->worker->pulse, 1);
	return released;
}

static void step_least(struct actor *actor)
{
	const struct claim witness = witness_draw(actor);
	uint64_t priority = 0;
	const lfpool_handle_t handle = lfpool_least(current.pool, &priority);

	witness_expect(&witness, handle ? rank_of(priority) : UINT64_MAX, "lfpool_least() names one");
}

/* ---- Work ---- */

static void step_acquire(struct actor *actor)
{
	struct claim *const mine = &actor->mine[draw(actor->worker, evicting.hold)];
	struct claim claim = {.handle = 0};

	/* In the place of another one, which is released, or only forgotten: then it is evicted some day. */
	if (mine->handle && !mine->published)
		publish(actor, mine);
	else if (mine->handle && chance(actor->worker, 2))
		release(actor, mine);
	if (!acquire(actor, &claim))
		return;
	*mine = claim;
	if (chance(actor->worker, 16))
		release(actor, mine);
	else if (!chance(actor->worker, 8))
		publish(actor, mine);
}

static void step_own(struct actor *actor, uint32_t drawn)
{
	struct claim *const claim = &actor->mine[draw(actor->worker, evicting.hold)];

	if (!claim->handle)
		return;
	if (!claim->published)
		publish(actor, claim);
	else if (drawn < 3)
		set_own(actor, claim);
	else if (drawn < 5)
		step_pin(actor, claim->handle);
	else if (drawn == 5)
		release(actor, claim);
	else
		get_own(claim);
}

static void step_found(struct actor *actor, uint32_t drawn)
{
	const lfpool_handle_t handle = load_relaxed(place(actor->worker, evicting.shown));

	if (evicting.own || !handle)
		return;
	if (drawn < 3)
		set_found(actor, handle);
	else
		step_pin(actor, handle);
}

static void evict_step(struct worker *worker)
{
	struct actor *actor = &evicting.actors[worker->index];
	const uint32_t drawn = draw(worker, 26);

	if (drawn < 9)
		step_acquire(actor);
	else if (drawn < 16)
		step_own(actor, drawn - 9);
	else if (drawn < 20)
		step_found(actor, drawn - 16);
	else if (drawn < 23 && actor->pinned_count)
		step_unpin(actor, draw(worker, actor->pinned_count));
	else if (drawn == 23)
		step_least(actor);
	else if (drawn == 24 && chance(worker, 8))
		(void)release_least(actor, 1 + draw(worker, 3));
	else if (drawn == 25 && chance(worker, 4))
		/* Such an object is never a victim, and makes none. */
		worker_adjust(worker, draw(worker, 2));
	else
		look(actor);
}

static void unpin_all(struct actor *actor)
{
	while (actor->pinned_count)
		step_unpin(actor, 0);
}

static void evict_leave(struct worker *worker)
{
	struct actor *actor = &evicting.actors[worker->index];

	unpin_all(actor);
	for (uint32_t i = 0; i < evicting.hold; i++)
		if (actor->mine[i].handle && !actor->mine[i].published)
			publish(actor, &actor->mine[i]);
}

/* ---- At rest ---- */

/* The objects that can be evicted: how many, and the least. */
struct census {
	const struct use *least, *other;
	uint64_t rank;
	size_t count;
};

static void count_use(struct census *census, const struct use *use)
{
	const bool marked = load_relaxed(use->held.mark) == (use->held.token | 1);
	uint64_t priority = 0;

	if (!use->handle || !use->published || !(marked || use->offered == use->handle))
		return;
	if (!lfpool_get_priority(current.pool, use->handle, &priority)) {
		expect(!marked, "handle %" PRIx64 " is stale, and its object is held", use->handle);
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
		violation("lfpool_least() names handle %" PRIx64 ", rank %" PRIx64
			  "; of %zu objects the least has rank %" PRIx64,
			  handle, rank_of(priority), census->count, census->rank);
}

static void expect_counts(void)
{
	uint64_t evicted = 0, refused = 0;
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	for (unsigned i = 0; i <= current.threads; i++) {
		evicted += evicting.actors[i].evicted;
		refused += evicting.actors[i].refused;
	}
	if (lfpool_stats(current.pool, &stats) != LFPOOL_OK || stats.evicted != evicted || stats.not_evicted != refused)
		violation("the statistics count %" PRIu64 " evictions and %" PRIu64 " refusals, and there were %" PRIu64
			  " and %" PRIu64,
			  stats.evicted, stats.not_evicted, evicted, refused);
}

static void inspect(struct worker *worker)
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
		const size_t wanted = draw(worker, (uint32_t)current.most) + (size_t)1;
		const size_t released = release_least(&evicting.actors[worker->index], wanted);

		expect(released == (census.count < wanted ? census.count : wanted),
		       "release_least of %zu released %zu of %zu", wanted, released, census.count);
	}
	evicting.at_rest = false;
}

static void evict_meet(struct worker *worker)
{
	unpin_all(&evicting.actors[worker->index]);
	meeting_alone(worker, inspect);
}

static void evict_finish(void)
{
	if (!cell_failed())
		inspect(here);
	if (!cell_failed())
		(void)release_least(&evicting.actors[here->index], SIZE_MAX);
}

SCENARIO(evict, "evict",
	 "threads evict each other's objects: victims, pins, handles and priorities are those of a ledger",
	 .needs_refusals = true, .unlogged = true, .hands = 2, .plan = evict_plan, .open = evict_open,
	 .step = evict_step, .meet = evict_meet, .leave = evict_leave, .finish = evict_finish, .close = evict_close);
