/* SPDX-License-Identifier: MIT */
/*
 * order.c - see order.h.
 */
#include "evict/order.h"

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
	/* RANK_LOWEST and RANK_NONE have no real priority, so the user's comparison must not be called for them. */
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

/* Does the word have the phase candidate, and no pins? */
static inline bool is_candidate(uint64_t word)
{
	return (word & (GENERATION_ONE - 1)) == GENERATION_CANDIDATE;
}

/* The number of slots or nodes of a level, up to the last one that can have a candidate.  seq_cst, so that a scan (EV4)
 * includes the slots of all earlier unpins. */
static inline size_t level_count(const struct order *order, unsigned level)
{
	const uint64_t top = load_seq_cst(&order->top);

	return (size_t)((top + (UINT64_C(1) << level * ORDER_BLOCK_BITS) - 1) >> level * ORDER_BLOCK_BITS);
}

/* The slots or nodes `first` .. `end` - 1 of a level. */
struct block {
	size_t first, end;
};

/* The children of a node, or of the root (level order->levels). */
static inline struct block children(const struct order *order, unsigned level, size_t node)
{
	const size_t count = level_count(order, level - 1), end = (node + 1) << ORDER_BLOCK_BITS;

	return (struct block){node << ORDER_BLOCK_BITS, end < count && level < order->levels ? end : count};
}

/* ---- Bounds ---- */

/* EV3: if a thread is raising the bound, adds MISSED and returns true, because that thread's scan may have missed the
 * caller's unpin. */
static inline bool node_miss(const struct order_level *l, size_t node)
{
	/* seq_cst, both: EV4. */
	uint64_t version = load_seq_cst(&l->version[node]);

	/* Repeats only after another thread has ended a raise, or added VERSION_MISSED. */
	while (version & VERSION_RAISING)
		if (version & VERSION_MISSED || cas_seq_cst(&l->version[node], &version, version | VERSION_MISSED))
			return true;
	return false;
}

/* Lowers the bound of the node in `level` that is above slot `index` + 1 (EV3). */
static inline void node_lower(struct order *order, unsigned level, size_t index, uint64_t priority_of_slot)
{
	struct order_level *l = &order->level[level];
	const size_t node = index >> level * ORDER_BLOCK_BITS;

	if (node_miss(l, node))
		return;
	/* seq_cst, all: if a raise of the node above does not see these words, we see that raise (EV4). */
	uint64_t priority = load_seq_cst(&l->priority[node]), stamp;

	/* In most cases the priority alone decides. */
	if (!order->before && priority < priority_of_slot)
		return;

	/* relaxed, like the priority in order_lower(). */
	const struct rank rank = {priority_of_slot, load_relaxed(&order->level[0].stamp[index])};

	stamp = load_seq_cst(&l->stamp[node]);
	if (!rank_before(order, rank, (struct rank){priority, stamp}))
		return;
	/* Each loop repeats only after another thread changed the loop's word. */
	while (priority_before(order, rank.priority, priority) &&
	       !cas_seq_cst(&l->priority[node], &priority, rank.priority))
		;
	while (rank.stamp < stamp && !cas_seq_cst(&l->stamp[node], &stamp, rank.stamp))
		;
}

void order_lower(struct order *order, uint32_t slot)
{
	const size_t index = slot - 1;
	/* relaxed: this thread stored the priority, or another thread stored it before the pin that this thread has
	 * removed.  If another thread pins the slot now and changes its rank, that thread lowers the bounds too. */
	const uint64_t priority = load_relaxed(&order->level[0].priority[index]);

	for (unsigned level = 1; level < order->levels; level++)
		node_lower(order, level, index, priority);
}

/* ---- Scans ---- */

/* The result of a scan: the least rank, and the slot or node that has it. */
struct lowest {
	struct rank rank;
	size_t at; /* SIZE_MAX: all ranks are RANK_NONE */
};

#define LOWEST_NONE ((struct lowest){RANK_NONE, SIZE_MAX})

/* The lower of `a` and `b`.  With `by_number` the function has no branch, because a processor cannot predict where the
 * least rank is. */
static ALWAYS_INLINE struct lowest lower_of(const struct order *order, bool by_number, struct lowest a, struct lowest b)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 number;

	if (by_number) {
		const number x = (number)a.rank.priority << 64 | a.rank.stamp;
		const number y = (number)b.rank.priority << 64 | b.rank.stamp;
		const number least = y < x ? y : x;

		return (struct lowest){{(uint64_t)(least >> 64), (uint64_t)least}, y < x ? b.at : a.at};
	}
#else
	(void)by_number;
#endif
	return rank_before(order, b.rank, a.rank) ? b : a;
}

/* The rank of a slot; RANK_NONE if it is no candidate.  Loads the word first, so the rank is at least as new as the
 * word (EV4). */
static ALWAYS_INLINE struct lowest slot_rank(const struct order_level *l, const struct arena *arena, size_t index)
{
	/* seq_cst: EV4.  The load also acquires, edge PIN. */
	const uint64_t word = load_seq_cst(&arena->generation[index + 1]);
	/* relaxed, both: the load of the word has acquired them. */
	const struct rank rank = {load_relaxed(&l->priority[index]), load_relaxed(&l->stamp[index])};

	return (struct lowest){is_candidate(word) ? rank : RANK_NONE, index};
}

/* Both words of a bound; RANK_LOWEST while a thread raises it (EV5). */
static ALWAYS_INLINE struct lowest node_bound(const struct order_level *l, size_t node)
{
	/* seq_cst, all: EV4. */
	const uint64_t version = load_seq_cst(&l->version[node]);
	const struct rank bound = {load_seq_cst(&l->priority[node]), load_seq_cst(&l->stamp[node])};
	const bool trusted = !(version & VERSION_RAISING) && load_seq_cst(&l->version[node]) == version;

	return (struct lowest){trusted ? bound : RANK_LOWEST, node};
}

static ALWAYS_INLINE struct lowest scan_one(const struct order_level *l, const struct arena *arena, size_t at)
{
	return arena ? slot_rank(l, arena, at) : node_bound(l, at);
}

/* The lowest of the nodes in the block, or, if `arena` is not NULL, the lowest of the slots.  Inlined with constant
 * arguments, so that nodes and slots get separate loops. */
static ALWAYS_INLINE struct lowest scan_as(const struct order *order, bool by_number, unsigned level,
					   const struct arena *arena, struct block block)
{
	/* A local copy, so that the compiler does not load the addresses again after each atomic load. */
	const struct order_level l = order->level[level];
	struct lowest lowest = LOWEST_NONE;
	size_t at = block.first;

	for (; block.end - at >= ORDER_BLOCK; at += ORDER_BLOCK)
#pragma GCC unroll 8
		for (size_t i = 0; i < ORDER_BLOCK; i++)
			lowest = lower_of(order, by_number, lowest, scan_one(&l, arena, at + i));
	for (; at < block.end; at++)
		lowest = lower_of(order, by_number, lowest, scan_one(&l, arena, at));
	return lowest;
}

static struct lowest scan_by_before(const struct order *order, unsigned level, struct block block)
{
	return level ? scan_as(order, false, level, NULL, block) : scan_as(order, false, 0, order->arena, block);
}

/* The least candidate in a block of slots (level 0), or the least bound in a block of nodes. */
static struct lowest scan_block(const struct order *order, unsigned level, struct block block)
{
	if (order->before)
		return scan_by_before(order, level, block);
	return level ? scan_as(order, true, level, NULL, block) : scan_as(order, true, 0, order->arena, block);
}

/* The version after a raise.  `child` is the child with the least rank.  SIZE_MAX: no child has a candidate, and the
 * version names the first child. */
static inline uint64_t version_next(uint64_t version, size_t child)
{
	const uint64_t hint = child == SIZE_MAX ? 0 : child % ORDER_BLOCK;

	return (version / VERSION_ONE + 1) * VERSION_ONE + hint * VERSION_CHILD;
}

/* Raises the bound of a node to the least rank below it (EV4). */
static void node_raise(struct order *order, unsigned level, size_t node)
{
	struct order_level *l = &order->level[level];
	/* relaxed: the CAS checks the value. */
	uint64_t version = load_relaxed(&l->version[node]);

	/* seq_cst: EV4. */
	if (version & VERSION_RAISING || !cas_seq_cst(&l->version[node], &version, version | VERSION_RAISING))
		return;

	const struct lowest least = scan_block(order, level - 1, children(order, level, node));

	/* release, both: a search that reads one of these words also sees our version with RAISING (EV5). */
	store_release(&l->priority[node], least.rank.priority);
	store_release(&l->stamp[node], least.rank.stamp);
	/* release: a thread that reads the new version sees both words. */
	version |= VERSION_RAISING;
	if (cas_release(&l->version[node], &version, version_next(version, least.at)))
		return;
	/* An unpin has added MISSED, so the bound becomes the lowest of all.  release, all: as above. */
	store_release(&l->priority[node], RANK_LOWEST.priority);
	store_release(&l->stamp[node], RANK_LOWEST.stamp);
	store_release(&l->version[node], version_next(version, least.at));
}

void order_raise(struct order *order, uint32_t slot, struct rank limit)
{
	for (unsigned level = 1; level < order->levels; level++) {
		const size_t node = (size_t)(slot - 1) >> level * ORDER_BLOCK_BITS;

		if (rank_before(order, node_bound(&order->level[level], node).rank, limit))
			node_raise(order, level, node);
	}
}

/* ---- Search ---- */

/* A hint: the slot that had the least rank below the node when the nodes on the path to it were last raised. */
static inline size_t hinted(const struct order *order, unsigned level, size_t node)
{
	for (; level > 0; level--)
		/* relaxed: a hint. */
		node = (node << ORDER_BLOCK_BITS) +
		       (size_t)(load_relaxed(&order->level[level].version[node]) / VERSION_CHILD % ORDER_BLOCK);
	return node;
}

/* Follows the least bound from the root down to a block of slots, and scans that block.  True: no candidate has a lower
 * rank than *lowest_out.  False: the bounds above the block were too low, and this call has raised them. */
static bool descend(struct order *order, struct lowest *lowest_out)
{
	unsigned level = order->levels - 1;
	struct block block = children(order, order->levels, 0);
	struct lowest lowest = scan_block(order, level, block);
	const struct rank bound = lowest.rank;

	if (!level || lowest.at == SIZE_MAX) {
		*lowest_out = lowest;
		return true;
	}
	*lowest_out = slot_rank(&order->level[0], order->arena, hinted(order, level, lowest.at));
	if (lowest_out->rank.priority == bound.priority && lowest_out->rank.stamp == bound.stamp)
		return true;
	for (; level > 0; level--) {
		block = children(order, level, lowest.at == SIZE_MAX ? block.first : lowest.at);
		lowest = scan_block(order, level - 1, block);
	}
	*lowest_out = lowest;
	if (!rank_before(order, bound, lowest.rank))
		return true;
	order_raise(order, (uint32_t)block.first + 1, lowest.rank);
	return false;
}

static struct rank search_below(struct order *order, unsigned level, size_t node, struct lowest *best);

/* Searches below a node that has the bound `bound`, and raises the bound if it is too low.  Returns a lower bound for
 * the ranks below the node. */
static struct rank visit_node(struct order *order, unsigned level, size_t node, struct rank bound, struct lowest *best)
{
	struct rank below;

	if (level == 1) {
		const struct lowest least = scan_block(order, 0, children(order, 1, node));

		if (rank_before(order, least.rank, best->rank))
			*best = least;
		below = least.rank;
	} else {
		below = search_below(order, level, node, best);
	}
	if (!rank_before(order, bound, below))
		return bound;
	node_raise(order, level, node);
	return below;
}

static size_t least_child(const struct order *order, const struct rank *bound, size_t count)
{
	size_t least = 0;

	for (size_t i = 1; i < count; i++)
		if (rank_before(order, bound[i], bound[least]))
			least = i;
	return least;
}

/* Finds the least candidate below a node, or below the root (level order->levels), and stores it in *best if its rank
 * is lower than the rank of *best.  As long as the least bound of the children is lower than the rank of *best, the
 * search visits the child with that bound.  Returns a lower bound for the ranks below the node. */
static struct rank search_below(struct order *order, unsigned level, size_t node, struct lowest *best)
{
	const struct block block = children(order, level, node);
	struct rank bound[ORDER_ROOT > ORDER_BLOCK ? ORDER_ROOT : ORDER_BLOCK];

	bound[0] = RANK_NONE;
	for (size_t child = block.first; child < block.end; child++)
		bound[child - block.first] = node_bound(&order->level[level - 1], child).rank;
	/* Visits each child at most once, because after the visit the child's bound is not lower than the rank of
	 * *best. */
	for (;;) {
		const size_t least = least_child(order, bound, block.end - block.first);

		if (!rank_before(order, bound[least], best->rank))
			return bound[least];
		bound[least] = visit_node(order, level - 1, block.first + least, bound[least], best);
	}
}

/* Stores the candidate and its word in *least_out.  False: another thread has changed the candidate since the scan. */
static bool confirm(const struct order *order, struct lowest lowest, struct least *least_out)
{
	const struct order_level *l = &order->level[0];
	/* acquire: edge PIN. */
	const uint64_t word = load_acquire(&order->arena->generation[lowest.at + 1]);
	/* relaxed, both: the load of the word has acquired them. */
	const uint64_t priority = load_relaxed(&l->priority[lowest.at]), stamp = load_relaxed(&l->stamp[lowest.at]);

	*least_out = (struct least){lowest.rank, word, (uint32_t)lowest.at + 1};
	return is_candidate(word) && priority == lowest.rank.priority && stamp == lowest.rank.stamp;
}

struct least order_least(struct order *order)
{
	struct lowest lowest;
	struct least least;

	/* Repeats only after another thread has changed the candidate. */
	do {
		unsigned descents = 0;

		while (!descend(order, &lowest))
			if (++descents == ORDER_DESCENTS) {
				lowest = LOWEST_NONE;
				(void)search_below(order, order->levels, 0, &lowest);
				break;
			}
		if (lowest.at == SIZE_MAX)
			return (struct least){RANK_NONE, 0, SLOT_NONE};
	} while (!confirm(order, lowest, &least));
	return least;
}

/* ---- Ranks of slots ---- */

void order_enter(struct order *order, uint32_t slot, struct rank rank)
{
	uint64_t top = load_seq_cst(&order->top);

	/* relaxed: published by the last unpin, edge PIN. */
	store_relaxed(&order->level[0].stamp[slot - 1], rank.stamp);
	order_set_priority(order, slot, rank.priority);
	/* seq_cst: `top` is raised before the last unpin (EV4).  Repeats only after another thread has raised `top`. */
	while (slot > top && !cas_seq_cst(&order->top, &top, slot))
		;
}

void order_set_priority(struct order *order, uint32_t slot, uint64_t priority)
{
	/* release: a thread that reads this priority, and then finds the slot's word unchanged, has the priority of the
	 * use to which the word belongs. */
	store_release(&order->level[0].priority[slot - 1], priority);
}

uint64_t order_priority(const struct order *order, uint32_t slot)
{
	/* acquire: see order_set_priority(). */
	return load_acquire(&order->level[0].priority[slot - 1]);
}

/* ---- Life ---- */

/* The bytes of a level: three words for each node, in whole pairs of cache lines.  If `memory` is not NULL, sets the
 * arrays. */
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

/* The bytes of all levels.  Sets their arrays like lay_level(). */
static size_t lay_levels(struct order *order, char *memory, size_t slots)
{
	size_t bytes = 0, count = slots;

	for (order->levels = 0;; count = (count + ORDER_BLOCK - 1) >> ORDER_BLOCK_BITS) {
		const size_t level_bytes = lay_level(&order->level[order->levels], memory ? memory + bytes : NULL,
						     count);

		/* Slots have no version. */
		bytes += order->levels ? level_bytes : level_bytes / 3 * 2;
		order->levels++;
		if (count <= ORDER_ROOT)
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
			if (rank_before(order, rank,
					node_bound(&order->level[level], index >> level * ORDER_BLOCK_BITS).rank))
				return "EV2: a bound is above the rank of a candidate";
	}
	*where_out = SIZE_MAX;
	return NULL;
}
