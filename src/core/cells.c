/* SPDX-License-Identifier: MIT */
/*
 * cells.c - the cells of those who want objects; see cells.h.
 */
#include "core/cells.h"

#include "core/arena.h"
#include "core/magazines.h"
#include "os/backing.h"
#include "os/os.h"

struct cell *cell_at(const struct waiters *d, uint32_t index)
{
	uint32_t place;
	const unsigned lot = lot_of(index, CELL_LOT, &place);
	/* relaxed: mapped before `cells` counted it, or by lot_ensure(). */
	char *cells = load_relaxed(&d->lot[lot]);

	plain_read(cells);
	return (struct cell *)(void *)cells + place;
}

static bool lot_ensure(struct waiters *d, uint32_t index)
{
	uint32_t place;
	const unsigned lot = lot_of(index, CELL_LOT, &place);
	const size_t bytes = ((size_t)CELL_LOT << lot) * sizeof(struct cell);
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

static bool claim(struct cell *cell)
{
	uint64_t vacant = 0;

	/* relaxed look before the CAS, so that a search writes nothing.  acquire, edge QUEUE: the last user's fields. */
	return !load_relaxed(&cell->word) && cas_acquire(&cell->word, &vacant, CLAIMED);
}

struct cell *cell_claim(struct waiters *d, uint32_t *index_out)
{
	/* acquire, edge CELL: the cells it counts. */
	const uint32_t count = load_acquire(&d->cells);

	for (uint32_t index = 0; index < CELLS_MAX; index++) {
		if (index >= count && !lot_ensure(d, index))
			return NULL;
		if (!claim(cell_at(d, index)))
			continue;
		/* relaxed: a number to begin with. */
		uint32_t counted = load_relaxed(&d->cells);

		/* release, edge CELL.  Repeats only when another thread raised it. */
		while (counted <= index && !cas_weak_release(&d->cells, &counted, index + 1))
			;
		*index_out = index;
		return cell_at(d, index);
	}
	return NULL;
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
	/* W1: either a release sees the demand, or we see what it pushed. */
	arena_heavy_fence(d->arena);
}

void cell_vacate(struct waiters *d, struct cell *cell)
{
	/* release, edge QUEUE: our reading of the cell comes before its next user's writing. */
	store_release(&cell->word, 0);
	waiters_want(d, -UINT32_C(1));
}

uint64_t cells_ticket(struct waiters *d)
{
	/* relaxed: a number. */
	return fetch_add_relaxed(&d->tickets, 1) + 1;
}

void cell_wake(const struct waiters *d, struct cell *cell, uint64_t word)
{
	if (!d->arena->in_buffer)
		os_wake(&cell->word);
	/* relaxed: if it fails, the call is awake. */
	(void)cas_relaxed(&cell->word, &word, word - GIVEN + WOKEN);
}

struct cell *cells_oldest(const struct waiters *d, uint64_t *word_out)
{
	/* acquire, edge CELL.  A cell that is not counted yet: its owner will serve after us. */
	const uint32_t count = load_acquire(&d->cells);
	struct cell *found = NULL;

	for (uint32_t index = 0; index < count; index++) {
		struct cell *cell = cell_at(d, index);
		/* acquire, edge QUEUE: `then`. */
		const uint64_t word = load_acquire(&cell->word);

		/* relaxed: if it is a continuation's, nobody sleeps there. */
		if (cell_phase(word) == GIVEN && !load_relaxed(&cell->then))
			cell_wake(d, cell, word);
		if (cell_phase(word) == WAITING && (!found || word < *word_out)) {
			found = cell;
			*word_out = word;
		}
	}
	return found;
}
