/* SPDX-License-Identifier: MIT */
/*
 * evict.c - scenario: threads acquire by priority in a full pool, and so evict each other's objects (lfpool/evict.h).
 *
 * Holder       The thread that acquired an object.  It releases the object, or offers it: then any thread may release
 *              it.  An object can be evicted at any time, so a thread accesses the object only while this thread has
 *              pinned it.
 * Ledger       The holder's release, or hooks.evict, clears an object's mark (ledger.h).  In the hook no other thread
 *              has the victim.  The victim must be marked, unless its holder is releasing it.  It must be unpinned,
 *              have its holder's contents, and have a priority that some call set.
 * Uses         An array has an entry for each slot, which describes its object.  A thread writes to an entry only
 *              while it has the object pinned, so it never writes to a later object's entry.
 * History      With --history only the holder touches an object.  The log records when each object could be evicted,
 *              each victim and each NULL: history_check.h, "Victims".
 * Witness      In half of the rounds only the holder touches an object.  An own object that was published and
 *              unpinned before a call, and active after it, could be evicted during the whole call.  So no victim of
 *              the call may have a higher priority, and no newcomer that it gives way to may be refused.  In half of
 *              these rounds demand.h counts the objects: nothing is evicted or refused while an object is free.
 * At rest      At a meeting only new objects are pinned.  lfpool_least() and the order of lfpool_release_least() are
 *              exact.
 */
#include "evict.h"
#include "faults.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

struct evicting evicting;

/* ---- Plan ---- */

/* config.before, in rounds that evict the greatest first. */
static bool goes_after(void *context, uint64_t a, uint64_t b)
{
	(void)context;
	return a > b;
}

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
	/* The history knows only the holder's calls. */
	evicting.own = random_below(random, 2) || options.history;
	evicting.judged = random_below(random, 2);
	evicting.span = PICK(random, spans);
	/* Together the threads remember from half to four times as many claims as there are objects. */
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
		evicting.decoy = doing(lfpool_handle_of)(current.pool, current.decoy.object);
}

static void evict_close(void)
{
	free(evicting.uses);
	free(evicting.actors);
}

/* ---- Entries ---- */

static void try_priority(struct use *use, uint64_t priority)
{
	/* relaxed, as all in this file that has no other comment: see relaxed.h. */
	(void)atomic_fetch_or_explicit(&use->tried, bit_of(priority), memory_order_relaxed);
}

static uint64_t draw_priority(struct worker *worker)
{
	return evicting.span ? draw(worker, evicting.span) : random_next(&worker->random);
}

/* A call was refused because an own object was evicted. */
static void lose(struct claim *claim)
{
	const void *object = doing(lfpool_resolve)(current.pool, claim->handle);

	expect(!object, "handle %" PRIx64 " was refused, but resolved to %p", claim->handle, object);
	claim->handle = 0;
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
		violation("NULL, but with handle %" PRIx64 " and %zu evictions", handle, actor->call.evictions);
	expect_full(reading, "NULL");
	/* With refusals NULL may be right at any time (extras.c).  `equal`: an object of equal priority gives way
	 * too. */
	if (!current.refusals && (evicting.equal || actor->call.rank)) {
		const uint64_t rank = actor->call.rank, limit = rank + (evicting.equal && rank < UINT64_MAX);

		history_refused(actor->worker->log, actor->call.began, limit);
		witness_expect(witness, limit, "NULL for a newcomer");
	}
	demand_lower(&current.demand, 1);
	/* On few processors the holders need this thread's processor. */
	(void)sched_yield();
}

/* The fault: evicts another object than the pool chose. */
static void evict_wrongly(struct actor *actor)
{
	const struct claim *claim = &actor->mine[draw(actor->worker, evicting.hold)];
	uint64_t priority;
	void *object;

	if (!claim->handle || !claim->published || !fault_strikes(actor->worker, FAULT_WRONG_VICTIM) ||
	    !(object = doing(lfpool_pin)(current.pool, claim->handle)))
		return;
	if (doing(lfpool_get_priority)(current.pool, claim->handle, &priority) &&
	    doing(lfpool_release_handle)(current.pool, claim->handle) == LFPOOL_OK) {
		on_evict(NULL, object, claim->handle, priority);
		/* Keeps the statistics right, so that they do not reveal the fault. */
		actor->evicted--;
	}
	(void)doing(lfpool_unpin)(current.pool, claim->handle);
}

static void *acquire_raw(struct actor *actor, uint64_t priority, lfpool_handle_t *handle_out)
{
	void *object = fault_instead_of_acquire(actor->worker, current.decoy.object);

	*handle_out = object ? evicting.decoy : 0;
	if (object || fault_null(actor->worker, 0))
		return object;
	evict_wrongly(actor);
	object = doing(lfpool_acquire_evicting)(current.pool, priority, handle_out);
	pulse_add(&actor->worker->pulse->acquires, object != NULL);
	return object;
}

/* The pool gave this thread the object: no other thread may have it. */
static bool granted(struct actor *actor, void *object, struct claim *claim, uint64_t begin)
{
	struct worker *worker = actor->worker;
	struct use *use;

	if (!ledger_take(object, ledger_token(worker->index, ++worker->sequence), &claim->held) ||
	    !(use = use_of(object)))
		return false;
	claim->held.object = object;
	claim->held.hold = history_acquired(worker->log, actor->call.began, actor->call.began, object);
	expect(!load_relaxed(&use->pins), "object %p is granted while it is pinned by %u", object,
	       load_relaxed(&use->pins));
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
	actor->call = (struct call){
		.kind = CALL_ACQUIRE, .rank = rank_of(claim->settled), .began = history_begin(actor->worker->log)};
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

/* A call of the holder has ended: can the object be evicted now? */
static void settled(const struct actor *actor, const struct claim *claim, uint64_t began)
{
	if (evicting.own && claim->published && !is_pinned(actor, claim->handle))
		history_steady(actor->worker->log, began, claim->held.hold, rank_of(claim->settled));
}

static void publish(struct actor *actor, struct claim *claim)
{
	struct use *use = use_of(claim->held.object);
	const uint64_t began = history_begin(actor->worker->log);

	claim->published = use->published = true;
	subtract_relaxed(&use->pins, 1);
	expect(doing(lfpool_unpin)(current.pool, claim->handle) == LFPOOL_OK, "new object %p cannot be published",
	       (void *)claim->held.object);
	settled(actor, claim, began);
	if (!evicting.own)
		store_relaxed(place(actor->worker, evicting.shown), claim->handle);
}

/* ---- Pins ---- */

/* Pins the handle's object, and checks its contents; NULL: the object cannot be pinned. */
static struct use *pin(lfpool_handle_t handle)
{
	void *object = doing(lfpool_pin)(current.pool, handle);
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
	status = doing(lfpool_unpin)(current.pool, handle);
	expect(status == LFPOOL_OK, "unpin of handle %" PRIx64 ", which is pinned, failed: %s", handle,
	       lfpool_status_string(status));
}

/* For the history: this thread's claim of the object; NULL: another thread's object, or forgotten. */
static const struct claim *claim_of(const struct actor *actor, lfpool_handle_t handle)
{
	for (uint32_t i = 0; actor->worker->log && i < evicting.hold; i++)
		if (actor->mine[i].handle == handle)
			return &actor->mine[i];
	return NULL;
}

/* Pins an object for a while. */
static void step_pin(struct actor *actor, lfpool_handle_t handle)
{
	const struct claim *claim;
	struct use *use;

	if (actor->pinned_count == PINNED_MAX)
		return;
	if ((claim = claim_of(actor, handle)))
		(void)history_change(actor->worker->log, claim->held.hold);
	if (!(use = pin(handle)))
		return;
	/* The fault: the pool has forgotten the pin. */
	if (fault_strikes(actor->worker, FAULT_LOST_PIN)) {
		(void)doing(lfpool_unpin)(current.pool, handle);
		return;
	}
	actor->pinned[actor->pinned_count++] = (struct pinned){handle, use};
}

/* A pinned object keeps its entry, even after a release. */
static void step_unpin(struct actor *actor, uint32_t which)
{
	const struct pinned pinned = actor->pinned[which];
	const struct claim *claim = claim_of(actor, pinned.handle);
	const uint64_t began = history_begin(actor->worker->log);

	actor->pinned[which] = actor->pinned[--actor->pinned_count];
	if (pinned.use->handle == pinned.handle)
		unpin(pinned.use, pinned.handle);
	else
		violation("handle %" PRIx64 " is pinned, but its slot has another object", pinned.handle);
	if (claim)
		settled(actor, claim, began);
}

/* ---- Priorities ---- */

static void set_own(struct actor *actor, struct claim *claim)
{
	const uint64_t priority = draw_priority(actor->worker);
	lfpool_status_t status = LFPOOL_OK;
	const uint64_t began = history_change(actor->worker->log, claim->held.hold);

	try_priority(use_of(claim->held.object), priority);
	if (!fault_strikes(actor->worker, FAULT_LOST_UPDATE))
		status = doing(lfpool_set_priority)(current.pool, claim->handle, priority);
	if (status != LFPOOL_OK) {
		lose(claim);
		return;
	}
	claim->settled = priority;
	settled(actor, claim, began);
}

static void set_found(struct actor *actor, lfpool_handle_t handle)
{
	const uint64_t priority = draw_priority(actor->worker);
	struct use *use = pin(handle);

	if (!use)
		return;
	try_priority(use, priority);
	/* Refused if the object was released in the meantime. */
	(void)doing(lfpool_set_priority)(current.pool, handle, priority);
	unpin(use, handle);
}

static void get_own(struct claim *claim)
{
	uint64_t priority;

	if (!doing(lfpool_get_priority)(current.pool, claim->handle, &priority))
		lose(claim);
	else if (evicting.own && priority != claim->settled)
		violation("handle %" PRIx64 " has priority %" PRIx64 ", not %" PRIx64, claim->handle, priority,
			  claim->settled);
}

/* ---- Release ---- */

/* Without a pin: the object may be evicted in the meantime. */
static void release_own(struct actor *actor, struct claim *claim)
{
	struct use *use = use_of(claim->held.object);
	const bool ended = ledger_end(&claim->held);
	lfpool_status_t status = LFPOOL_OK;

	if (!fault_strikes(actor->worker, FAULT_LOST_OBJECT))
		status = doing(lfpool_release_handle)(current.pool, claim->handle);
	if (status != LFPOOL_OK) {
		lose(claim);
		return;
	}
	expect(ended, "handle %" PRIx64 " was evicted and then released", claim->handle);
	/* A new object is pinned. */
	if (!claim->published) {
		subtract_relaxed(&use->pins, 1);
		expect(doing(lfpool_unpin)(current.pool, claim->handle) == LFPOOL_OK,
		       "a new object cannot be unpinned");
	}
	demand_lower(&current.demand, 1);
	if (evicting.own)
		show_dead(actor, claim->handle);
	claim->handle = 0;
}

/* With a pin: the release takes effect at the last unpin.  With `offer`, any thread may release the object from now
 * on. */
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
		expect(doing(lfpool_release_handle)(current.pool, claim->handle) == LFPOOL_OK,
		       "a pinned object cannot be released");
		expect_stale(actor, claim->handle, true);
	}
	unpin(use, claim->handle);
	demand_lower(&current.demand, 1);
	if (offer)
		/* release: publishes the offer. */
		atomic_store_explicit(place(actor->worker, evicting.offered), claim->handle, memory_order_release);
	claim->handle = 0;
}

static void release(struct actor *actor, struct claim *claim)
{
	/* The release would take effect at some later unpin, which the count does not know. */
	if (is_pinned(actor, claim->handle))
		return;
	(void)history_change(actor->worker->log, claim->held.hold);
	if (!claim->published || chance(actor->worker, 2))
		release_own(actor, claim);
	else
		release_pinned(actor, claim, !evicting.own && chance(actor->worker, 2));
}

/* Tries handles from other threads. */
static void look(struct actor *actor)
{
	/* acquire, both: see release_pinned() and show_dead(). */
	const lfpool_handle_t offered = atomic_load_explicit(place(actor->worker, evicting.offered),
							     memory_order_acquire);
	const lfpool_handle_t dead = atomic_load_explicit(place(actor->worker, evicting.dead), memory_order_acquire);

	if (dead)
		expect_stale(actor, dead, !evicting.own);
	if (offered && doing(lfpool_release_handle)(current.pool, offered) == LFPOOL_OK)
		subtract_relaxed(&evicting.offers, 1);
}

/* ---- The least ---- */

size_t release_least(struct actor *actor, size_t count)
{
	const struct call outer = actor->call;
	const struct claim witness = witness_draw(actor);
	size_t released;

	actor->call = (struct call){.kind = CALL_RELEASE_LEAST, .began = history_begin(actor->worker->log)};
	released = doing(lfpool_release_least)(current.pool, count);
	demand_lower(&current.demand, (uint32_t)released);
	if (released > count || released != actor->call.evictions)
		violation("release_least of %zu released %zu, but the hook was called for %zu", count, released,
			  actor->call.evictions);
	if (released)
		witness_expect(&witness, actor->call.last, "release_least took one");
	if (released < count)
		history_refused(actor->worker->log, actor->call.began, UINT64_MAX);
	if (released < count)
		witness_expect(&witness, UINT64_MAX, "release_least stopped early, before one");
	actor->call = outer;
	pulse_beat(actor->worker->pulse, 1);
	return released;
}

static void step_least(struct actor *actor)
{
	const struct claim witness = witness_draw(actor);
	uint64_t priority = 0;
	const lfpool_handle_t handle = doing(lfpool_least)(current.pool, &priority);

	witness_expect(&witness, handle ? rank_of(priority) : UINT64_MAX, "lfpool_least() names one");
}

/* ---- Work ---- */

static void step_acquire(struct actor *actor)
{
	struct claim *const mine = &actor->mine[draw(actor->worker, evicting.hold)];
	struct claim claim = {.handle = 0};

	/* Replaces another claim, whose object is released, or only forgotten: then it is evicted some day. */
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
		/* An object of these calls is never a victim, and evicts none. */
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

static void evict_meet(struct worker *worker)
{
	unpin_all(&evicting.actors[worker->index]);
	meeting_alone(worker, evict_inspect);
}

static void evict_finish(void)
{
	if (!cell_failed())
		evict_inspect(here);
	if (!cell_failed())
		(void)release_least(&evicting.actors[here->index], SIZE_MAX);
}

SCENARIO(evict, "evict", "threads evict each other's objects; a ledger checks victims, pins, handles and priorities",
	 .needs_refusals = true, .evicting = true, .hands = 2, .plan = evict_plan, .open = evict_open,
	 .step = evict_step, .meet = evict_meet, .leave = evict_leave, .finish = evict_finish, .close = evict_close);
