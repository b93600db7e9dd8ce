/* SPDX-License-Identifier: MIT */
/*
 * promise.c - see promise.h.
 */
#include "promise.h"
#include "round.h"

#include <inttypes.h>

void promises_open(struct promises *promises, unsigned workers, bool stamped)
{
	promises->stamped = stamped;
	promises->workers = workers;
	promises->of = round_memory((size_t)workers * PROMISES_MAX, sizeof(struct promise));
	promises->count = round_memory(workers, sizeof(*promises->count));
}

void promises_close(struct promises *promises)
{
	free(promises->of);
	free(promises->count);
}

struct promise *promise_next(struct promises *promises, unsigned index)
{
	if (promises->count[index] == PROMISES_MAX)
		return NULL;
	return &promises->of[index * PROMISES_MAX + promises->count[index]++];
}

bool promise_turn(struct promise *promise, enum promise_state from, enum promise_state to)
{
	static const char *const names[] = {"not asked for", "asked for", "run", "cancelled"};
	/* relaxed: see promise.h. */
	const unsigned found = atomic_exchange_explicit(&promise->state, to, memory_order_relaxed);

	if (found == from)
		return true;
	violation("a continuation is %s that was %s", names[to], names[found]);
	return false;
}

size_t promises_pending(const struct promises *promises)
{
	size_t pending = 0;

	for (unsigned w = 0; w < promises->workers; w++)
		for (unsigned i = 0; i < promises->count[w]; i++)
			pending += promise_state(&promises->of[w * PROMISES_MAX + i]) == PROMISE_ASKED;
	return pending;
}

/* ---- First come, first served ---- */

static uint64_t came_before(const struct promise *b)
{
	return b->begin < b->served_in ? b->begin : b->served_in;
}

static int by_end(const void *a, const void *b)
{
	const struct promise *x = *(const struct promise *const *)a, *y = *(const struct promise *const *)b;

	return (x->end > y->end) - (x->end < y->end);
}

static int by_came_before(const void *a, const void *b)
{
	const struct promise *const *x_at = a, *const *y_at = b;
	const uint64_t x = came_before(*x_at), y = came_before(*y_at);

	return (x > y) - (x < y);
}

void promises_check_order(const struct promises *promises)
{
	const size_t room = (size_t)promises->workers * PROMISES_MAX;
	const struct promise **first, **second, *longest = NULL;
	size_t count = 0, ran = 0;

	if (!promises->stamped)
		return;
	first = round_memory(room, sizeof(*first));
	second = round_memory(room, sizeof(*second));
	for (size_t i = 0; i < room; i++) {
		const struct promise *promise = &promises->of[i];

		if (promise_state(promise) != PROMISE_NONE)
			first[count++] = promise;
		if (promise_state(promise) == PROMISE_RAN)
			second[ran++] = promise;
	}
	qsort(first, count, sizeof(*first), by_end);
	qsort(second, ran, sizeof(*second), by_came_before);
	for (size_t b = 0, a = 0; b < ran; b++) {
		for (; a < count && first[a]->end < came_before(second[b]); a++)
			if (!longest || first[a]->served_in > longest->served_in)
				longest = first[a];
		if (longest && second[b]->ran < longest->served_in) {
			violation("out of turn: a continuation asked for in [%" PRIu64 ", %" PRIu64 "] ran at %" PRIu64
				  ", in a call from %" PRIu64 " on; one asked for in [%" PRIu64 ", %" PRIu64
				  "] was waiting until %" PRIu64 " at least",
				  second[b]->begin, second[b]->end, second[b]->ran, second[b]->served_in, longest->begin,
				  longest->end, longest->served_in);
			break;
		}
	}
	free(first);
	free(second);
}
