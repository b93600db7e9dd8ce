/* SPDX-License-Identifier: MIT */
/*
 * check.c - lfpool_check(): the invariants that the headers of src/ name, evaluated.
 *
 * Idea         The core is walked in check_core.c, and the slots are checked here.  In the
 *              end the sums must agree: the identity of lfpool_stats(), and the count of lfpool_active_count(), which
 *              knows nothing of the states.
 */
#include "api/check.h"

#include "base/text.h"
#include "core/cold.h"
#include "object/lifecycle.h"
#include "pool/misuse.h"
#include "pool/slots.h"
#include "os/os.h"
#include "retire/retired.h"

#include <string.h>

/* ---- Bits ---- */

bool check_open(struct check *c, const struct arena *arena, size_t used, size_t others, unsigned char *bits)
{
	const size_t bytes = check_bytes(used, others);

	*c = (struct check){.arena = arena, .used = used, .slots = bits, .of_heap = !bits};
	if (c->of_heap)
		c->slots = os_heap_aligned(_Alignof(max_align_t), bytes);
	if (!c->slots)
		return false;
	memset(c->slots, 0, bytes);
	c->others = c->slots + check_slot_bytes(used);
	return true;
}

void check_close(struct check *c)
{
	if (c->of_heap)
		os_heap_free(c->slots);
}

bool check_marked(const unsigned char *bits, size_t index)
{
	return bits[index / 8] >> index % 8 & 1;
}

bool check_mark(unsigned char *bits, size_t index)
{
	const bool before = check_marked(bits, index);

	bits[index / 8] = (unsigned char)(bits[index / 8] | 1u << index % 8);
	return before;
}

/* ---- Slots ---- */

const char *check_free(struct check *c, uint32_t slot)
{
	c->where = (size_t)slot - 1;
	if (slot < 1 || slot > c->arena->face.slots)
		return "H5: what stands among the free slots is the number of none";
	if (slot > c->used)
		return "C1: a slot that was never used lies among the free ones";
	if (check_mark(c->slots, slot))
		return "C1: a free slot lies in two places";
	c->met++;
	if (arena_is_active(c->arena, slot))
		return "A1: an object that is in use lies among the free ones";
	return NULL;
}

const char *check_held_back(struct check *c, const struct lifecycle *lifecycle)
{
	const char *violated = NULL;
	uint32_t place = 0, slot;

	while (!violated && (slot = debug_next_held_back(lifecycle_debug(lifecycle), &place)))
		violated = check_free(c, slot);
	return violated;
}

/* `count` slots from `first` on, linked to each other; `closed`: the last links to none. */
static const char *check_retired_list(struct check *c, const struct retired *retired, uint32_t first, uint32_t count)
{
	uint32_t slot = first;

	for (uint32_t left = count; left; left--) {
		const char *violated = check_free(c, slot);

		if (violated)
			return violated;
		if (!retired_has(retired, slot))
			return "R1: a retired slot does not say so";
		slot = retired_below(retired, slot);
	}
	return slot ? "R1: a list of retired slots is longer than its count" : NULL;
}

const char *check_retired(struct check *c, const struct retired *retired)
{
	const char *violated = NULL;
	size_t left = 0;

	for (uint32_t i = 0; retired && i < retired->shards && !violated; i++) {
		const struct retired_shard *shard = &retired->shard[i];
		/* relaxed, here and below: no call is under way. */
		const uint64_t word = load_relaxed(&shard->word);
		const uint32_t with_scheme = load_relaxed(&shard->with_scheme);

		c->where = SIZE_MAX;
		if (!shard_phase(word) && (word || with_scheme))
			return "R2: an idle shard has retired slots";
		violated = check_retired_list(c, retired, (uint32_t)word, shard_count(word));
		if (!violated && with_scheme)
			violated = check_retired_list(c, retired, shard->batch.first, with_scheme);
		left += (size_t)shard_count(word) + with_scheme;
	}
	for (size_t slot = 1; retired && slot <= c->used && !violated; slot++)
		left -= retired_has(retired, (uint32_t)slot);
	c->where = violated ? c->where : SIZE_MAX;
	return violated || !left ? violated : "R1: more slots say that they are retired than are";
}

const char *check_cold(struct check *c, const struct cold *cold, size_t from_chunks)
{
	/* relaxed, here and below: no call is under way. */
	const uint64_t opened = load_relaxed(&cold->opened), capacity = cold_capacity(cold);
	const char *violated = NULL;
	uint64_t found = 0;

	c->fresh = from_chunks;
	c->fresh_end = (size_t)cold->initial;
	for (uint64_t word = 0; word < (opened + 63) / 64; word++) {
		uint64_t bits = cold_look(cold, word);

		if (word == opened / 64)
			bits &= (UINT64_C(1) << opened % 64) - 1;
		for (; bits && !violated; bits &= bits - 1, found++)
			violated = check_free(c, (uint32_t)(word * 64 + (unsigned)__builtin_ctzll(bits) + 1));
		if (violated)
			return violated;
	}
	c->where = SIZE_MAX;
	if (opened > cold->reserved || capacity > opened)
		return "O2: there are more objects than pages for them";
	return found == cold_allowed(cold) + opened - capacity ? NULL
							       : "O1: the cold store does not have as many slots as it counts";
}

const char *check_rest(struct check *c)
{
	const struct arena *arena = c->arena;
	/* Of those never used as many again, so that the cost stays in proportion to what was used. */
	const size_t unused = (size_t)arena->face.slots - c->used, look = unused < c->used + 1 ? unused : c->used + 1;

	for (size_t slot = 1; slot <= c->used; slot++) {
		/* relaxed: no call is under way. */
		const uint8_t state = load_relaxed(&arena->face.state[slot]);

		c->where = slot - 1;
		if (state != 0 && state != LFPOOL_ACTIVE && state != LFPOOL_MARKED)
			return "A1: a state is none";
		const uint64_t word = arena_generation(arena, (uint32_t)slot);
		const bool pending = generation_is_pending(word);

		if (generation_phase(word) >= GENERATION_LEAVING)
			return "A3: a generation is leaving, though no call is under way";
		if (state == LFPOOL_MARKED && !generation_is_live(word) && !pending)
			return "A3: an object is marked, and its generation is dead";
		if (pending && (state != LFPOOL_MARKED || !generation_pins(word)))
			return "A4: an object that was released while it was pinned has no pins left, or is free";
		if (generation_phase(word) == GENERATION_DEAD && generation_pins(word))
			return "A4: a dead generation has pins";
		if (!check_marked(c->slots, slot) && !arena_is_active(arena, (uint32_t)slot) &&
		    !(slot > c->fresh && slot <= c->fresh_end))
			return "C1: a free slot lies nowhere";
	}
	for (size_t slot = c->used + 1; slot <= c->used + look; slot++) {
		c->where = slot - 1;
		/* relaxed, both: no call is under way. */
		if (load_relaxed(&arena->face.state[slot]) || load_relaxed(&arena->generation[slot]))
			return "A1: the state of a slot that was never used is not as it was made";
	}
	c->where = SIZE_MAX;
	return load_relaxed(&arena->face.state[0]) ? "A1: slot 0, which is none, has a state" : NULL;
}

/* ---- All of it ---- */

static const char *check_sums(const lfpool_t *pool)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	(void)lfpool_stats(pool, &stats);
	if (stats.unaccounted)
		return "I1: capacity = active + retired + cached + shared + untouched does not hold";
	if (stats.active + stats.retired != slots_out(pool))
		return "I1: the states and lfpool_active_count() do not agree";
	if (stats.caches_in_use > stats.caches)
		return "T1: more caches are in use than there are";
	return NULL;
}

const char *lfpool_check(const lfpool_t *pool, size_t *where_out)
{
	size_t where = SIZE_MAX;
	const char *violated = check_core(pool, &where);

	if (!violated) {
		where = SIZE_MAX;
		violated = check_sums(pool);
	}
	if (where_out)
		*where_out = where;
	return violated;
}

void check_last(lfpool_t *pool)
{
	const struct debug_home home = misuse_home(pool);
	size_t where = SIZE_MAX;
	const char *violated = lfpool_check(pool, &where);

	if (violated && strcmp(violated, CHECK_NO_MEMORY) != 0)
		misuse_invariant(&home, violated, where);
}
