/* SPDX-License-Identifier: MIT */
/*
 * own_hazard.h - hazard pointers (Michael 2004) as a program's own scheme for config.scheme, complete.
 *
 *     static struct hazards hazards;
 *
 *     config.scheme = hazards_scheme(&hazards);
 *     ...
 *     node = hazard_protect(&hazards, me, &head);              // readers; `me` is the thread's number
 *     ... read *node ...
 *     hazard_clear(&hazards, me);
 *
 *     old = atomic_exchange(&head, node);                      // writers
 *     lfpool_retire(pool, old);
 *
 * Idea         A reader publishes the object it is reading.  A batch may be reused when no reader has published one
 *              of the batch's objects: `ready` compares the hazard pointers with the objects of the batch.
 * Why          A reader writes its hazard pointer, and then checks that the object is still in the structure.  A
 *              writer takes an object out before retiring it, and `ready` runs after the retire.  All of this is
 *              seq_cst: either the reader comes first, and `ready` sees its pointer, or the object is gone when the
 *              reader checks.
 */
#ifndef LFPOOL_TESTS_OWN_HAZARD_H
#define LFPOOL_TESTS_OWN_HAZARD_H

#include "lfpool/lfpool.h"
#include "lfpool/retire.h"

#include <stdatomic.h>

#define HAZARDS 16 /* threads that read at once */

struct hazards {
	struct {
		_Alignas(64) _Atomic(const void *) object; /* or NULL */
	} of[HAZARDS];
};

/* The object that *place points to, which is not reused until hazard_clear(); or NULL. */
static inline void *hazard_protect(struct hazards *h, unsigned me, _Atomic(void *) *place)
{
	void *seen = atomic_load(place), *again;

	/* Repeats only after a writer changed *place. */
	for (;; seen = again) {
		atomic_store(&h->of[me].object, seen);
		again = atomic_load(place);
		if (again == seen)
			return seen;
	}
}

static inline void hazard_clear(struct hazards *h, unsigned me)
{
	/* release: our reads, before the next holder's writes. */
	atomic_store_explicit(&h->of[me].object, NULL, memory_order_release);
}

/* True if no reader has published an object of the batch. */
static inline bool hazards_ready(void *context, const lfpool_batch_t *batch)
{
	struct hazards *h = context;
	const void *looked_at[HAZARDS], *object;
	size_t count = 0;
	uint32_t cursor = 0;

	for (size_t i = 0; i < HAZARDS; i++)
		if ((object = atomic_load(&h->of[i].object)))
			looked_at[count++] = object;
	while (count && (object = lfpool_batch_next(batch, &cursor)))
		for (size_t i = 0; i < count; i++)
			if (looked_at[i] == object)
				return false;
	return true;
}

static inline lfpool_scheme_t hazards_scheme(struct hazards *h)
{
	return (lfpool_scheme_t){.context = h, .ready = hazards_ready};
}

#endif
