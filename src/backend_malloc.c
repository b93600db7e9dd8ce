/* SPDX-License-Identifier: MIT */
/*
 * backend_malloc.c - no pooling: every acquire allocates, every release frees, behind all the same calls.
 *
 * Idea         What a program would cost without pooling, and what sanitizers see of it, without a rebuild.  The slots,
 *              their states, caches and counts are the library's own; but a slot is only a cell with a pointer, and the
 *              object is allocated when its slot is acquired.  So capacity, NULL, handles, walks and hooks mean what
 *              they mean elsewhere.  A label before each object says which cell it belongs to.
 * Invariants   E1  the cell of an active slot points to its object, whose label names the pool and the slot; the cell of
 *                  a free slot is NULL.
 *              E2  what a label says is believed only if the cell agrees.
 */
#include "backend_lockfree.h"
#include "os.h"

#include <string.h>

struct label {
	const struct core *core;
	uint32_t slot;
};

/* From the start of a block to the object: the label is the last thing before it. */
static size_t offset_of(const struct core *core)
{
	return round_up(sizeof(struct label), core->heap_alignment);
}

static _Atomic(void *) *cell_of(const struct core *core, uint32_t slot)
{
	return arena_object(&core->arena, slot);
}

void *heap_object_new(struct core *core, uint32_t slot)
{
	const size_t offset = offset_of(core);
	char *block = os_heap_aligned(core->heap_alignment, round_up(offset + core->heap_bytes, core->heap_alignment));

	if (!block)
		return NULL;

	void *object = block + offset;

	memcpy((char *)object - sizeof(struct label), &(struct label){core, slot}, sizeof(struct label));
	/* relaxed: published with the slot's state (edge TELL). */
	store_relaxed(cell_of(core, slot), object);
	return object;
}

void heap_object_free(struct core *core, uint32_t slot, void *object)
{
	/* relaxed: the cell travels with the slot. */
	store_relaxed(cell_of(core, slot), NULL);
	os_heap_free((char *)object - offset_of(core));
}

void *heap_object_at(const struct core *core, uint32_t slot)
{
	/* relaxed: who knows that the slot is active has read its state before, edge TELL. */
	return load_relaxed(cell_of(core, slot));
}

lfpool_status_t heap_locate(const struct core *core, const void *object, uint32_t *slot_out)
{
	struct label label;

	memcpy(&label, (const char *)object - sizeof(label), sizeof(label));
	*slot_out = label.slot;
	if (label.core == core && label.slot - 1 < core->arena.face.slots && heap_object_at(core, label.slot) == object)
		return LFPOOL_OK;
	*slot_out = SLOT_NONE;
	return LFPOOL_E_FOREIGN;
}

/* Reading before an arbitrary pointer is not to be done for a mere question. */
bool heap_cannot_tell(const lfpool_t *pool, const void *pointer)
{
	(void)pool;
	return pointer != NULL;
}
