/* SPDX-License-Identifier: MIT */
/*
 * sizes.h - opens and closes a set of pools, and calls it; a template.  A file includes it, and then loops.h.
 */
#ifndef LFPOOL_BENCH_SIZES_H
#define LFPOOL_BENCH_SIZES_H

#include "../workload.h"
#include "pool.h"

#include "lfpool/set.h"

struct sized {
	lfpool_set_t *set;
	size_t object_bytes;
};

#define SUBJECT_HAS_SIZES

static inline void *acquire_size(void *hand, size_t bytes)
{
	return lfpool_set_acquire(((struct sized *)hand)->set, bytes);
}

static inline void *acquire(void *hand)
{
	return acquire_size(hand, ((struct sized *)hand)->object_bytes);
}

static inline void release(void *hand, void *object)
{
	(void)lfpool_set_release(((struct sized *)hand)->set, object);
}

/* Each class has room for the plan, and for 256 objects of the largest class. */
static inline void *open_set(const struct plan *plan)
{
	struct sized *sized = (struct sized *)must(malloc(sizeof(*sized)));
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;

	sized->object_bytes = plan->object_bytes;
	config.largest = MIXED_BYTES;
	config.class_bytes = plan->object_bytes * plan->capacity;
	if (config.class_bytes < (size_t)256 * MIXED_BYTES)
		config.class_bytes = (size_t)256 * MIXED_BYTES;
	if (lfpool_set_create(&sized->set, &config) != LFPOOL_OK)
		give_up("lfpool-set", "it could not be made");
	return sized;
}

static inline void close_set(void *shared)
{
	if (lfpool_set_destroy(((struct sized *)shared)->set))
		give_up("lfpool-set", "objects were not released");
	free(shared);
}

#endif
