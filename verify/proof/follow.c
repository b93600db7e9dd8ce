/* SPDX-License-Identifier: MIT */
/*
 * follow.c - checks that each operation of the explorer's executions is a move of the table.
 *
 * Idea         moves.inc is the table in C (generate.py).  An execution begins in the state of the pool's memory.
 *              The word of an operation, its old and new values, and the place of the magazine decide which move it
 *              is, or none.  The move's preconditions must hold, and its words must then be equal to those in memory;
 *              otherwise the execution fails.  Moves without a word (an acquire returns, a release begins) are made
 *              at the latest possible moment.
 * NULL         An acquire that returns NULL must have read all that the table requires of a collect, found no object,
 *              and found none before with the same sums.
 * Threads      A thread moves as the cache that it claimed or wrote last; before that, as a separate empty cache.  A
 *              waiting cell does the same.
 * Not here     Weak memory: a load reads the last store.
 * Controls     LFPOOL_FOLLOW_BLIND=KIND: operations of one kind are ignored; LFPOOL_FOLLOW_STRONG=NAME: a move has an
 *              additional precondition, from `strengthened`.  The follower must fail.
 */
#include "stage.h"

#include "pool/slots.h"
#include "follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHES 36
#define MAGAZINES 128
#define STACKS 112
#define REGIONS 4
#define CELLS 8
#define SLOTS 24
#define POSITIONS_KEPT 32

static struct {
	int32_t caches, magazines, stacks, slots, regions;
} size_now;

/* A kind of slot in the table, an attribute in the library. */
#undef COLD
#include "moves.inc"

enum word_kind { NO_WORD, CACHE, HEAD, CARVED, SPARED, COUNT, MAGAZINE, ENTRY, COLD_COUNTS, COLD_BITS, CELL };
enum field { CURRENT_WORD, TRANSIT_WORD, CLAIMED_WORD, TOP, BOTTOM, NEXT, NUMBER };

struct word {
	enum word_kind kind;
	enum field field;
	int32_t index;  /* of the cache, magazine, stack or region */
	uint32_t place; /* of the entry, of the word of bits */
};

struct collect {
	int32_t cache;
	bool nothing, no_cold, whole; /* only cold slots; not even those */
	uint32_t count, heads, carved,
		magazine_words; /* read so far: of the shards; of one magazine (top, bottom, top) */
	uint64_t words_read, top, bottom;
	struct sums sums;
};

#define KEPT_SUMS 16
static const struct core *core;
static bool following;
static int32_t acts_as[THREADS_MAX];
static unsigned belongs_to[CACHES];
/* The words that a thread has read in its present collect; the last complete one of its call. */
static struct collect collects[THREADS_MAX], said[THREADS_MAX];
static struct sums nothing[CACHES][KEPT_SUMS];
static uint32_t nothings[CACHES];
static uint64_t operations, executions;

/* ---- Words of memory ---- */

static uint64_t raw(const volatile void *address, unsigned bytes)
{
	uint64_t value = 0;

	memcpy(&value, (const void *)address, bytes);
	return value;
}
#define RAW(p) raw((p), sizeof(*(p)))

static int32_t number_in(uint64_t word)
{
	return (int32_t)tagged_number(word);
}

static struct cache *the_cache(int32_t c)
{
	uint32_t left;

	return cache_at(core, (uint32_t)c, &left);
}

/* Numbers of stacks: those of the shards, in the order of their sorts; then the full and the empty stack of each
 * cache. */
#define SHARD_STACKS 3

static int32_t own_stacks(void)
{
	return SHARD_STACKS * (int32_t)core->depot.shards;
}

static const struct stack *stack_at(int32_t s)
{
	if (s >= own_stacks()) {
		static const struct stack unmapped;
		const int32_t index = (s - own_stacks()) / 2;
		const struct cache *c = the_cache(index);

		if (index >= LOT_CACHES && !RAW(&core->table.lot[1]))
			return &unmapped;
		return (s - own_stacks()) % 2 ? &c->empty : &c->full;
	}
	const struct shard *shard = &core->depot.shard[s / SHARD_STACKS];

	return s % SHARD_STACKS == FULL ? &shard->full : s % SHARD_STACKS == PARTIAL ? &shard->partial : &shard->empty;
}

static bool within(const char *address, uint64_t base, size_t bytes, size_t *offset_out)
{
	*offset_out = (size_t)(address - (const char *)(uintptr_t)base);
	return base && address >= (const char *)(uintptr_t)base && *offset_out < bytes;
}

static struct word in_magazine(int32_t number, size_t offset)
{
	static const enum field fields[] = {TOP, BOTTOM, NEXT, NUMBER};

	if (offset < sizeof(struct lfpool_magazine))
		return (struct word){MAGAZINE, fields[offset / 8], number, 0};
	return (struct word){ENTRY, 0, number,
			     (uint32_t)((offset - sizeof(struct lfpool_magazine)) / sizeof(uintptr_t))};
}

static struct word in_cache(int32_t index, size_t offset)
{
	const size_t at[] = {offsetof(struct cache, current_word), offsetof(struct cache, in_transit),
			     offsetof(struct cache, claimed)};
	const size_t heads[] = {offsetof(struct cache, full.head), offsetof(struct cache, empty.head)};

	for (unsigned i = 0; i < 3; i++)
		if (offset == at[i])
			return (struct word){CACHE, (enum field)(CURRENT_WORD + i), index, 0};
	for (int32_t i = 0; i < 2; i++)
		if (offset == heads[i])
			return (struct word){HEAD, 0, own_stacks() + 2 * index + i, 0};
	return (struct word){0};
}

static struct word in_shard(int32_t index, size_t offset)
{
	static const size_t heads[] = {offsetof(struct shard, full.head), offsetof(struct shard, partial.head),
				       offsetof(struct shard, empty.head)};

	for (int32_t i = 0; i < SHARD_STACKS; i++)
		if (offset == heads[i])
			return (struct word){HEAD, 0, SHARD_STACKS * index + i, 0};
	return (struct word){offset == offsetof(struct shard, carved) ? CARVED : NO_WORD, 0, index, 0};
}

static struct word word_at(const char *address)
{
	const struct magazines *ms = &core->magazines;
	size_t offset;

	if (within(address, (uintptr_t)ms->chunk_base, (ms->chunks + ms->spares) * ms->bytes, &offset))
		return in_magazine((int32_t)(offset / ms->bytes) + 1, offset % ms->bytes);
	for (unsigned lot = 0, first = 0; lot < 2; first += LOT_CACHES << lot++) {
		if (within(address, RAW(&core->table.lot[lot]), ((size_t)LOT_CACHES << lot) * sizeof(struct cache),
			   &offset))
			return in_cache((int32_t)(first + offset / sizeof(struct cache)),
					offset % sizeof(struct cache));
		if (within(address, RAW(&ms->extra_lot[lot]), ((size_t)LOT_CACHES << lot) * EXTRA_PER_CACHE * ms->bytes,
			   &offset))
			return in_magazine(
				(int32_t)(ms->chunks + ms->spares + 1 + first * EXTRA_PER_CACHE + offset / ms->bytes),
				offset % ms->bytes);
	}
	if (within(address, (uintptr_t)core->depot.shard, core->depot.shards * sizeof(struct shard), &offset))
		return in_shard((int32_t)(offset / sizeof(struct shard)), offset % sizeof(struct shard));
	if (within(address, (uintptr_t)stage.pool->waiters.first, CELLS * sizeof(struct cell), &offset) &&
	    offset % sizeof(struct cell) == 0)
		return (struct word){CELL, 0, size_now.caches - CELLS + (int32_t)(offset / sizeof(struct cell)), 0};
	if (within(address, (uintptr_t)core->cold.bits, cold_bytes(core->cold.reserved), &offset))
		return (struct word){COLD_BITS, 0, 0, (uint32_t)(offset / 8)};
	return (struct word){address == (char *)&core->depot.spared  ? SPARED
			     : address == (char *)&core->table.count ? COUNT
			     : address == (char *)&core->cold.counts ? COLD_COUNTS
								     : NO_WORD,
			     0, 0, 0};
}

static int64_t ahead(uint64_t bottom, uint64_t top)
{
	return LFPOOL_AHEAD_(bottom, top);
}

/* ---- The state of memory ---- */

/* The objects in an unused chunk. */
static int64_t magazine_size(int32_t m)
{
	const int64_t left = (int64_t)core->cold.initial - (m - 1) * w.slots;

	return left < 0 ? 0 : left < w.slots ? left : w.slots;
}

static void show_magazine(int32_t m)
{
	static const struct lfpool_magazine unmapped;
	const uint32_t beyond = core->magazines.chunks + core->magazines.spares + EXTRA_PER_CACHE * LOT_CACHES;
	const struct lfpool_magazine *at = (uint32_t)m <= beyond || RAW(&core->magazines.extra_lot[1])
						   ? magazines_at(&core->magazines, (uint32_t)m)
						   : &unmapped;
	const uint64_t top = magazine_top(RAW(&at->top)), bottom = RAW(&at->bottom);
	const int32_t chunks = (int32_t)core->magazines.chunks, spares = (int32_t)core->magazines.spares;

	w.num[m] = m;
	w.size[m] = magazine_size(m);
	for (int32_t g = 0; g < size_now.regions; g++)
		if (m > (int32_t)core->depot.shard[g].before && m <= chunks) {
			w.region[m] = g;
			w.nth[m] = m - (int32_t)core->depot.shard[g].before;
		}
	w.made[m] = RAW(&at->number) != 0;
	w.top[m] = (int64_t)top;
	w.bottom[m] = (int64_t)top + (w.made[m] || bottom ? ahead(bottom, top) : m <= chunks ? (int64_t)w.slots : 0);
	w.ceil[m] = w.bottom[m];
	w.place[m] = m <= chunks            ? (w.nth[m] > w.carved[w.region[m]] ? CHUNK : NOWHERE)
		     : m <= chunks + spares ? (m - chunks > (int32_t)RAW(&core->depot.spared) ? SPARE : NOWHERE)
		     : w.made[m]            ? NOWHERE
					    : UNBORN;
	w.extra[m] = m > chunks + spares ? (m - chunks - spares - 1) / EXTRA_PER_CACHE : 0;
	for (int64_t p = w.top[m]; p < w.bottom[m]; p++) {
		const uint32_t place = magazine_place_of((uint64_t)p, core->magazines.slots);
		uintptr_t object = RAW(&at->entry[place]);
		const uint32_t slot = arena_slot(
			&core->arena, object ? object : magazines_born(&core->magazines, (uint32_t)m, place));

		w.entry[m][p % POSITIONS_KEPT] = (int32_t)slot;
		w.kind[slot] = IN;
		w.inside[slot] = m;
		w.pos[slot] = p;
	}
}

static void show_cache(int32_t c)
{
	struct cache *at = the_cache(c);

	w.born[c] = RAW(&at->born);
	w.brought[c] = w.born[c] ? EXTRA_PER_CACHE : 0;
	w.user[c] = RAW(&at->claimed);
	w.cur[c] = number_in(RAW(&at->current_word));
	w.tcur[c] = (int64_t)(RAW(&at->current_word) >> TAGGED_NUMBER_BITS);
	w.transit[c] = number_in(RAW(&at->in_transit));
	w.ttransit[c] = (int64_t)(RAW(&at->in_transit) >> TAGGED_NUMBER_BITS);
	w.place[w.cur[c]] = CURRENT;
	w.holder[w.cur[c]] = c;
	if (at->exhausted.words)
		nothing[c][nothings[c]++] = at->exhausted;
}

static void show_stack(int32_t s)
{
	const struct stack *stack = stack_at(s);

	w.sort[s] = s < own_stacks() ? s % SHARD_STACKS : (s - own_stacks()) % 2 ? EMPTY : FULL;
	w.own[s] = s >= own_stacks();
	w.of[s] = w.own[s] ? (s - own_stacks()) / 2 : 0;
	w.head[s] = number_in(RAW(&stack->head));
	w.tag[s] = (int64_t)(RAW(&stack->head) >> TAGGED_NUMBER_BITS);
	for (int32_t m = w.head[s]; m; m = w.next[m]) {
		const uint64_t link = RAW(&magazines_at(&core->magazines, (uint32_t)m)->next);

		w.place[m] = STACK;
		w.on[m] = s;
		w.next[m] = (int32_t)link_below(link);
		w.depth[m] = link_depth(link);
		/* An order that agrees with that on the stack. */
		w.time[m] = w.clock + w.depth[m];
	}
	w.clock += w.head[s] ? w.depth[w.head[s]] + 1 : 0;
}

/* Earlier thefts from full magazines, charged to caches that may have made them. */
static void show_charges(void)
{
	for (int32_t n = 0; n < size_now.magazines; n++) {
		int64_t left = lies_full(n) ? gap(n) : 0;

		for (int32_t c = 0; c < size_now.caches; c++) {
			w.charge[n][c] = !w.born[c] ? 0 : left < w.slots ? left : w.slots;
			left -= w.charge[n][c];
		}
	}
}

static void must_all_hold(void)
{
	const char *broken = sentence_broken();

	if (broken)
		engine_fail("not as the table: %s does not hold", broken);
}

/* From now on a move has an additional precondition. */
static void strengthen(const char *name)
{
	for (unsigned i = 0; name && i < sizeof(strong_names) / sizeof(strong_names[0]); i++)
		if (strcmp(name, strong_names[i]) == 0)
			strong = (int)i;
}

void follow_begin(void)
{
	static const struct scenario *begun;
	const struct scenario *scenario = stage.scenario;

	following = stage.pool && !strchr(scenario->setup, '<');
	for (unsigned t = 0; t < 3; t++)
		following &= !scenario->threads[t] || !strchr(scenario->threads[t], '<');
	if (!following)
		return;
	core = &stage.pool->core;
	const struct magazines *ms = &core->magazines;
	const int32_t count = (int32_t)RAW(&core->table.count);

	memset(&w, 0, sizeof(w));
	memset(collects, 0, sizeof(collects));
	memset(said, 0, sizeof(said));
	memset(belongs_to, 0xff, sizeof(belongs_to));
	memset(nothings, 0, sizeof(nothings));
	size_now.caches = count + 2 * THREADS_MAX + CELLS;
	size_now.magazines = (int32_t)(ms->chunks + ms->spares + EXTRA_PER_CACHE * (uint32_t)(count + THREADS_MAX)) + 1;
	size_now.regions = (int32_t)core->depot.shards;
	size_now.stacks = own_stacks() + 2 * (count + THREADS_MAX);
	size_now.slots = (int32_t)core->cold.reserved + 1;
	if (size_now.caches > CACHES || size_now.magazines > MAGAZINES || size_now.stacks > STACKS ||
	    size_now.slots > SLOTS || size_now.regions > REGIONS)
		engine_fail("a limit of the follower: %d caches, %d magazines, %d slots", size_now.caches,
			    size_now.magazines, size_now.slots);
	if (!executions++)
		strengthen(getenv("LFPOOL_FOLLOW_STRONG"));
	w.slots = ms->slots;
	w.chunks = ms->chunks;
	w.spares = ms->spares;
	w.short_at_first = (int64_t)ms->chunks * ms->slots - (int64_t)core->cold.initial;
	for (int32_t g = 0; g < size_now.regions; g++) {
		w.carved[g] = (int64_t)RAW(&core->depot.shard[g].carved);
		w.extent[g] = core->depot.shard[g].chunks;
	}
	uint64_t allowed = cold_allowed_in(RAW(&core->cold.counts));

	w.kind[0] = USED;
	w.native[0] = true;
	for (int32_t o = 1; o < size_now.slots; o++) {
		const bool bit = RAW(&core->cold.bits[(o - 1) / 64]) >> (o - 1) % 64 & 1;

		w.native[o] = (uint64_t)o <= core->cold.initial;
		w.kind[o] = bit == w.native[o] ? COLD : USED;
		if (w.kind[o] == COLD && allowed && (uint64_t)o <= RAW(&core->cold.opened)) {
			w.lot[o] = ALLOWED;
			allowed--;
		}
	}
	for (int32_t m = 1; m < size_now.magazines; m++)
		show_magazine(m);
	for (int32_t s = 0; s < size_now.stacks; s++)
		show_stack(s);
	for (int32_t c = 0; c < count; c++) {
		w.counted[c] = true;
		show_cache(c);
	}
	w.place[0] = NOWHERE;
	for (int32_t c = count + THREADS_MAX; c < size_now.caches; c++)
		w.user[c] = true;
	for (int32_t c = 0; c < CELLS; c++)
		w.waiting[size_now.caches - CELLS + c] = cell_phase(RAW(&stage.pool->waiters.first[c].word)) == WAITING;
	for (int32_t t = 0; t < THREADS_MAX; t++) {
		const struct cache *own = (struct cache *)stage.actor[t].cache;

		acts_as[t] = own ? (int32_t)own->index : count + THREADS_MAX + t;
		belongs_to[acts_as[t]] = (unsigned)t;
	}
	show_charges();
	if (scenario != begun)
		must_all_hold();
	begun = scenario;
}

/* ---- Moves ---- */

static void moved(int move, const char *why)
{
	if (why)
		engine_fail("no move of the table: %s, which requires: %s", move_names[move], why);
}
#define MOVE(name, ...) moved(MOVE_##name, move_##name(__VA_ARGS__))

static void must(bool holds, const char *what)
{
	if (!holds)
		engine_fail("not as the table: %s", what);
}

/* S1. */
static void must_be_next(uint64_t before, uint64_t after)
{
	must(after == tagged_next(before, tagged_number(after)), "a tag advances by one");
}

/* The slot belongs to this thread's call, after whichever call had it. */
static void get_hold_of(int32_t c, int32_t o)
{
	if (w.kind[o] == HELD && w.by[o] != c)
		MOVE(hand_out, w.by[o], o);
	if (w.kind[o] == USED)
		MOVE(begin_release, c, o);
}

static void owner_looks(int32_t c, int32_t m)
{
	if (!idle(m)) {
		if (!w.racing[m] && w.top[m] < w.bottom[m])
			MOVE(rest, c, m);
		else if (!w.racing[m])
			MOVE(look, c, m);
		else if (w.saw[m] != w.top[m] && w.saw[m] < w.ceil[m])
			MOVE(lose, c, m);
	} else if (known(m) && w.born[c]) {
		if (w.full[c])
			MOVE(forget_full, c);
		if (w.bottom[m] - w.top[m] == w.slots)
			MOVE(see_full, c, m);
	}
}

/* A thread with several caches acts as the owner of the magazine. */
static int32_t owner_is(unsigned t, int32_t m)
{
	const int32_t c = w.holder[m];

	if (owns(c, m) && belongs_to[c] == t)
		acts_as[t] = c;
	return acts_as[t];
}

static void head_is(int32_t c, int32_t s)
{
	if (w.head[s])
		MOVE(peek, c, s);
	else if (!w.full[c])
		MOVE(look_into, c, s);
}

static void load(unsigned t, const struct word *word)
{
	const int32_t i = word->index;
	int32_t c = acts_as[t];

	if (word->kind == CACHE && word->field <= TRANSIT_WORD) {
		const int32_t m = word->field == CURRENT_WORD ? w.cur[i] : w.transit[i];

		if (m)
			MOVE(read_word, c, i, m);
	} else if (word->kind == HEAD) {
		head_is(c, i);
	} else if (word->kind == CARVED && w.carved[i] >= w.extent[i]) {
		MOVE(look_chunks, c, i);
	} else if (word->kind == COUNT) {
		/* C6: the stacks of caches that are not counted are empty. */
		for (int32_t s = own_stacks(); s < size_now.stacks && !w.full[c]; s++)
			if (!w.counted[w.of[s]])
				MOVE(look_into, c, s);
	} else if (word->kind == MAGAZINE && word->field == TOP) {
		if (!idle(i))
			c = owner_is(t, i);
		if (owns(c, i))
			owner_looks(c, i);
		if (w.seen[c][i] && idle(i) | !owns(c, i))
			MOVE(take_note, c, i);
	} else if (word->kind == MAGAZINE && word->field == NEXT && w.peeked[c] && w.pk_m[c] == i) {
		MOVE(link, c);
	} else if (word->kind == ENTRY && w.noted[c][i] && w.fenced[c][i] && w.ok[c][i] &&
		   magazine_place_of((uint64_t)w.note[c][i], core->magazines.slots) == word->place) {
		MOVE(grab, c, i);
	}
}

static void store_bottom(int32_t c, int32_t m, uint64_t before, uint64_t after)
{
	const int64_t k = ahead(after, before), pushes = (int64_t)(magazine_pushes(after) - magazine_pushes(before));

	if (!w.made[m] && !RAW(&magazines_at(&core->magazines, (uint32_t)m)->number) && (m > w.chunks || !before))
		return; /* equal to the value at birth, or about to be */
	if (w.full[c] == m)
		MOVE(forget_full, c);
	if (pushes)
		MOVE(raise_many, c, m, k);
	else if (k < 0)
		MOVE(lower, c, m, -k);
	else if (k)
		MOVE(meet, c, m);
	must(!pushes || pushes == k, "bottom counts a push for each position");
	must(ahead(after, (uint64_t)w.top[m]) == w.bottom[m] - w.top[m], "bottom");
}

static void store_entry(int32_t c, const struct word *word, uint64_t object)
{
	/* The last entries of a short chunk at birth are behind the last slot. */
	const int32_t m = word->index, o = object ? (int32_t)arena_slot_of(&core->arena, (void *)(uintptr_t)object) : 0;
	int64_t p = w.bottom[m];

	if (!w.made[m] && !RAW(&magazines_at(&core->magazines, (uint32_t)m)->number)) {
		must(object == magazines_born(&core->magazines, (uint32_t)m, word->place), "an entry by birth");
		return;
	}
	while (magazine_place_of((uint64_t)p, core->magazines.slots) != word->place)
		p++;
	get_hold_of(c, o);
	MOVE(lay, c, m, o, p);
}

static void store(unsigned t, const struct word *word, uint64_t before, uint64_t after)
{
	const int32_t i = word->index, n = number_in(after);
	int32_t c = acts_as[t];

	if (word->kind == CACHE) {
		acts_as[t] = c = i;
		if (word->field == TRANSIT_WORD)
			MOVE(announce, c, n);
		else if (word->field == CURRENT_WORD)
			MOVE(install, c, n, w.cur[c]);
		if (word->field != CLAIMED_WORD) {
			must_be_next(before, after);
		} else {
			for (int32_t o = 1; o < size_now.slots; o++)
				if (w.kind[o] == HELD && w.by[o] == c)
					MOVE(hand_out, c, o);
			MOVE(give_up, c);
			const struct cache *own = (struct cache *)stage.actor[t].cache;

			acts_as[t] = own && (int32_t)own->index != c
					     ? (int32_t)own->index
					     : size_now.caches - CELLS - THREADS_MAX + (int32_t)t;
		}
	} else if (word->kind == MAGAZINE && word->field == BOTTOM) {
		store_bottom(owner_is(t, i), i, before, after);
	} else if (word->kind == MAGAZINE && word->field == TOP && w.made[i]) {
		MOVE(come_home, c, i, (int64_t)after);
	} else if (word->kind == MAGAZINE && word->field == NUMBER) {
		if (w.place[i] == UNBORN)
			MOVE(make, c, i);
		else if (i > w.chunks)
			MOVE(make_spare, c, i);
		else
			w.made[i] = true; /* which means the same as 0 */
	} else if (word->kind == CELL && cell_phase(after) == WAITING) {
		MOVE(wait, i);
	} else if (word->kind == ENTRY) {
		store_entry(owner_is(t, i), word, after);
	}
}

static int32_t cold_slot(int lot, int32_t by)
{
	for (int32_t o = 1; o < size_now.slots; o++)
		if (w.kind[o] == COLD && w.lot[o] == lot && (lot != TAKEN || w.by[o] == by))
			return o;
	engine_fail("not as the table: a cold slot that is counted");
	return 0;
}

static void cold_counts(int32_t c, uint64_t before, uint64_t after)
{
	int64_t capacity = (int64_t)cold_capacity_in(after) - (int64_t)cold_capacity_in(before);
	int64_t allowed = (int64_t)cold_allowed_in(after) - (int64_t)cold_allowed_in(before);

	for (; allowed < 0 && capacity < 0; allowed++, capacity++)
		MOVE(cold_forbid, cold_slot(ALLOWED, c));
	for (; allowed > 0 && capacity > 0; allowed--, capacity--)
		MOVE(cold_grow, cold_slot(KEPT, c));
	for (; allowed < 0; allowed++)
		MOVE(cold_count, c, cold_slot(ALLOWED, c));
	for (; allowed > 0; allowed--)
		MOVE(cold_allow, c, cold_slot(TAKEN, c));
	for (; capacity < 0; capacity++)
		MOVE(cold_withdraw, c, cold_slot(TAKEN, c));
	for (; capacity > 0; capacity--)
		MOVE(cold_borrow, c, cold_slot(KEPT, c));
}

static bool found_no_chunk(int32_t c)
{
	bool dry = true;

	for (int32_t g = 0; g < size_now.regions; g++)
		dry &= w.dry[c][g];
	return dry;
}

static void cold_bits(int32_t c, const struct word *word, uint64_t before, uint64_t after)
{
	for (uint64_t changed = before ^ after; changed; changed &= changed - 1) {
		const int32_t o = (int32_t)(word->place * 64) + __builtin_ctzll(changed) + 1;

		if (w.kind[o] == COLD) {
			/* No word shows which of the two: a call that could be an acquire counts as one. */
			if (found_no_chunk(c))
				MOVE(cold_bit, c, cold_slot(TAKEN, c), o);
			else
				MOVE(cold_hold, c, cold_slot(TAKEN, c), o);
		} else {
			get_hold_of(c, o);
			MOVE(cold_put_bit, c, o);
		}
	}
}

static void swap_head(int32_t c, int32_t s, uint64_t before, uint64_t after)
{
	const int32_t old = number_in(before), new = number_in(after);

	must_be_next(before, after);
	if (old == new) {
		MOVE(touch, s);
	} else if (new && owns(c, new)) {
		if (w.sort[s] == FULL)
			MOVE(push_full, c, s, new);
		else
			MOVE(push, c, s, new);
		if (!w.born[c] && w.brought[c] == EXTRA_PER_CACHE && held(c) == 1)
			MOVE(be_born, c);
	} else {
		MOVE(pop, c, s, old);
	}
	must(w.head[s] == new, "the head of a stack");
	must(!new || w.next[new] == (int32_t)link_below(RAW(&magazines_at(&core->magazines, (uint32_t)new)->next)),
	     "a link");
}

static void swap_word(unsigned t, const struct word *word, uint64_t before, uint64_t after)
{
	const int32_t i = word->index, c = acts_as[t];

	if (word->kind == CACHE && word->field == CLAIMED_WORD) {
		MOVE(claim, i);
		acts_as[t] = i;
		belongs_to[i] = t;
	} else if (word->kind == HEAD) {
		swap_head(c, i, before, after);
	} else if (word->kind == CARVED) {
		MOVE(carve, c, (int32_t)core->depot.shard[i].before + (int32_t)after);
	} else if (word->kind == SPARED) {
		MOVE(spare, c, (int32_t)(w.chunks + (int64_t)after));
	} else if (word->kind == COUNT) {
		for (; before < after; before++)
			MOVE(count, (int32_t)before);
	} else if (word->kind == MAGAZINE && (before || after != LFPOOL_HOME_)) {
		/* Otherwise the magazine is being made. */
		if (owns(c, i) && w.racing[i])
			MOVE(win, c, i);
		else
			MOVE(take, c, i, w.grabbed[c][i], w.holder[i]);
		must(w.top[i] == (int64_t)after, "top");
	} else if (word->kind == COLD_COUNTS) {
		cold_counts(c, before, after);
	} else if (word->kind == COLD_BITS) {
		cold_bits(c, word, before, after);
	} else if (word->kind == CELL && cell_phase(after) == GIVEN) {
		get_hold_of(c, (int32_t)cell_slot(after));
		MOVE(give, c, i, (int32_t)cell_slot(after));
	} else if (word->kind == CELL && cell_phase(before) == WAITING) {
		MOVE(stop_waiting, i);
	}
}

/* ---- Collects ---- */

static void collect_magazine_word(struct collect *s, const struct word *word, uint64_t value)
{
	const struct lfpool_magazine *m = magazines_at(&core->magazines, (uint32_t)word->index);
	const bool last = s->magazine_words == 2;

	if (word->field == BOTTOM)
		s->bottom = value || RAW(&m->number) ? value : magazine_limit(core->magazines.slots);
	else if (word->field == TOP && !last)
		s->top = magazine_top(value);
	if (word->field == (s->magazine_words == 1 ? BOTTOM : TOP))
		s->magazine_words = (s->magazine_words + 1) % 4;
	if (!last || s->magazine_words != 3)
		return;
	s->magazine_words = 4;
	s->sums.pushes += magazine_pushes(s->bottom);
	s->nothing &= s->top == magazine_top(value) && ahead(s->bottom, s->top) <= 0;
}

/* A load of a collect.  The load of the cold store's count begins a new one. */
static void collect(unsigned t, const struct word *word, uint64_t value)
{
	struct collect *s = &collects[t];

	if (word->kind == COLD_COUNTS) {
		*s = (struct collect){
			.cache = acts_as[t], .nothing = true, .no_cold = !cold_allowed_in(value), .magazine_words = 4};
	} else if (s->whole) {
		return;
	} else if (word->kind == COUNT) {
		s->count = (uint32_t)value;
	} else if (word->kind == HEAD && s->count && w.sort[word->index] != EMPTY &&
		   !(w.own[word->index] && (uint32_t)w.of[word->index] >= s->count)) {
		if (w.own[word->index])
			s->words_read |= UINT64_C(1) << (w.of[word->index] * 3 + 2);
		else
			s->heads++;
		s->nothing &= s->magazine_words == 4 && !tagged_number(value);
		s->sums.words += value;
	} else if (word->kind == CARVED && s->count) {
		s->carved++;
		s->nothing &= value >= core->depot.shard[word->index].chunks;
	} else if (word->kind == CACHE && s->count && word->field <= TRANSIT_WORD && (uint32_t)word->index < s->count) {
		s->nothing &= s->magazine_words == 4; /* of the magazine in the word before */
		s->words_read |= UINT64_C(1) << (word->index * 3 + (int)word->field);
		s->sums.words += value;
		s->magazine_words = tagged_number(value) ? 0 : 4;
	} else if (word->kind == MAGAZINE && s->magazine_words < 3) {
		collect_magazine_word(s, word, value);
	}
	if (s->count && s->words_read == (UINT64_C(1) << s->count * 3) - 1 && s->magazine_words == 4 &&
	    s->heads == 2 * core->depot.shards && s->carved == core->depot.shards) {
		s->whole = true;
		said[t] = *s;
		if (s->nothing)
			nothing[s->cache][nothings[s->cache]++ % KEPT_SUMS] = s->sums;
	}
}

void follow_call(void)
{
	said[engine_thread()] = (struct collect){0};
}

void follow_null(void)
{
	const struct collect *s = &said[engine_thread()];
	uint32_t same = 0;

	if (!following || !engine_running())
		return;
	for (uint32_t i = 0; i < KEPT_SUMS && i < nothings[s->cache]; i++)
		same += nothing[s->cache][i].words == s->sums.words && nothing[s->cache][i].pushes == s->sums.pushes;
	/* Only the second collect must find no cold slot: it has the moment T of the table. */
	must(s->whole && s->nothing && s->no_cold && same >= 2, "two collects that found nothing, with equal sums");
}

/* ---- Operations ---- */

/* Operations to ignore, as if the library did not have them. */
static bool overlooked(enum followed what, const struct word *word)
{
	static const struct {
		const char *name;
		enum followed what;
		enum word_kind kind;
		enum field field;
	} kinds[] = {
		{"announcements", FOLLOW_STORE, CACHE, TRANSIT_WORD},
		{"fences", FOLLOW_FENCE, NO_WORD, 0},
		{"looks-at-top", FOLLOW_LOAD, MAGAZINE, TOP},
		{"looks-at-links", FOLLOW_LOAD, MAGAZINE, NEXT},
		{"looks-for-chunks", FOLLOW_LOAD, CARVED, 0},
		{"looks-at-stacks", FOLLOW_LOAD, HEAD, 0},
		{"counts-of-caches", FOLLOW_LOAD, COUNT, 0},
		{"cold-counts", FOLLOW_SWAP, COLD_COUNTS, 0},
		{"cells", FOLLOW_STORE, CELL, 0},
		{"entries", FOLLOW_STORE, ENTRY, 0},
		{"numbers", FOLLOW_STORE, MAGAZINE, NUMBER},
	};
	static const char *blind;

	if (!blind)
		blind = getenv("LFPOOL_FOLLOW_BLIND") ? getenv("LFPOOL_FOLLOW_BLIND") : "";
	for (unsigned i = 0; *blind && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(blind, kinds[i].name) == 0)
			return what == kinds[i].what && word->kind == kinds[i].kind && word->field == kinds[i].field;
	return false;
}

void follow(enum followed what, const void *address, uint64_t before, uint64_t after)
{
	if (!following || !engine_running())
		return;

	const struct word word = what == FOLLOW_FENCE ? (struct word){0} : word_at(address);
	const unsigned t = engine_thread();

	if (overlooked(what, &word))
		return;
	if (what == FOLLOW_FENCE)
		MOVE(fence, acts_as[t]);
	if (word.kind == NO_WORD)
		return;
	operations++;
	if (what == FOLLOW_LOAD) {
		load(t, &word);
		collect(t, &word, before);
	} else if (what == FOLLOW_STORE) {
		store(t, &word, before, after);
	} else if (what == FOLLOW_SWAP) {
		swap_word(t, &word, before, after);
	} else if (word.kind == HEAD) {
		head_is(acts_as[t], word.index);
	} else if (word.kind == MAGAZINE && owns(acts_as[t], word.index) && w.racing[word.index]) {
		owner_looks(acts_as[t], word.index);
	}
}

/* At the end of an execution. */
void follow_finish(void)
{
	if (following)
		must_all_hold();
}

void follow_got(unsigned object)
{
	const int32_t o = (int32_t)object + 1;

	if (following && engine_running() && w.kind[o] != USED)
		MOVE(hand_out, w.by[o], o);
}

void follow_end(void)
{
	printf("%llu executions, %llu operations on words of the table\n", (unsigned long long)executions,
	       (unsigned long long)operations);
	for (unsigned i = 0; i < MOVES; i++)
		printf("  %s %llu times%s\n", move_names[i], (unsigned long long)moves_made[i],
		       moves_made[i] ? "" : ": never made");
}
