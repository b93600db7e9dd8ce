/* SPDX-License-Identifier: MIT */
/*
 * widths.h - the widths of counters that can wrap.
 *
 * Idea         docs/design.md, "Counters that run over", lists each counter with the effect of a wrap, the time until
 *              it wraps, and its test.  With LFPOOL_NARROW (verify/narrow) each counter has only a few bits, so all of
 *              them wrap within seconds of a test.  A test can also set one width alone.  (LFPOOL_POSITION_BITS_ is in
 *              lfpool/inline.h.)
 * Two kinds    A tag is compared only for equality, so a wrap does harm only if a stopped thread expects exactly the
 *              repeated value.  LFPOOL_NARROW leaves tags wide enough that this is unlikely.  Every other counter must
 *              work at any width, and LFPOOL_NARROW gives it the fewest bits that its proof allows.
 */
#ifndef LFPOOL_WIDTHS_H
#define LFPOOL_WIDTHS_H

#include <stdint.h>

#ifdef LFPOOL_NARROW
#define LFPOOL_WIDTH(shipped, narrow) narrow
#else
#define LFPOOL_WIDTH(shipped, narrow) shipped
#endif

/* bits: 1 .. 64. */
#define LOW_BITS(bits) (UINT64_MAX >> (64 - (bits)))

/* Tagged words (tagged.h): heads of stacks, the words of a cache. */
#ifndef LFPOOL_TAG_BITS
#define LFPOOL_TAG_BITS LFPOOL_WIDTH(40, 16)
#endif

/* Pushes on a magazine (H4). */
#ifndef PUSHES_BITS
#define PUSHES_BITS LFPOOL_WIDTH(48, 16)
#endif

/* Tickets of waiters (cells.h) are compared by size, so they must never wrap.  The word of a cell that was given a slot
 * keeps only the lowest GIVEN_TICKET_BITS bits of the ticket.  An lfpool_ticket_t keeps only the lowest
 * CANCEL_TICKET_BITS bits. */
#ifndef TICKET_BITS
#define TICKET_BITS 61
#endif
#ifndef GIVEN_TICKET_BITS
#define GIVEN_TICKET_BITS LFPOOL_WIDTH(29, 12)
#endif
#ifndef CANCEL_TICKET_BITS
#define CANCEL_TICKET_BITS LFPOOL_WIDTH(48, 14)
#endif

/* The tag of a bound (cells.c). */
#ifndef BOUND_TAG_BITS
#define BOUND_TAG_BITS LFPOOL_WIDTH(16, 8)
#endif

/* The maximum width of the count in a handle (handle.c).  The slot number has the other bits. */
#ifndef HANDLE_COUNT_BITS
#define HANDLE_COUNT_BITS LFPOOL_WIDTH(64, 18)
#endif

/* Versions of an entry of the quarantine's ring. */
#ifndef QUARANTINE_VERSION_BITS
#define QUARANTINE_VERSION_BITS LFPOOL_WIDTH(32, 16)
#endif

/* Versions of the arrays of address ranges. */
#ifndef RANGES_VERSION_BITS
#define RANGES_VERSION_BITS LFPOOL_WIDTH(39, 10)
#endif

/* Generations of an entry in the table of live pools. */
#ifndef REGISTRY_GENERATION_BITS
#define REGISTRY_GENERATION_BITS LFPOOL_WIDTH(40, 16)
#endif

/* Resets of a minimum (low_water.h). */
#ifndef LOW_WATER_RESETS_BITS
#define LOW_WATER_RESETS_BITS LFPOOL_WIDTH(31, 4)
#endif

#endif
