/* SPDX-License-Identifier: MIT */
/*
 * widths.h - how many bits each counter has that can run over.
 *
 * Idea         docs/design.md, "Counters that run over", says of each what a wrap costs, how long one takes, and which
 *              test runs it over.  With LFPOOL_NARROW each has only a few bits (verify/narrow): then all of them run
 *              over in seconds, and what follows is seen.  A test may also set one of them alone.  That of
 *              lfpool/inline.h, LFPOOL_POSITION_BITS_, stands there, and is set by the compiler's command line.
 * Two kinds    A value of a tag that comes back matters only if it is the very value that a stopped thread expects;
 *              LFPOOL_NARROW leaves tags so many bits that this takes luck.  Anything else must be right at any width,
 *              and gets as few bits as the argument for it allows.
 */
#ifndef LFPOOL_WIDTHS_H
#define LFPOOL_WIDTHS_H

#include <stdint.h>

#ifdef LFPOOL_NARROW
#define LFPOOL_WIDTH(shipped, narrow) narrow
#else
#define LFPOOL_WIDTH(shipped, narrow) shipped
#endif

/* 1 .. 64 of them. */
#define LOW_BITS(bits) (UINT64_MAX >> (64 - (bits)))

/* Tagged words (tagged.h): heads of stacks, the words of a cache. */
#ifndef LFPOOL_TAG_BITS
#define LFPOOL_TAG_BITS LFPOOL_WIDTH(40, 16)
#endif

/* Pushes on a magazine (H4). */
#ifndef PUSHES_BITS
#define PUSHES_BITS LFPOOL_WIDTH(48, 16)
#endif

/* Of the tickets of those who wait (cells.h): they are compared, so they must never run over; what is left of one when
 * a slot is given; and what is left of one in an lfpool_ticket_t. */
#ifndef TICKET_BITS
#define TICKET_BITS 61
#endif
#ifndef GIVEN_TICKET_BITS
#define GIVEN_TICKET_BITS LFPOOL_WIDTH(29, 12)
#endif
#ifndef CANCEL_TICKET_BITS
#define CANCEL_TICKET_BITS LFPOOL_WIDTH(48, 14)
#endif

/* Of the tag of a bound (cells.c). */
#ifndef BOUND_TAG_BITS
#define BOUND_TAG_BITS LFPOOL_WIDTH(16, 8)
#endif

/* Of the count in a handle, at most (handle.c): what the slot leaves of 64. */
#ifndef HANDLE_COUNT_BITS
#define HANDLE_COUNT_BITS LFPOOL_WIDTH(64, 18)
#endif

/* Versions of a place in the quarantine. */
#ifndef QUARANTINE_VERSION_BITS
#define QUARANTINE_VERSION_BITS LFPOOL_WIDTH(32, 16)
#endif

/* Versions of the arrays of address ranges. */
#ifndef RANGES_VERSION_BITS
#define RANGES_VERSION_BITS LFPOOL_WIDTH(39, 10)
#endif

/* Pools that had the same place in the registry. */
#ifndef REGISTRY_GENERATION_BITS
#define REGISTRY_GENERATION_BITS LFPOOL_WIDTH(40, 16)
#endif

/* Resets of a least depth (low_water.h). */
#ifndef LOW_WATER_RESETS_BITS
#define LOW_WATER_RESETS_BITS LFPOOL_WIDTH(31, 4)
#endif

#endif
