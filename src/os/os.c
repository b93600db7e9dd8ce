/* SPDX-License-Identifier: MIT */
/*
 * os.c - the parts of os.h that are the same on every system: how pages get their memory.
 */
#include "os/os.h"

#include "base/atomics.h"

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

/*
 * Other threads may already use objects on the page, so the write is a CAS that stores the value it read.  (A compiler
 * may replace an atomic "add 0" by a fence and a load, which does not back the page.  The CAS is on a word, because
 * riscv64 has no CAS on a byte.)
 */
void os_touch(void *address, size_t bytes)
{
	char *const first = address;

	for (size_t at = 0; at < bytes; at += os_page_bytes()) {
		_Atomic(uint32_t) *word = (_Atomic(uint32_t) *)(void *)(first + at);
		/* relaxed, both: no value changes. */
		uint32_t there = load_relaxed(word);
		/* A failure means that another thread has just written to the page, so the page is backed. */
		(void)cas_relaxed(word, &there, there);
	}
}
