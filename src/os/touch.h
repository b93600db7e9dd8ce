/* SPDX-License-Identifier: MIT */
/*
 * touch.h - backs pages with memory by a write to each of them, where the system has no call for that.
 *
 * Idea         A CAS that stores the value it has read undoes no store of a thread that uses an object there by now.
 *              (A compiler may turn "add 0" into a fence and a load, which brings no page; and riscv64 has no
 *              CAS of a byte.)
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
		/* If it fails another thread has just written to the page. */
		(void)cas_relaxed(word, &there, there);
	}
}

#endif
