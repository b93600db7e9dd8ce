/* SPDX-License-Identifier: MIT */
/*
 * scan_mutex.c - one mutex around an array that is searched for the least: what is written where there are few objects, such
 * as the voices of a mixer.
 *
 * Idea         An update is one store, at the price of an eviction in O(n).  Handles as in heap.h.
 */
#include "../objects.h"
#include "evicting.h"

#define SLOT_BITS 20

struct entry {
	uint64_t priority;
	uint64_t handle; /* 0: the slot is free */
};

struct table {
	struct entry *entries;
	uint32_t *free; /* a stack of slots */
	size_t free_count;
	uint64_t acquired; /* objects, so far */
	struct objects objects;
};

static inline struct entry *find(const struct table *table, uint64_t handle)
{
	const size_t slot = handle & ((1u << SLOT_BITS) - 1);

	return handle && slot < table->objects.count && table->entries[slot].handle == handle ? &table->entries[slot] : NULL;
}

static inline size_t least_of(const struct table *table)
{
	struct entry least = table->entries[0];
	size_t slot = 0;

	for (size_t i = 1; i < table->objects.count; i++) {
		const struct entry entry = table->entries[i];

		if (entry.priority < least.priority || (entry.priority == least.priority && entry.handle < least.handle)) {
			least = entry;
			slot = i;
		}
	}
	return slot;
}

static inline void *table_acquire(struct table *table, uint64_t priority, uint64_t *handle_out)
{
	const size_t slot = table->free_count ? table->free[table->free_count - 1] : least_of(table);

	if (!table->free_count && table->entries[slot].priority >= priority)
		return NULL;
	table->free_count -= table->free_count > 0;
	*handle_out = ++table->acquired << SLOT_BITS | slot;
	table->entries[slot] = (struct entry){priority, *handle_out};

	void *object = objects_at(&table->objects, slot);

	object_fill(object, priority);
	return object;
}

static inline bool table_update(struct table *table, uint64_t handle, uint64_t priority)
{
	struct entry *entry = find(table, handle);

	if (entry)
		entry->priority = priority;
	return entry;
}

static inline bool table_release(struct table *table, uint64_t handle)
{
	struct entry *entry = find(table, handle);

	if (!entry)
		return false;
	entry->handle = 0;
	table->free[table->free_count++] = (uint32_t)(handle & ((1u << SLOT_BITS) - 1));
	return true;
}

static struct table table_make(const struct plan *plan)
{
	struct table table = {
		.entries = (struct entry *)must(calloc(plan->capacity, sizeof(struct entry))),
		.free = (uint32_t *)must(calloc(plan->capacity, sizeof(uint32_t))),
		.objects = objects_make(plan),
	};

	for (size_t i = plan->capacity; i-- > 0;)
		table.free[table.free_count++] = (uint32_t)i;
	return table;
}

static void table_free(struct table *table)
{
	objects_free(&table->objects);
	free(table->free);
	free(table->entries);
}

#define POOL table
#define CALL(name) table_##name
#include "locked.h"

const struct subject subject_scan_mutex = {
	.name = "scan-mutex",
	.group = "own",
	.what = "one mutex around an array, which an eviction searches for the least",
	LOCKED_MEMBERS,
};
