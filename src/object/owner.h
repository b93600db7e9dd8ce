/* SPDX-License-Identifier: MIT */
/*
 * owner.h - the last acquire and the last release of each object: thread, time, label, and sometimes the call site.
 *
 * Idea         Each slot has a record in a separate array.  Only the slot's holder writes the record.  A report reads
 *              records that may be changing, so it shows a snapshot of each field.
 * Progress     Recording is wait-free, except for the C library's backtrace(), which finds the call site of sampled
 *              calls.
 */
#ifndef LFPOOL_OWNER_H
#define LFPOOL_OWNER_H

#include "base/atomics.h"
#include "base/base.h"

#include "lfpool/lfpool.h"
#include "lfpool/report.h"

struct debug_home;
struct text;

#define OWNER_FRAMES 8

/* The acquire or the release of an object. */
struct owner_end {
	_Atomic(uint64_t) when;   /* os_now_ns(); 0: not known         */
	_Atomic(uint32_t) thread; /* 0: no such call yet               */
	_Atomic(uint32_t) frames; /* of its call site; 0: not sampled  */
	_Atomic(uintptr_t) frame[OWNER_FRAMES];
};

struct owner_record {
	struct owner_end acquired, released;
	_Atomic(const char *) label; /* of the last use; NULL: none      */
};

struct owners {
	struct owner_record *record; /* per slot; NULL: no records     */
	size_t mapped_bytes;
	uint32_t one_in; /* one call in `one_in` has a call site; 0: no call */
	bool timed;
	_Atomic(uint32_t) acquires, releases; /* counted if one_in is not 0 */
};

bool owners_open(struct owners *owners, size_t capacity, bool timed, uint32_t one_in);
void owners_close(struct owners *owners);

/* Called by the slot's holder. */
void owner_acquired(struct owners *owners, uint32_t slot);
void owner_released(struct owners *owners, uint32_t slot);

/* Writes for example "Acquired by thread 7 ("physics") 1.203 s ago at spawn+0x1f < main+0x88."; nothing if the object
 * was never acquired. */
void owner_put_acquired(const struct owners *owners, uint32_t slot, struct text *text);
void owner_put_released(const struct owners *owners, uint32_t slot, struct text *text);

/* Writes a row for each holder of slots 1 .. used, with the number of its objects and the age of the oldest.  The
 * holder with the most objects is first.  The format is lines of text, or a JSON array. */
void owners_put_table(const struct owners *owners, const struct debug_home *home, size_t used, lfpool_format_t format,
		      struct text *text);

#endif
