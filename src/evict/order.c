/* SPDX-License-Identifier: MIT */
/*
 * order.c - see order.h.
 */
#include "evict/order.h"

#include "os/backing.h"
#include "os/os.h"

/* ---- Ranks ---- */

static inline bool priority_before(const struct order *order, uint64_t a, uint64_t b)
{
	return order->before ? order->before(order->context, a, b) : a < b;
}

static inline bool rank_before(const struct order *order, struct rank a, struct rank b)
{
	if (!order->before)
		return a.priority != b.priority ? a.priority < b.priority : a.stamp < b.stamp;
	/* RANK_LOWEST and RANK_NONE have no priority that the caller's comparison knows. */
	if (!a.stamp || !b.stamp || a.stamp == UINT64_MAX || b.stamp == UINT64_MAX)
		return a.stamp < b.stamp;
	return priority_before(order, a.priority, b.priority) ||
	       (a.stamp < b.stamp && !priority_before(order, b.priority, a.priority));
}

bool order_gives_way(const struct order *order, uint64_t a, uint64_t b)
{
	switch (order->gives_way) {
	case LFPOOL_EVICT_LESS: return priority_before(order, a, b);
	case LFPOOL_EVICT_LESS_OR_EQUAL: return !priority_before(order, b, a);
	case LFPOOL_EVICT_NONE:
	case LFPOOL_EVICT_NEVER: break;
	}
	return false;
}

/* Its phase says candidate, and it has no pins. */
static inline bool is_candidate(uint64_t word)
{
	return (word & (GENERATION_ONE - 1)) == GENERATION_CANDIDATE;
}

/* Slots, or nodes of a level, that can have candidates.  seq_cst: what EV4 scans has all slots of the unpins before. */
static inline size_t level_count(const struct order *order, unsigned level)
{
	const uint64_t top = load_seq_cst(&order->top);

	return (size_t)((top + (UINT64_C(1) << level * ORDER_BLOCK_BITS) - 1) >> level * ORDER_BLOCK_BITS);
}

/* The children of a node are `first` .. `end` - 1 of the level below. */
static inline size_t children_end(const struct order *order, unsigned level, size_t node)
{
	const size_t count = level_count(order, level - 1), end = (node + 1) << ORDER_BLOCK_BITS;

	return end < count ? end : count;
}

/* ---- Bounds ---- */

/* EV5. */
static inline struct rank node_bound(const struct order *order, unsigned level, size_t node)
{
	const struct order_level *l = &order->level[level];
	/* seq_cst, all: EV4. */
	const uint64_t version = load_seq_cst(&l->version[node]);
	const struct rank bound = {load_seq_cst(&l->priority[node]), load_seq_cst(&l->stamp[node])};

	return version & 1 || load_seq_cst(&l->version[node]) != version ? RANK_LOWEST : bound;
}

/* EV3, at one level. */
static void node_lower(struct order *order, unsigned level, size_t node, struct rank rank)
{
	struct order_level *l = &order->level[level];
	/* seq_cst, all: EV3 and EV4. */
	uint64_t priority = load_seq_cst(&l->priority[node]), stamp = load_seq_cst(&l->stamp[node]);

	if (!rank_before(order, rank, (struct rank){priority, stamp}))
		return;
	/* Both repeat only after another thread changed the word. */
	while (priority_before(order, rank.priority, priority) &&
	       !cas_seq_cst(&l->priority[node], &priority, rank.priority))
		;
	while (rank.stamp < stamp && !cas_seq_cst(&l->stamp[node], &stamp, rank.stamp))
		;
}

void order_lower(struct order *order, uint32_t slot)
{
	const size_t index = slot - 1;
	/* relaxed, both: our own, or written before the pin that we have removed.  Another thread that pins
	 * the slot, and changes the rank, lowers the bounds itself. */
	const struct rank rank = {load_relaxed(&order->level[0].priority[index]),
				  load_relaxed(&order->level[0].stamp[index])};

	for (unsigned level = 1; level < order->levels; level++)
		node_lower(order, level, index >> level * ORDER_BLOCK_BITS, rank);
}

/* ---- Scans ---- */

/* The least candidate of a block of slots by the caller's comparison. */
static struct least scan_by_before(const struct order *order, size_t first, size_t end)
{
	const struct order_level *l = &order->level[0];
	struct least least = {RANK_NONE, 0, SLOT_NONE};

	for (size_t index = first; index < end; index++) {
		/* seq_cst: EV4.  It is an acquire, edge PIN. */
		const uint64_t word = load_seq_cst(&order->arena->generation[index + 1]);

		if (!is_candidate(word))
			continue;

		/* relaxed: after the word. */
		const struct rank rank = {load_relaxed(&l->priority[index]), load_relaxed(&l->stamp[index])};

		if (rank_before(order, rank, least.rank))
			least = (struct least){rank, word, (uint32_t)index + 1};
	}
	return least;
}

/* The same by number, which most pools use: the stamp is read only where the priority is not above the least. */
static struct least scan_by_number(const struct order *order, size_t first, size_t end)
{
	/* Local copies: the compiler would load them again after each atomic load. */
	_Atomic(uint64_t) *const words = &order->arena->generation[1];
	_Atomic(uint64_t) *const priorities = order->level[0].priority, *const stamps = order->level[0].stamp;
	struct rank rank = RANK_NONE;
	uint64_t least_word = 0;
	size_t least = SIZE_MAX;

#pragma GCC unroll 8
	for (size_t index = first; index < end; index++) {
		/* seq_cst: EV4.  It is an acquire, edge PIN. */
		const uint64_t word = load_seq_cst(&words[index]);
		/* relaxed: after the word. */
		const uint64_t priority = load_relaxed(&priorities[index]);

		if (priority > rank.priority || !is_candidate(word))
			continue;

		/* relaxed: after the word. */
		const uint64_t stamp = load_relaxed(&stamps[index]);

		if (priority == rank.priority && stamp >= rank.stamp)
			continue;
		rank = (struct rank){priority, stamp};
		least_word = word;
		least = index;
	}
	return (struct least){rank, least_word, (uint32_t)(least + 1)};
}

/* The least candidate of a block of slots.  Each scan reads the word first: the rank is at least as new (EV4). */
static struct least scan_slots(const struct order *order, size_t block)
{
	const size_t first = block << ORDER_BLOCK_BITS, end = children_end(order, 1, block);

	return order->before ? scan_by_before(order, first, end) : scan_by_number(order, first, end);
}

/* The least rank below a node, or a lower bound of it. */
static struct rank rank_below(const struct order *order, unsigned level, size_t node)
{
	struct rank least = RANK_NONE;

	if (level == 1)
		return scan_slots(order, node).rank;
	for (size_t child = node << ORDER_BLOCK_BITS, end = children_end(order, level, node); child < end; child++) {
		const struct rank bound = node_bound(order, level - 1, child);

		if (rank_before(order, bound, least))
			least = bound;
	}
	return least;
}

/* EV4: raises the node's bound, which was `from`. */
static void node_raise(struct order *order, unsigned level, size_t node, struct rank from, struct rank to)
{
	struct order_level *l = &order->level[level];
	/* seq_cst, here and below, but at the end: EV4. */
	uint64_t version = load_seq_cst(&l->version[node]);

	if (version & 1 || !cas_seq_cst(&l->version[node], &version, version + 1))
		return;
	/* Each fails if another thread has changed the word: then the lower one stays. */
	(void)cas_seq_cst(&l->priority[node], &from.priority, to.priority);
	(void)cas_seq_cst(&l->stamp[node], &from.stamp, to.stamp);
	node_lower(order, level, node, rank_below(order, level, node));
	/* release: a thread that reads this version sees the lowered words. */
	store_release(&l->version[node], version + 2);
}

/* ---- Search ---- */

static struct rank search_below(struct order *order, unsigned level, size_t node, struct least *best);

/* Searches below a node with this bound, and raises the bound if it is too low.  Returns a lower bound of the ranks
 * below. */
static struct rank visit_node(struct order *order, unsigned level, size_t node, struct rank bound, struct least *best)
{
	struct rank below;

	if (level == 1) {
		const struct least least = scan_slots(order, node);

		if (rank_before(order, least.rank, best->rank))
			*best = least;
		below = least.rank;
	} else {
		below = search_below(order, level, node, best);
	}
	if (!rank_before(order, bound, below))
		return bound;
	node_raise(order, level, node, bound, below);
	return below;
}

/* The child with the least bound. */
static size_t least_of(const struct order *order, const struct rank *bound, size_t count)
{
	size_t least = 0;

	for (size_t i = 1; i < count; i++)
		if (rank_before(order, bound[i], bound[least]))
			least = i;
	return least;
}

/* The least candidate below a node, or below the root (level order->levels), if it is below *best.  The search visits
 * the child with the least bound as long as that is below the best rank found.  Returns a lower bound of the ranks
 * below. */
static struct rank search_below(struct order *order, unsigned level, size_t node, struct least *best)
{
	const size_t first = node << ORDER_BLOCK_BITS, end = children_end(order, level, node);
	struct rank bound[ORDER_BLOCK];

	bound[0] = RANK_NONE;
	for (size_t child = first; child < end; child++)
		bound[child - first] = node_bound(order, level - 1, child);
	/* Each child once: a visited child's bound is not below the best rank. */
	for (;;) {
		const size_t least = least_of(order, bound, end - first);

		if (!rank_before(order, bound[least], best->rank))
			return bound[least];
		bound[least] = visit_node(order, level - 1, first + least, bound[least], best);
	}
}

struct least order_least(struct order *order)
{
	struct least best = {RANK_NONE, 0, SLOT_NONE};

	if (order->levels == 1)
		return scan_slots(order, 0);
	(void)search_below(order, order->levels, 0, &best);
	return best;
}

/* ---- Ranks of slots ---- */

void order_enter(struct order *order, uint32_t slot, struct rank rank)
{
	uint64_t top = load_seq_cst(&order->top);

	/* relaxed: published by the last unpin, edge PIN. */
	store_relaxed(&order->level[0].stamp[slot - 1], rank.stamp);
	order_set_priority(order, slot, rank.priority);
	/* seq_cst: before the last unpin, EV4.  Repeats only after another thread has raised it. */
	while (slot > top && !cas_seq_cst(&order->top, &top, slot))
		;
}

void order_set_priority(struct order *order, uint32_t slot, uint64_t priority)
{
	/* release: a thread that reads it and then finds the slot's word unchanged has read the priority of that use.
	 *  */
	store_release(&order->level[0].priority[slot - 1], priority);
}

uint64_t order_priority(const struct order *order, uint32_t slot)
{
	/* acquire: see order_set_priority(). */
	return load_acquire(&order->level[0].priority[slot - 1]);
}

/* ---- Life ---- */

/* The bytes of a level, in whole lines, three words for each node; and where its arrays begin, if there is memory. */
static size_t lay_level(struct order_level *level, char *memory, size_t count)
{
	const size_t bytes = round_up(count * sizeof(uint64_t), CACHE_LINE_PAIR);

	if (memory) {
		level->priority = (void *)memory;
		level->stamp = (void *)(memory + bytes);
		level->version = (void *)(memory + 2 * bytes);
	}
	return 3 * bytes;
}

/* All levels; returns their bytes. */
static size_t lay_levels(struct order *order, char *memory, size_t slots)
{
	size_t bytes = 0, count = slots;

	for (order->levels = 0;; count = (count + ORDER_BLOCK - 1) >> ORDER_BLOCK_BITS) {
		const size_t level_bytes = lay_level(&order->level[order->levels], memory ? memory + bytes : NULL,
						     count);

		/* Slots have no version. */
		bytes += order->levels ? level_bytes : level_bytes / 3 * 2;
		order->levels++;
		if (count <= ORDER_BLOCK)
			return bytes;
	}
}

lfpool_status_t order_open(struct order **order_out, const lfpool_config_t *config, const struct arena *arena)
{
	const size_t head = round_up(sizeof(struct order), CACHE_LINE_PAIR);
	struct order plan = {0};
	const size_t bytes = head + lay_levels(&plan, NULL, config->max_capacity);
	struct order *order = os_map(bytes);

	if (!order)
		return LFPOOL_E_NO_MEMORY;

	const lfpool_status_t status = backing_give(config->flags & BACKING_FLAGS, order, bytes);

	if (status != LFPOOL_OK) {
		os_unmap(order, bytes);
		return status;
	}
	order->arena = arena;
	order->before = config->before;
	order->context = config->before_context;
	order->gives_way = config->evict;
	order->mapped_bytes = bytes;
	(void)lay_levels(order, (char *)order + head, config->max_capacity);
	*order_out = order;
	return LFPOOL_OK;
}

void order_close(struct order *order)
{
	if (order)
		os_unmap(order, order->mapped_bytes);
}

/* ---- Check ---- */

const char *order_check(const struct order *order, size_t *where_out)
{
	const size_t slots = level_count(order, 0);

	for (size_t index = 0; index < slots; index++) {
		/* relaxed, all: no call is under way. */
		const struct rank rank = {load_relaxed(&order->level[0].priority[index]),
					  load_relaxed(&order->level[0].stamp[index])};

		*where_out = index;
		if (!is_candidate(load_relaxed(&order->arena->generation[index + 1])))
			continue;
		if (!rank.stamp || rank.stamp > load_relaxed(&order->clock))
			return "EV1: a candidate has a stamp that was never given";
		for (unsigned level = 1; level < order->levels; level++)
			if (rank_before(order, rank, node_bound(order, level, index >> level * ORDER_BLOCK_BITS)))
				return "EV2: a bound is above the rank of a candidate";
	}
	*where_out = SIZE_MAX;
	return NULL;
}
