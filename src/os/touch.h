/* SPDX-License-Identifier: MIT */
/*
 * touch.h - backs pages with memory by a write to each, where the system has no call for that.
 *
 * Idea         Other threads may already use objects on the page, so the write is a CAS that stores the value it read.
 *              (A compiler may replace an atomic "add 0" by a fence and a load, which does not back the page.  A CAS of
 *              a word, because riscv64 has no CAS of a byte.)
 */
#ifndef LFPOOL_TOUCH_H
#define LFPOOL_TOUCH_H

#include "base/atomics.h"
#include "os/os.h"

static inline void touch(void *address, size_t bytes)
{
	char *const first = address;

	for (size_t at = 0; at < bytes; at += os_page_bytes()) {
		_Atomic(uint32_t) *word = (_Atomic(uint32_t) *)(void *)(first + at);
		/* relaxed, both: no value changes. */
		uint32_t there = load_relaxed(word);
		/* On failure another thread has just written there. */
		(void)cas_relaxed(word, &there, there);
	}
}

#endif
