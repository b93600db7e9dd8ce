/* SPDX-License-Identifier: MIT */
/*
 * backing.c - see backing.h.
 */
#include "os/backing.h"

#include "os/os.h"

lfpool_status_t backing_give(uint32_t flags, void *address, size_t bytes)
{
	if (flags & LFPOOL_LOCK)
		return os_lock(address, bytes) ? LFPOOL_OK : LFPOOL_E_LOCK;
	if (flags & LFPOOL_PREFAULT)
		return os_prefault(address, bytes) ? LFPOOL_OK : LFPOOL_E_NO_MEMORY;
	return LFPOOL_OK;
}

void *backing_map(uint32_t flags, size_t bytes)
{
	void *mapped = os_map(bytes);

	if (!mapped || backing_give(flags, mapped, bytes) == LFPOOL_OK)
		return mapped;
	os_unmap(mapped, bytes);
	return NULL;
}
