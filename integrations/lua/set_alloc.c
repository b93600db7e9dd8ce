/* SPDX-License-Identifier: MIT */
/* set_alloc.c - memory for Lua from a set of pools, see set_alloc.h. */
#include "set_alloc.h"

#include "lfpool/set_inline.h"

#include <stdlib.h>
#include <string.h>

lfpool_set_t *set_alloc_open(void)
{
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;
	lfpool_set_t *set;

	config.largest = 4096;
	config.class_bytes = (size_t)64 << 10;
	config.growth_bytes = (size_t)1 << 20;
	/* Reserves addresses only: for each of 48 classes 1 GiB, or 4 MiB if addresses have 32 bits. */
	config.max_class_bytes = ((size_t)1 << (sizeof(size_t) == 8 ? 30 : 22)) - ((size_t)64 << 10);
	config.pool.name = "lua";
	return lfpool_set_create(&set, &config) == LFPOOL_OK ? set : NULL;
}

static void *take(lfpool_set_t *set, size_t size)
{
	void *block = lfpool_set_acquire(set, size);

	return block ? block : malloc(size);
}

static void give(lfpool_set_t *set, void *block)
{
	if (lfpool_set_release_if_owned(set, block) == LFPOOL_E_FOREIGN)
		free(block);
}

static void *move(lfpool_set_t *set, void *block, size_t old_size, size_t new_size)
{
	void *moved = take(set, new_size);

	if (!moved)
		return NULL;
	memcpy(moved, block, old_size < new_size ? old_size : new_size);
	give(set, block);
	return moved;
}

static void *resize(lfpool_set_t *set, void *block, size_t old_size, size_t new_size)
{
	size_t room;
	const bool is_pooled = lfpool_set_pool_of(set, block, &room) != NULL;
	void *resized;

	/* A block stays in its object if that has the right size, or is at most twice as large as needed. */
	if (is_pooled && new_size <= room && (new_size > room / 2 || lfpool_set_class_size(set, new_size) == room))
		return block;
	if (is_pooled || lfpool_set_class_size(set, new_size))
		resized = move(set, block, old_size, new_size);
	else
		resized = realloc(block, new_size);
	/* Lua relies on success when a block shrinks. */
	return resized || new_size > old_size ? resized : block;
}

void *set_alloc(void *set, void *block, size_t old_size, size_t new_size)
{
	/* For a new block, Lua passes its kind in old_size. */
	if (!block)
		return new_size ? take(set, new_size) : NULL;
	if (new_size)
		return resize(set, block, old_size, new_size);
	give(set, block);
	return NULL;
}
