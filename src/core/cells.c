/* SPDX-License-Identifier: MIT */
/*
 * cells.c - the cells of those who want objects; see cells.h.
 */
#include "core/cells.h"

#include "core/arena.h"
#include "os/backing.h"
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

	/* acquire, edge CELL. */
	if (load_acquire(&d->lot[lot]))
		return true;

	char *mapped = d->arena->in_buffer ? NULL : backing_map(d->arena->backing, bytes);

	if (!mapped)
		return false;
	plain_written(mapped);
	/* acq_rel, edge CELL: release our mapping, or acquire that of the one who was first. */
	if (!cas_acq_rel(&d->lot[lot], &none, mapped))
		os_unmap(mapped, bytes);
	return true;
}

/* ---- Vacant cells: a stack, by Treiber (1986) ---- */

static void cell_push(struct waiters *d, struct cell *cell)
{
	/* relaxed: a number to begin with. */
	uint64_t top = load_relaxed(&d->vacant);

	/* Repeats only when another thread moved the top.  relaxed: the cell is ours until the CAS publishes it. */
	do {
		store_relaxed(&cell->below, tagged_number(top));
		/* release, edge VACANT: our reading and writing of the cell comes before its next user's. */
	} while (!cas_weak_release(&d->vacant, &top, tagged_next(top, cell->index + 1)));
}

static struct cell *cell_pop(struct waiters *d)
{
	/* acquire, edge VACANT: `below`. */
	uint64_t top = load_acquire(&d->vacant);

	/* Repeats only when another thread moved the top. */
	while (tagged_number(top)) {
		struct cell *cell = cell_at(d, tagged_number(top) - 1);

		/* relaxed: VACANT made it visible.  It is stale only if the cell has left, and then the tag has moved (S1).
		 * acquire, edge VACANT: on failure the fresh top needs it. */
		if (cas_acquire(&d->vacant, &top, tagged_next(top, load_relaxed(&cell->below))))
			return cell;
	}
	return NULL;
}

struct cell *cell_claim(struct waiters *d)
{
	struct cell *cell;

	/* Repeats only when another thread took the cell that was the next. */
	while (!(cell = cell_pop(d))) {
		/* acquire, edge CELL: the lots of the cells it counts, and the branches. */
		uint32_t count = load_acquire(&d->cells);

		if (count == CELLS_MAX || !cell_lot_ensure(d, count))
			return NULL;
		/* release, edge CELL. */
		if (cas_release(&d->cells, &count, count + 1)) {
			cell = cell_at(d, count);
			cell->index = count;
			break;
		}
	}
	/* relaxed: it is ours. */
	store_relaxed(&cell->word, CLAIMED);
	return cell;
}

void cell_unclaim(struct waiters *d, struct cell *cell)
{
	/* relaxed: it is ours until it is pushed. */
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
	/* release, edge QUEUE: what the server needs. */
	store_release(&cell->word, cell_waiting(ticket));
	cell_show(d, cell, ticket);
}

void cells_shown(const struct waiters *d)
{
	/* W1: either a release sees the demand, or we see what it pushed.  W7. */
	arena_heavy_fence(d->arena);
}

void cell_vacate(struct waiters *d, struct cell *cell)
{
	cell_unclaim(d, cell);
	waiters_want(d, -UINT32_C(1));
}

uint64_t cells_tickets(struct waiters *d, uint32_t count)
{
	/* relaxed: numbers. */
	return fetch_add_relaxed(&d->tickets, count) + 1;
}

void cell_wake(const struct waiters *d, struct cell *cell, uint64_t word)
{
	if (!d->arena->in_buffer)
		os_wake(&cell->word);
	/* relaxed: if it fails, the call is awake. */
	(void)cas_relaxed(&cell->word, &word, word - GIVEN + WOKEN);
}
