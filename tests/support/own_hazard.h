/* SPDX-License-Identifier: MIT */
/*
 * own_hazard.h - hazard pointers (Michael 2004) as a scheme of one's own for config.scheme: the whole of it.
 *
 *     static struct hazards hazards;
 *
 *     config.scheme = hazards_scheme(&hazards);
 *     ...
 *     node = hazard_protect(&hazards, me, &head);              // readers; `me` is a number of the thread's own
 *     ... read *node ...
 *     hazard_clear(&hazards, me);
 *
 *     old = atomic_exchange(&head, node);                      // writers
 *     lfpool_retire(pool, old);
 *
 * Idea         A reader says which object it is looking at.  A batch may be reused when no reader says that of an
 *              object in it: `ready` looks at the hazard pointers, and then at the objects of the batch.
 * Why          A reader writes its hazard pointer, and then sees that the object is still in the structure.  A writer
 *              that retires it has taken it out before, and `ready` runs after that.  All of this is seq_cst: so either
 *              the reader comes first, and `ready` sees its pointer, or the object is gone when the reader looks again.
 */
#ifndef LFPOOL_TESTS_OWN_HAZARD_H
#define LFPOOL_TESTS_OWN_HAZARD_H

#include "lfpool/lfpool.h"
#include "lfpool/retire.h"

#include <stdatomic.h>

#define HAZARDS 16 /* threads that read at once */

struct hazards {
	struct {
		_Alignas(64) _Atomic(const void *) object; /* NULL: none */
	} of[HAZARDS];
};

/* The object that *place leads to, which is not reused until hazard_clear(); NULL if there is none. */
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
	/* release: what we read, before the next holder writes. */
	atomic_store_explicit(&h->of[me].object, NULL, memory_order_release);
}

/* No reader says that it looks at one of them. */
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
