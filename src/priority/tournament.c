/* SPDX-License-Identifier: MIT */
/*
 * tournament.c - see tournament.h.
 */
#include "priority/tournament.h"

static const struct contender nobody;

uint32_t tournament_measure(struct tournament *t, uint32_t slots)
{
	uint32_t count = slots, nodes = 0;

	t->count = slots;
	t->levels = 0;
	do {
		count = (count + FAN - 1) >> FAN_SHIFT;
		t->level_at[t->levels++] = nodes;
		nodes += count;
	} while (count > 1);
	return nodes;
}

/* Node `index` of a level; level 0 is that of the slots' parents. */
static struct place *node_at(const struct tournament *t, uint32_t level, uint32_t index)
{
	return &t->nodes[t->level_at[level] + index];
}

/* ---- Records ---- */

/* acquire, edge REUSE: what another has filled in since then is seen only with the change that allowed it. */
static void record_read(const struct record *r, struct contender *out)
{
	out->key = load_acquire(&r->key);
	out->stamp = load_acquire(&r->stamp);
}

void tournament_fill(const struct tournament *t, const struct place *p, uint32_t number, const struct contender *c)
{
	struct record *r = place_record(&t->spares, p, number);

	/* release, edge REUSE: the change by which the record came into our hands. */
	store_release(&r->key, c->key);
	store_release(&r->stamp, c->stamp);
	store_release(&r->name, c->name);
}

bool tournament_look(const struct tournament *t, uint32_t slot, uint64_t state, struct contender *out)
{
	const struct place *p = tournament_slot(t, slot);

	record_read(place_record(&t->spares, p, state_record(state)), out);
	out->state = state;
	out->name = name_of(slot, state);
	out->slot = slot;
	/* relaxed: REUSE. */
	return load_relaxed(&p->word) == state;
}

/* The slot's state, if it contends as the name says; else 0. */
static uint64_t state_named(const struct tournament *t, const struct contender *c)
{
	if (!c->slot)
		return 0;

	const uint64_t state = load_seq_cst(&tournament_slot(t, c->slot)->word);

	return state_contends(state) && name_of(c->slot, state) == c->name ? state : 0;
}

static bool is_current(const struct tournament *t, const struct contender *c)
{
	return state_named(t, c) != 0;
}

/* What a node names; *word_out is the word that names it.  A retry means that the word has changed. */
static struct contender node_read(const struct tournament *t, const struct place *node, uint64_t *word_out)
{
	for (;;) {
		struct contender named = nobody;
		const uint64_t word = load_seq_cst(&node->word);
		const struct record *r;

		*word_out = word;
		if (!tagged_number(word))
			return nobody;
		r = place_record(&t->spares, node, tagged_number(word));
		record_read(r, &named);
		named.name = load_acquire(&r->name);
		named.slot = name_slot(named.name);
		/* relaxed: REUSE. */
		if (likely(load_relaxed(&node->word) == word))
			return named;
	}
}

/* The node shall name `named`, if its word is still `word`. */
static bool node_swap(struct tournament *t, struct place *node, uint64_t word, const struct contender *named)
{
	const uint32_t old = tagged_number(word), number = named->slot ? place_take(&t->spares, node) : 0;

	if (number)
		tournament_fill(t, node, number, named);

	/* seq_cst; edge RECORD, both ways. */
	const bool swapped = cas_seq_cst(&node->word, &word, tagged_next(word, number));

	place_give(&t->spares, node, swapped ? old : number);
	return swapped;
}

/* ---- Collecting ---- */

/* The children of a node: places [begin, end), slots or nodes. */
struct children {
	const struct place *places;
	uint32_t begin, end;
	bool slots;
};

static inline struct children children_of(const struct tournament *t, uint32_t level, uint32_t index)
{
	const uint32_t below = level ? t->level_at[level - 1] : 0;
	const uint32_t count = level ? t->level_at[level] - below : t->count, begin = index << FAN_SHIFT;

	return (struct children){level ? t->nodes + below : t->slots, begin, begin + FAN < count ? begin + FAN : count, !level};
}

/* The record that a child contends with; 0: it does not. */
static inline uint32_t child_record(bool slot, uint64_t word)
{
	if (slot)
		return state_contends(word) ? state_record(word) : 0;
	return tagged_number(word);
}

/* The key that a child contends with, as of *word, which is the child's now.  False: it does not. */
static inline bool child_key(const struct tournament *t, const struct place *p, bool slot, uint64_t *key, uint64_t *word)
{
	/* A retry means that the word has changed. */
	do {
		const uint32_t number = child_record(slot, *word = load_seq_cst(&p->word));

		if (!number)
			return false;
		/* acquire, edge REUSE: so the second look may be relaxed. */
		*key = load_acquire(&place_record(&t->spares, p, number)->key);
	} while (unlikely(load_relaxed(&p->word) != *word));
	return true;
}

/* All that a child says as of `word`.  False: it says something else now. */
static bool child_read(const struct tournament *t, const struct children *c, uint32_t i, uint64_t word, struct contender *out)
{
	const struct place *p = &c->places[i];
	const struct record *r = place_record(&t->spares, p, child_record(c->slots, word));

	record_read(r, out);
	out->state = word;
	/* acquire, edge REUSE. */
	out->name = c->slots ? name_of(i + 1, word) : load_acquire(&r->name);
	out->slot = name_slot(out->name);
	/* relaxed: REUSE. */
	return load_relaxed(&p->word) == word;
}

/* By comparing all that they say. */
static NOINLINE struct contender collect_slowly(const struct tournament *t, const struct children *c, uint32_t *child_out)
{
	struct contender first = nobody, next;
	uint64_t key, word;

	for (uint32_t i = c->begin; i < c->end; i++) {
		bool contends;

		/* A retry means that the word has changed. */
		while ((contends = child_key(t, &c->places[i], c->slots, &key, &word)) && !child_read(t, c, i, word, &next))
			continue;
		if (contends && goes_before(t, &next, &first)) {
			first = next;
			*child_out = i;
		}
	}
	return first;
}

/* The child with the least key, and its word; c->end: nobody contends.  False: another has the same key.  Without a
 * branch on which is less: the processor could not guess it. */
static inline bool least_child(const struct tournament *t, const struct children *c, bool slots, uint32_t *child_out,
			       uint64_t *word_out)
{
	uint64_t least = UINT64_MAX, least_word = 0, tied = 0, key, word;
	uint32_t child = c->end;
	bool any_tied = false;

	for (uint32_t i = c->begin; i < c->end; i++) {
		if (!child_key(t, &c->places[i], slots, &key, &word))
			continue;
		if (unlikely(key == least)) {
			any_tied = true;
			tied = key;
		}

		const bool less = key < least;

		child = less ? i : child;
		least_word = less ? word : least_word;
		least = less ? key : least;
	}
	*child_out = child;
	*word_out = least_word;
	return !any_tied || tied != least;
}

/*
 * The first among the children, each as of some moment during the call; what nodes name may be stale.  Usually their
 * keys say which.  Only if two are equal, or the pool has an order of its own, all must be compared.
 */
static struct contender collect(const struct tournament *t, uint32_t level, uint32_t index, uint32_t *child_out)
{
	const struct children c = children_of(t, level, index);
	struct contender first;
	uint64_t word;

	if (unlikely(t->before != NULL))
		return collect_slowly(t, &c, child_out);
	for (;;) {
		/* Compiled once for slots, and once for nodes. */
		if (unlikely(!(level ? least_child(t, &c, false, child_out, &word) : least_child(t, &c, true, child_out, &word))))
			return collect_slowly(t, &c, child_out);
		if (*child_out == c.end)
			return nobody;
		/* A retry means that the word has changed. */
		if (likely(child_read(t, &c, *child_out, word, &first)))
			return first;
	}
}

/* ---- Climbing ---- */

/* F4 for `mine` at one node.  False: mine is no more. */
static bool settle(struct tournament *t, uint32_t level, uint32_t index, const struct contender *mine)
{
	struct place *node = node_at(t, level, index);
	uint32_t child;
	uint64_t word;

	for (unsigned tries = 0; tries < 2; tries++) {
		const struct contender named = node_read(t, node, &word);
		/* Before the children are looked at: F3. */
		const bool current = is_current(t, &named);

		if (current && !goes_before(t, mine, &named))
			return true;

		const struct contender first = collect(t, level, index, &child);

		if (current && !goes_before(t, &first, &named))
			return false;
		if (node_swap(t, node, word, &first))
			return true;
	}
	return true;
}

void tournament_offer(struct tournament *t, const struct contender *mine)
{
	uint32_t index = mine->slot - 1;

	for (uint32_t level = 0; level < t->levels; level++) {
		index >>= FAN_SHIFT;
		if (!settle(t, level, index, mine) || !is_current(t, mine))
			return;
	}
}

void tournament_withdraw(struct tournament *t, uint32_t slot)
{
	uint32_t index = slot - 1, child;
	uint64_t word;

	for (uint32_t level = 0; level < t->levels; level++) {
		index >>= FAN_SHIFT;

		struct place *node = node_at(t, level, index);
		const struct contender named = node_read(t, node, &word);

		if (named.slot != slot || is_current(t, &named))
			return;

		const struct contender first = collect(t, level, index, &child);

		/* If it fails another has been here since the slot stopped. */
		(void)node_swap(t, node, word, &first);
	}
}

/* ---- The first of all ---- */

/* Replaces a stale name of a node, and those below that it would only be replaced by. */
static void repair(struct tournament *t, uint32_t level, uint32_t index)
{
	struct place *node = node_at(t, level, index);
	uint32_t child = 0;
	uint64_t word;

	for (;;) {
		const struct contender named = node_read(t, node, &word);

		if (!named.slot || is_current(t, &named))
			return;

		const struct contender first = collect(t, level, index, &child);

		if (level && first.slot && !is_current(t, &first))
			repair(t, level - 1, child);
		else
			(void)node_swap(t, node, word, &first);
	}
}

struct contender tournament_first(struct tournament *t)
{
	const uint32_t top = t->levels - 1;
	uint64_t word;

	for (;;) {
		struct contender first = node_read(t, node_at(t, top, 0), &word);

		first.state = state_named(t, &first);
		if (!first.slot || first.state)
			return first;
		repair(t, top, 0);
	}
}
