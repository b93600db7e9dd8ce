/* SPDX-License-Identifier: MIT */
/*
 * evicting.c - the calls on an evicting pool; see evicting.h for what its slots go through.
 */
#include "priority/evicting.h"

#include "base/probes.h"
#include "priority/plain.h"

typedef lfpool_priority_t pool_t;

/* Another backend's: the call of plain.h instead. */
#define IF_PLAIN(call)               \
	if (unlikely(pool->backend)) \
	return plain_##call

/* ---- Slots ---- */

/* What the handle names, as of some moment during the call, if its state fits.  False: nothing such. */
static inline bool find(const pool_t *pool, lfpool_handle_t handle, bool (*fits)(uint64_t state), struct contender *out)
{
	const uint64_t index = handle & ((UINT64_C(1) << HANDLE_SLOT_BITS) - 1);

	if (unlikely(pool->backend))
		return plain_find(pool, handle, out);
	if (index >= pool->tournament.count)
		return false;
	for (;;) {
		const uint32_t slot = (uint32_t)index + 1;
		/* acquire, edges RECORD, HOLD.  An old one does no harm: a call that changes it finds out. */
		const uint64_t state = load_acquire(&place_of(pool, slot)->word);

		if (!fits(state))
			return false;
		/* A retry means that the slot's state has changed. */
		if (tournament_look(&pool->tournament, slot, state, out))
			return handle_of(out) == handle;
	}
}

/* The slot's state becomes `next`, if it is what `c` says.  seq_cst: tournament.h; edge HOLD, both ways. */
static bool change(pool_t *pool, const struct contender *c, uint64_t next)
{
	uint64_t state = c->state;

	return cas_seq_cst(&place_of(pool, c->slot)->word, &state, next);
}

static uint64_t taken(const struct contender *c)
{
	return state_next(c->state, STATE_TAKEN, state_record(c->state));
}

/* Nobody has the object any more but this call, which has taken it from its last user.  Returns the slot that this call has from
 * here on: with a quarantine another. */
static uint32_t end_use(pool_t *pool, uint32_t slot)
{
	/* What fills the object now, or in this call for the newcomer, must not be seen with the handle still active, by a thread that
	 * looks without a pin: plain stores are not ordered after a CAS everywhere. */
	if (pool->modes.poison || pool->flags & LFPOOL_ZERO)
		full_fence();
	return pool->lifecycle ? lifecycle_end(pool->lifecycle, slot, object_of(pool, slot)) : slot;
}

/* The slot is free from here on: nobody has it any more. */
static void put_back(pool_t *pool, uint32_t slot)
{
	free_slots_push(&pool->free, end_use(pool, slot));
}

/* A slot that is taken, and no contender, is nobody's: of state `state`. */
static void let_go(pool_t *pool, uint32_t slot, uint64_t state)
{
	tournament_withdraw(&pool->tournament, slot);
	/* relaxed: it was no contender before, nor is it now; a call that gets the slot has it by FREE. */
	store_relaxed(&place_of(pool, slot)->word, state_next(state, 0, state_record(state)));
}

/* ---- Evicting ---- */

void tell_evicted(pool_t *pool, const struct contender *victim, void *object)
{
	lfpool_evicted_t evicted = {
		.pool = pool,
		.object = object,
		.owner = pool->owners[victim->slot - 1],
		.handle = handle_of(victim),
		.priority = victim->key,
	};

	plain_read(&pool->owners[victim->slot - 1]);
	tally_shared(&pool->evicted, 1);
	probe_evict(pool, pool->name, evicted.object, evicted.owner);
	if (pool->on_evict)
		pool->on_evict(pool->context, &evicted);
}

/* A slot that was free, or was taken from its holder; SLOT_NONE: promise 1. */
static uint32_t take_slot(pool_t *pool, uint64_t priority)
{
	unsigned failures = 0;

	for (;;) {
		uint64_t empty = 0; /* set with SLOT_NONE; gcc at -O1 does not see that */
		const uint32_t slot = free_slots_pop(&pool->free, &empty);

		if (slot)
			return slot;

		const struct contender first = tournament_first(&pool->tournament);

		/* Else a slot has come back meanwhile.  (FS1) */
		if (!free_slots_still(&pool->free, empty))
			continue;
		if (!first.slot || !gives_way(pool, first.key, priority))
			return SLOT_NONE;
		if (change(pool, &first, taken(&first))) {
			tell_evicted(pool, &first, object_of(pool, first.slot));
			/* It will be another call's, when it leaves the quarantine. */
			if (pool->held_back)
				let_go(pool, first.slot, taken(&first));
			return end_use(pool, first.slot);
		}
		/* A retry means that another has taken, pinned or changed it. */
		back_off(&failures);
	}
}

/* ---- Acquire, release ---- */

/* A slot whose object may be used; SLOT_NONE: promise 1, or a hook refused. */
static uint32_t begin_use(pool_t *pool, uint64_t priority)
{
	const uint32_t slot = take_slot(pool, priority);

	if (slot && !pool->lifecycle && pool->flags & LFPOOL_ZERO)
		memset(object_of(pool, slot), 0, pool->object_size);
	if (!slot || !pool->lifecycle || lifecycle_begin(pool->lifecycle, slot, object_of(pool, slot)) == BEGIN_OK)
		return slot;
	/* relaxed: the slot is ours (P2). */
	let_go(pool, slot, load_relaxed(&place_of(pool, slot)->word));
	free_slots_push(&pool->free, slot);
	return SLOT_NONE;
}

void *lfpool_priority_acquire(pool_t *pool, uint64_t priority, void *owner, lfpool_handle_t *handle_out)
{
	if (!handle_out)
		return NULL;
	*handle_out = 0;
	IF_PLAIN(acquire(pool, priority, owner, handle_out));

	const uint32_t slot = begin_use(pool, priority);

	if (!slot) {
		tally_shared(&pool->refused, 1);
		probe_refuse(pool, pool->name, priority);
		return NULL;
	}

	struct place *place = place_of(pool, slot);
	/* relaxed: the slot is ours (P2). */
	const uint64_t state = load_relaxed(&place->word);
	const uint32_t record = state_record(state) ? state_record(state) : place_take(&pool->tournament.spares, place);
	const struct contender mine = {priority, next_stamp(pool), 0, 0, slot};

	plain_written(&pool->owners[slot - 1]);
	pool->owners[slot - 1] = owner;
	tournament_fill(&pool->tournament, place, record, &mine);
	/* release, edge RECORD: a call that looks at the slot by this handle.  (No order with contenders: it is none.) */
	store_release(&place->word, state_next(state, STATE_NEW, record));
	*handle_out = handle_of(&mine);
	return object_of(pool, slot);
}

lfpool_status_t lfpool_priority_publish(pool_t *pool, lfpool_handle_t handle)
{
	struct contender mine;
	uint64_t next;

	IF_PLAIN(publish(pool, handle));
	/* A retry means that the slot's state has changed: another has published or released it. */
	do {
		if (!find(pool, handle, is_new, &mine))
			return LFPOOL_E_STALE;
		next = state_next(mine.state, STATE_ACTIVE, state_record(mine.state));
	} while (!change(pool, &mine, next));
	mine.name = name_of(mine.slot, next);
	tournament_offer(&pool->tournament, &mine);
	return LFPOOL_OK;
}

lfpool_status_t lfpool_priority_release(pool_t *pool, lfpool_handle_t handle)
{
	struct contender mine;

	IF_PLAIN(release(pool, handle));
	/* A retry means that the slot's state has changed. */
	while (find(pool, handle, is_active_or_new, &mine)) {
		const uint64_t pins = is_active(mine.state) ? mine.state & STATE_PINS_MASK : 0;

		if (!change(pool, &mine, state_next(mine.state, pins, state_record(mine.state))))
			continue;
		if (state_contends(mine.state))
			tournament_withdraw(&pool->tournament, mine.slot);
		if (!pins)
			put_back(pool, mine.slot);
		return LFPOOL_OK;
	}
	return LFPOOL_E_STALE;
}

/* The slot gets a record with another priority, and `mine` is what it contends with then.  False: its state is not what
 * `mine` says any more. */
static bool replace(pool_t *pool, struct contender *mine, uint64_t priority)
{
	struct tournament *t = &pool->tournament;
	struct place *place = place_of(pool, mine->slot);
	struct contender changed = *mine;
	const uint32_t record = place_take(&t->spares, place), old = state_record(mine->state);

	changed.key = priority;
	changed.state = state_next(mine->state, mine->state & (STATE_ACTIVE | STATE_PINS_MASK), record);
	changed.name = name_of(mine->slot, changed.state);
	tournament_fill(t, place, record, &changed);

	const bool replaced = change(pool, mine, changed.state);

	place_give(&t->spares, place, replaced ? old : record);
	if (replaced)
		*mine = changed;
	return replaced;
}

lfpool_status_t lfpool_priority_update(pool_t *pool, lfpool_handle_t handle, uint64_t priority)
{
	struct contender mine;

	IF_PLAIN(update(pool, handle, priority));
	/* A retry means that the slot's state has changed. */
	do {
		if (!find(pool, handle, is_active, &mine))
			return LFPOOL_E_STALE;
	} while (mine.key != priority && !replace(pool, &mine, priority));
	/* Also if it had that priority: who gave it may not have come so far yet. */
	if (state_contends(mine.state))
		tournament_offer(&pool->tournament, &mine);
	return LFPOOL_OK;
}

/* ---- Pins ---- */

void *lfpool_priority_pin(pool_t *pool, lfpool_handle_t handle)
{
	struct contender mine;

	IF_PLAIN(pin(pool, handle));
	/* A retry means that the slot's state has changed. */
	while (find(pool, handle, is_active, &mine) && state_pins(mine.state) < PINS_MAX) {
		if (!change(pool, &mine, mine.state + STATE_PIN))
			continue;
		if (state_contends(mine.state))
			tournament_withdraw(&pool->tournament, mine.slot);
		return object_of(pool, mine.slot);
	}
	return NULL;
}

lfpool_status_t lfpool_priority_unpin(pool_t *pool, lfpool_handle_t handle)
{
	struct contender mine;

	IF_PLAIN(unpin(pool, handle));
	/* A retry means that the slot's state has changed. */
	while (find(pool, handle, is_pinned_or_active, &mine)) {
		const uint32_t pins = state_pins(mine.state);
		/* With the last pin a new version begins (F1). */
		const uint64_t next = pins > 1 ? mine.state - STATE_PIN
					       : state_next(mine.state, mine.state & STATE_ACTIVE, state_record(mine.state));

		if (!pins)
			return LFPOOL_E_NOT_PINNED;
		if (!change(pool, &mine, next))
			continue;
		if (pins == 1 && next & STATE_ACTIVE) {
			mine.name = name_of(mine.slot, next);
			tournament_offer(&pool->tournament, &mine);
		} else if (pins == 1) {
			put_back(pool, mine.slot);
		}
		return LFPOOL_OK;
	}
	return LFPOOL_E_STALE;
}

/* ---- The least ---- */

size_t lfpool_priority_release_min(pool_t *pool, size_t count)
{
	unsigned failures = 0;
	size_t released = 0;

	IF_PLAIN(release_min(pool, count));
	while (released < count) {
		const struct contender first = tournament_first(&pool->tournament);

		if (!first.slot)
			break;
		/* A retry means that another has taken, pinned or changed it. */
		if (!change(pool, &first, taken(&first))) {
			back_off(&failures);
			continue;
		}
		tell_evicted(pool, &first, object_of(pool, first.slot));
		let_go(pool, first.slot, taken(&first));
		put_back(pool, first.slot);
		released++;
	}
	return released;
}

lfpool_handle_t lfpool_priority_peek_min(pool_t *pool, uint64_t *priority_out)
{
	IF_PLAIN(peek_min(pool, priority_out));
	const struct contender first = tournament_first(&pool->tournament);

	if (!first.slot)
		return 0;
	if (priority_out)
		*priority_out = first.key;
	return handle_of(&first);
}

/* ---- Questions ---- */

bool lfpool_priority_is_active(const pool_t *pool, lfpool_handle_t handle)
{
	struct contender found;

	return find(pool, handle, is_active, &found);
}

void *lfpool_priority_look(const pool_t *pool, lfpool_handle_t handle)
{
	struct contender found;

	/* An object of the allocator's may be gone by the time that it is read. */
	if (pool->backend == LFPOOL_BACKEND_MALLOC)
		return NULL;
	return find(pool, handle, is_active, &found) ? object_of(pool, found.slot) : NULL;
}

bool lfpool_priority_get(const pool_t *pool, lfpool_handle_t handle, uint64_t *priority_out)
{
	struct contender found;

	if (!find(pool, handle, is_active, &found))
		return false;
	*priority_out = found.key;
	return true;
}

/* Pins what is active in the slot; 0: nothing, or it cannot be pinned. */
static lfpool_handle_t pin_slot(pool_t *pool, uint32_t slot, uint64_t *priority_out)
{
	IF_PLAIN(pin_slot(pool, slot, priority_out));
	for (;;) {
		struct contender c;
		/* acquire, edge RECORD. */
		const uint64_t state = load_acquire(&place_of(pool, slot)->word);

		if (!(state & STATE_ACTIVE) || state_pins(state) >= PINS_MAX)
			return 0;
		/* A retry means that the slot's state has changed. */
		if (!tournament_look(&pool->tournament, slot, state, &c) || !change(pool, &c, state + STATE_PIN))
			continue;
		if (state_contends(state))
			tournament_withdraw(&pool->tournament, slot);
		*priority_out = c.key;
		return handle_of(&c);
	}
}

size_t lfpool_priority_for_each(pool_t *pool, lfpool_priority_visit_t visit, void *context)
{
	size_t visited = 0;
	bool more = true;

	for (uint32_t slot = 1; more && slot <= pool->tournament.count; slot++) {
		uint64_t priority;
		const lfpool_handle_t handle = pin_slot(pool, slot, &priority);

		if (!handle)
			continue;
		visited++;
		more = visit(context, pool->backend ? plain_object(pool, slot) : object_of(pool, slot), handle, priority);
		(void)lfpool_priority_unpin(pool, handle);
	}
	return visited;
}
