/* SPDX-License-Identifier: MIT */
/*
 * port.h - what the ports of os.h share, and nobody else includes.
 *
 * Idea         In a build for tests (LFPOOL_TESTING) the n-th call is refused, and what is held is counted: the switches of os.h.
 *              In any other that is nothing.
 */
#ifndef LFPOOL_PORT_H
#define LFPOOL_PORT_H

#include "base/atomics.h"
#include "os/os.h"

#ifdef LFPOOL_TESTING
static _Atomic(unsigned long) os_calls, os_refuse_at, os_heavy_fences;
static _Atomic(size_t) os_mapped_bytes, os_heap_blocks;

static bool refused(void)
{
	/* relaxed, here and below: tests set and read these while nothing else runs. */
	return fetch_add_relaxed(&os_calls, 1) + 1 == load_relaxed(&os_refuse_at);
}

unsigned long os_testing_refuse(unsigned long n)
{
	unsigned long before = load_relaxed(&os_calls);

	store_relaxed(&os_calls, 0);
	store_relaxed(&os_refuse_at, n);
	return before;
}

void os_testing_held(size_t *mapped_bytes_out, size_t *heap_blocks_out)
{
	*mapped_bytes_out = load_relaxed(&os_mapped_bytes);
	*heap_blocks_out = load_relaxed(&os_heap_blocks);
}

unsigned long os_testing_heavy_fences(void)
{
	return load_relaxed(&os_heavy_fences);
}

#define account(counter, difference) ((void)fetch_add_relaxed(&(counter), (difference)))
#else
#define refused() false
#define account(counter, difference) ((void)0)
#endif

/* Writes to each page what is there, by a CAS, which takes back nothing of a thread that has an object there by now.  (Of "add 0"
 * a compiler may make a fence and a load, which brings no page; and riscv64 has no CAS of a byte.) */
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
