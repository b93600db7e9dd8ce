/* SPDX-License-Identifier: MIT */
/*
 * cells.c - the cells of waiting calls, and a tree that finds the smallest ticket among them; see cells.h.
 *
 * Idea         The cells of the first lot are scanned one by one.  A tree of two levels covers the other cells:
 *              CELL_GROUP cells form a group, and TOP_GROUPS groups form a top.  Each group and each top has a lower
 *              bound on the tickets waiting below it.  A bound may be too small, since a cell that stops waiting does
 *              not update it, but it is never too large.
 *                 A call that begins to wait stores its cell's word, and then lowers the bounds of the cell's group
 *              and top to the ticket.  If a bound is small enough already, the call only advances the tag of the bound.
 *                 A search finds the top with the least bound, then the group with the least bound below that top, and
 *              scans the cells of that group.  If all tickets below a bound are greater than the bound, the search
 *              raises the bound, and begins again.  The CAS that raises a bound expects the word that the search read
 *              before it looked below the bound.
 * Invariants   W10 once a waiting cell's call has lowered a bound or advanced its tag, the bound is no greater than the
 *                  cell's ticket.  This holds right after that change.  Later only a search that read the bound's word
 *                  after the change can raise the bound, because the tag has moved.  That search also read the level
 *                  below after the change, and found there the waiting cell, or a bound no greater than the cell's
 *                  ticket.
 *              W11 the ticket that a search finds is no greater than any top's bound, as read by the search.  The
 *                  reason is that the search begins again unless it finds, below each bound that it follows, a value
 *                  as small as that bound.  W3 follows from W10 and W11.
 *              W12 from before a server gives a slot to a call's cell in the tree, until after it has woken the call,
 *                  the counters `giving` of the cell's group and top are not 0.  Only this server lowers the counters
 *                  again.  So a search wakes the call even if cells with smaller tickets wait (W5).  If
 *                  the server never runs again, each search reads one more group.
 * Progress     Lock-free: a search begins again only after it raised a bound, or another thread changed one.  Each cell
 *              that stopped waiting leaves at most two bounds that a search must raise.
 * Wrap         Bounds have the low 47 bits of tickets and are compared by their difference, so the order is wrong only
 *              if a cell waits while 2^46 later calls begin to wait.  A tag fails to protect a bound only if exactly
 *              2^16 calls begin to wait below it between the load and the CAS of one search, and no other search
 *              changes the bound in that time.  This is unlikely, because each of these calls searches too.
 */
#include "core/cells.h"

#include "core/arena.h"
#include "os/os.h"

size_t lot_bytes(unsigned lot)
{
	return ((size_t)CELL_LOT << lot) * sizeof(struct cell) + (lot == 1 ? branches_bytes() : 0);
}

static bool cell_lot_ensure(struct waiters *d, uint32_t index)
{
	uint32_t place;
	const unsigned lot = lot_of(index, CELL_LOT, &place);
	const size_t bytes = lot_bytes(lot);
	char *none = NULL;

	/* acquire, edge CELL: sees the memory of the lot. */
	if (load_acquire(&d->lot[lot]))
		return true;

	if (arena_in_buffer(d->arena))
		return false;

	char *mapped = backing_map(d->arena->backing, bytes);

	if (!mapped)
		return false;
	plain_written(mapped);
	/* acq_rel, edge CELL: publishes our mapping, or acquires the mapping of the thread that was first. */
	if (!cas_acq_rel(&d->lot[lot], &none, mapped))
		os_unmap(mapped, bytes);
	return true;
}

/* ---- Vacant cells: a stack, by Treiber (1986) ---- */

static void cell_push(struct waiters *d, struct cell *cell)
{
	/* relaxed: a first guess. */
	uint64_t top = load_relaxed(&d->vacant);

	/* Repeats only when another thread moved the top.  relaxed: the cell is ours until the CAS publishes it. */
	do {
		store_relaxed(&cell->below, tagged_number(top));
		/* release, edge VACANT: our accesses to the cell come before those of its next user. */
	} while (!cas_weak_release(&d->vacant, &top, tagged_next(top, cell->index + 1)));
}

static struct cell *cell_pop(struct waiters *d)
{
	/* acquire, edge VACANT: sees `below`. */
	uint64_t top = load_acquire(&d->vacant);

	/* Repeats only when another thread moved the top. */
	while (tagged_number(top)) {
		struct cell *cell = cell_at(d, tagged_number(top) - 1);

		/* relaxed: edge VACANT made `below` visible.  If `below` is stale, the cell has left the stack, so the
		 * tag has changed (S1).  acquire, edge VACANT: sees `below` of the new top, after a failure. */
		if (cas_acquire(&d->vacant, &top, tagged_next(top, load_relaxed(&cell->below))))
			return cell;
	}
	return NULL;
}

struct cell *cell_claim(struct waiters *d)
{
	struct cell *cell;

	/* Repeats only when another thread took the next cell. */
	while (!(cell = cell_pop(d))) {
		/* acquire, edge CELL: sees the lots of the counted cells, and the branches. */
		uint32_t count = load_acquire(&d->cells);

		if (count == CELLS_MAX || !cell_lot_ensure(d, count))
			return NULL;
		/* release, edge CELL: publishes the lot. */
		if (cas_release(&d->cells, &count, count + 1)) {
			cell = cell_at(d, count);
			cell->index = count;
			break;
		}
	}
	/* relaxed, both: the cell is ours. */
	store_relaxed(&cell->before, 0);
	store_relaxed(&cell->word, CLAIMED);
	return cell;
}

void cell_unclaim(struct waiters *d, struct cell *cell)
{
	/* relaxed: the cell is ours until the push. */
	store_relaxed(&cell->word, 0);
	cell_push(d, cell);
}

void waiters_want(struct waiters *d, uint32_t count)
{
	/* relaxed: ordered by the fences of W1. */
	(void)fetch_add_relaxed(d->wanted, count);
}

void cell_enlist(struct waiters *d, struct cell *cell, uint64_t ticket, lfpool_continuation_t then, void *context)
{
	/* relaxed, all: published with the word. */
	store_relaxed(&cell->then, then);
	store_relaxed(&cell->context, context);
	store_relaxed(&cell->ticket, ticket);
	waiters_want(d, 1);
	/* release, edge QUEUE: publishes the fields above. */
	store_release(&cell->word, cell_waiting(ticket));
	cell_show(d, cell, ticket);
}

void cells_shown(const struct waiters *d)
{
	/* W1: either a release sees the demand, or we see the push of that release.  W7 needs this fence too. */
	arena_heavy_fence(d->arena);
}

void cell_vacate(struct waiters *d, struct cell *cell)
{
	cell_unclaim(d, cell);
	waiters_want(d, -UINT32_C(1));
}

uint64_t cells_tickets(struct waiters *d, uint32_t count)
{
	/* relaxed: only the numbers matter. */
	return fetch_add_relaxed(&d->tickets, count) + 1;
}

void cell_wake(const struct waiters *d, struct cell *cell, uint64_t word)
{
	if (!arena_in_buffer(d->arena))
		os_wake(&cell->word);
	/* relaxed: publishes nothing.  Fails if the call has left the cell, or another server has woken it. */
	(void)cas_relaxed(&cell->word, &word, word - GIVEN + WOKEN);
}

#define GROUPS ((CELLS_MAX - CELL_LOT) / CELL_GROUP)
#define TOPS ((GROUPS + TOP_GROUPS - 1) / TOP_GROUPS)

/* ---- Bounds ---- */

#define BOUND_TAG_FIELD 16
#define BOUND_TICKET_BITS (63 - BOUND_TAG_FIELD)
_Static_assert(BOUND_TAG_BITS <= BOUND_TAG_FIELD, "a tag fits");

/* The bound {ticket, some} for a ticket.  The bound 0 means that no cell waits. */
static uint64_t bound_to(uint64_t ticket)
{
	return (ticket & LOW_BITS(BOUND_TICKET_BITS)) << 1 | 1;
}

static uint64_t bound_in(uint64_t word)
{
	return word >> BOUND_TAG_FIELD;
}

/* The word that follows `word` and has this bound; its tag is one higher. */
static uint64_t bound_next(uint64_t word, uint64_t bound)
{
	return bound << BOUND_TAG_FIELD | ((word + 1) & LOW_BITS(BOUND_TAG_BITS));
}

/* Is the bound `a` smaller than `b`?  The bound 0 means that no cell waits, and is greater than all other bounds. */
static bool is_smaller(uint64_t a, uint64_t b)
{
	return a && (!b || (int64_t)((a - b) << BOUND_TAG_FIELD) < 0);
}

/* ---- The tree ---- */

size_t branches_bytes(void)
{
	return (TOPS + TOPS * TOP_GROUPS) * sizeof(struct branch);
}

/* The array of tops, which is followed by the array of groups. */
static struct branch *tops_of(const struct waiters *d)
{
	/* relaxed: the lot was mapped before `cells` counted a cell below a top. */
	char *cells = load_relaxed(&d->lot[1]);

	plain_read(cells);
	return (struct branch *)(void *)((struct cell *)(void *)cells + 2 * CELL_LOT);
}

/* The group of a cell that is not in the first lot, and its top. */
static struct branch *group_of(const struct waiters *d, const struct cell *cell, struct branch **top_out)
{
	const uint32_t group = (cell->index - CELL_LOT) / CELL_GROUP;
	struct branch *tops = tops_of(d);

	*top_out = tops + group / TOP_GROUPS;
	return tops + TOPS + group;
}

static void lower(struct branch *branch, uint64_t bound)
{
	/* relaxed: a first guess. */
	uint64_t word = load_relaxed(&branch->bound);

	/* release, edge BOUND: publishes the cell's word, and the bound of the level below.  Repeats only when another
	 * thread changed this bound. */
	while (!cas_weak_release(&branch->bound, &word,
				 bound_next(word, is_smaller(bound, bound_in(word)) ? bound : bound_in(word))))
		;
}

void cell_show(const struct waiters *d, const struct cell *cell, uint64_t ticket)
{
	struct branch *top, *group;

	if (cell->index < CELL_LOT)
		return;
	group = group_of(d, cell, &top);
	lower(group, bound_to(ticket));
	lower(top, bound_to(ticket));
}

void cell_giving(const struct waiters *d, const struct cell *cell, uint32_t more)
{
	struct branch *top, *group;

	if (cell->index < CELL_LOT)
		return;
	group = group_of(d, cell, &top);
	/* relaxed, both: the counters publish no data.  A search may miss a change, because later searches see it. */
	(void)fetch_add_relaxed(&group->giving, more);
	(void)fetch_add_relaxed(&top->giving, more);
}

/* ---- Search ---- */

/* The oldest waiting cell of `count` cells, or NULL.  Wakes the calls of cells that were given a slot. */
static struct cell *oldest_among(const struct waiters *d, struct cell *cells, uint32_t count, uint64_t *word_out)
{
	struct cell *found = NULL;

	for (struct cell *cell = cells; cell < cells + count; cell++) {
		/* acquire, edge QUEUE: sees `then`. */
		const uint64_t word = load_acquire(&cell->word);

		/* relaxed: acquired with the word.  No call sleeps on the cell of a continuation. */
		if (cell_phase(word) == GIVEN && !load_relaxed(&cell->then))
			cell_wake(d, cell, word);
		if (cell_phase(word) == WAITING && (!found || word < *word_out)) {
			found = cell;
			*word_out = word;
		}
	}
	return found;
}

static struct cell *oldest_of_group(const struct waiters *d, uint32_t group, uint64_t *word_out)
{
	return oldest_among(d, cell_at(d, CELL_LOT + group * CELL_GROUP), CELL_GROUP, word_out);
}

/* The index of the branch with the least bound, and the word of that bound. */
static uint32_t least_of(struct branch *branches, uint32_t count, uint64_t *word_out)
{
	uint32_t least = 0;

	*word_out = 0;
	for (uint32_t i = 0; i < count; i++) {
		/* acquire, edge BOUND: the later loads see the level below as it was when this bound was stored, or a
		 * newer state (W10). */
		const uint64_t word = load_acquire(&branches[i].bound);

		if (is_smaller(bound_in(word), bound_in(*word_out))) {
			least = i;
			*word_out = word;
		}
	}
	return least;
}

static void lift(struct branch *branch, uint64_t word, uint64_t bound)
{
	/* relaxed: a reader still acquires the earlier changes (release sequence).  Fails if another thread has changed
	 * the bound. */
	(void)cas_relaxed(&branch->bound, &word, bound_next(word, bound));
}

/* W12: wakes the calls that were given a slot, below each top whose `giving` is not 0. */
static void wake_given(const struct waiters *d, struct branch *tops, uint32_t used)
{
	uint64_t unused;

	/* relaxed, both: see cell_giving(). */
	for (uint32_t top = 0; top < used; top++)
		for (uint32_t i = 0; unlikely(load_relaxed(&tops[top].giving)) && i < TOP_GROUPS; i++)
			if (load_relaxed(&tops[TOPS + top * TOP_GROUPS + i].giving))
				(void)oldest_of_group(d, top * TOP_GROUPS + i, &unused);
}

/* The oldest cell outside the first lot, if its ticket is smaller than the bound `limit`. */
static struct cell *oldest_in_tree(const struct waiters *d, uint32_t used, uint64_t limit, uint64_t *word_out)
{
	struct branch *tops = tops_of(d), *groups = tops + TOPS;
	uint64_t top_word, group_word, word = 0;

	wake_given(d, tops, used);
	/* Repeats only after this search raised a bound, or another thread changed one. */
	for (;;) {
		const uint32_t top = least_of(tops, used, &top_word);

		if (!is_smaller(bound_in(top_word), limit))
			return NULL;

		const uint32_t group = top * TOP_GROUPS + least_of(groups + top * TOP_GROUPS, TOP_GROUPS, &group_word);

		if (is_smaller(bound_in(top_word), bound_in(group_word))) {
			lift(&tops[top], top_word, bound_in(group_word));
			continue;
		}

		struct cell *cell = oldest_of_group(d, group, &word);
		const uint64_t bound = cell ? bound_to(cell_ticket(word)) : 0;

		if (is_smaller(bound_in(group_word), bound)) {
			lift(&groups[group], group_word, bound);
			continue;
		}
		*word_out = word;
		return cell;
	}
}

struct cell *cells_oldest(const struct waiters *d, uint64_t *word_out)
{
	/* acquire, edge CELL: sees the counted cells.  A cell that is not counted yet may be ignored, because its owner
	 * will serve the queue itself. */
	const uint32_t count = load_acquire(&d->cells), below_top = CELL_GROUP * TOP_GROUPS;
	struct cell *cell = oldest_among(d, cell_at(d, 0), count < CELL_LOT ? count : CELL_LOT, word_out), *earlier;

	if (unlikely(count > CELL_LOT)) {
		struct cell *const other = oldest_in_tree(d, (count - CELL_LOT + below_top - 1) / below_top,
							  cell ? bound_to(cell_ticket(*word_out)) : 0, word_out);

		cell = other ? other : cell;
	}
	/* W14: the search may have passed an earlier cell of the same call before that cell was enlisted.  Repeats at
	 * most once for each cell of the call. */
	while (cell && unlikely(earlier = cell_earlier(d, cell, word_out)))
		cell = earlier;
	return cell;
}
