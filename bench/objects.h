/* SPDX-License-Identifier: MIT */
/* objects.h - memory for subjects that only keep track of objects: one array, and the address of each index. */
#ifndef LFPOOL_BENCH_OBJECTS_H
#define LFPOOL_BENCH_OBJECTS_H

#include "subject.h"

#include <sys/mman.h>

struct objects {
	size_t object_bytes, count;
	char *memory;
};

static inline size_t objects_all_bytes(const struct objects *objects)
{
	return objects->object_bytes * objects->count;
}

/* Directly from the system: glibc 2.36 does not reuse a freed large aligned block, and would grow from run to run. */
static inline struct objects objects_make(const struct plan *plan)
{
	struct objects objects = {plan->object_bytes, plan->capacity, NULL};
	void *memory = mmap(NULL, objects_all_bytes(&objects), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);

	objects.memory = (char *)must(memory == MAP_FAILED ? NULL : memory);
	return objects;
}

static inline void *objects_at(const struct objects *objects, size_t index)
{
	return objects->memory + index * objects->object_bytes;
}

static inline void objects_free(struct objects *objects)
{
	(void)munmap(objects->memory, objects_all_bytes(objects));
}

#endif
