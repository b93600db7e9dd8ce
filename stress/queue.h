/* SPDX-License-Identifier: MIT */
/*
 * queue.h - a bounded queue of held objects, for any number of threads at both ends, without locks.
 *
 * Idea         A ring of cells, each with a turn number (after Dmitry Vyukov's bounded MPMC queue).  turn ==
 *              position: the cell is free for the push at that position.  turn == position + 1: it holds what was
 *              pushed there.  The thread that moves head or tail to the next position by CAS owns the cell until it
 *              sets the turn.
 * Orders       A push is visible to the pop that gets it, and a pop to the push that reuses the cell.
 */
#ifndef STRESS_QUEUE_H
#define STRESS_QUEUE_H

#include "round.h"

#include <string.h>

struct queue_cell {
	_Atomic(size_t) turn;
	struct held held;
};

struct queue {
	struct queue_cell *cells;
	size_t count; /* a power of two, at least 2 */
	_Alignas(64) _Atomic(size_t) tail; /* position of the next push */
	_Alignas(64) _Atomic(size_t) head; /* position of the next pop  */
};

static inline void queue_open(struct queue *queue, size_t count)
{
	memset(queue, 0, sizeof(*queue));
	queue->cells = round_memory(count, sizeof(*queue->cells));
	queue->count = count;
	for (size_t i = 0; i < count; i++)
		atomic_init(&queue->cells[i].turn, i);
}

static inline void queue_close(struct queue *queue)
{
	free(queue->cells);
}

/* Claims the cell at the next position of `end` if its turn is position + ahead; NULL: the queue is full (or
 * empty). */
static inline struct queue_cell *queue_claim(struct queue *queue, _Atomic(size_t) *end, size_t ahead,
					     size_t *position_out)
{
	/* relaxed: checked by the CAS. */
	size_t position = atomic_load_explicit(end, memory_order_relaxed);

	/* Retries only after another thread has moved `end`. */
	for (;;) {
		struct queue_cell *cell = &queue->cells[position & (queue->count - 1)];
		/* acquire: pairs with queue_set(); what the last user of the cell did lies before what we do. */
		size_t turn = atomic_load_explicit(&cell->turn, memory_order_acquire);

		if ((ptrdiff_t)(turn - (position + ahead)) < 0)
			return NULL;
		/* relaxed: the turn carries the order. */
		if (turn != position + ahead)
			position = atomic_load_explicit(end, memory_order_relaxed);
		else if (atomic_compare_exchange_weak_explicit(end, &position, position + 1, memory_order_relaxed,
							       memory_order_relaxed)) {
			*position_out = position;
			return cell;
		}
	}
}

static inline void queue_set(struct queue_cell *cell, size_t turn)
{
	/* release: pairs with queue_claim(). */
	atomic_store_explicit(&cell->turn, turn, memory_order_release);
}

/* False when the queue is full. */
static inline bool queue_push(struct queue *queue, const struct held *held)
{
	size_t position;
	struct queue_cell *cell = queue_claim(queue, &queue->tail, 0, &position);

	if (!cell)
		return false;
	cell->held = *held;
	queue_set(cell, position + 1);
	return true;
}

/* False when the queue is empty. */
static inline bool queue_pop(struct queue *queue, struct held *held_out)
{
	size_t position;
	struct queue_cell *cell = queue_claim(queue, &queue->head, 1, &position);

	if (!cell)
		return false;
	*held_out = cell->held;
	queue_set(cell, position + queue->count);
	return true;
}

#endif
