/* SPDX-License-Identifier: MIT */
/*
 * arena.h - one address range: the pool's own data, the states, and the objects.
 *
 * Idea         [ room for the pool | wanted | states | generations | pages | no access | objects | no access ].
 *              Objects are contiguous and never move.  Addresses are reserved for the maximum number of objects; those
 *              beyond the first `capacity` have no access until arena_extend().  The objects may also be in a separate
 *              caller-provided range, or all parts in a caller-provided buffer, without the pages in between.
 *                 slot -> address is a multiply.  address -> slot is a multiply by an inverse, which also finds out
 *              whether the address is the start of an object (arena_slot_of).  Nothing is initialised: memory is used
 *              when it is touched.
 *                 The state of a slot is a word outside the objects, so a write to an object cannot corrupt it.  The
 *              addresses are divided into granules, the largest powers of two in which no two objects begin (H9).  Each
 *              granule has a state, so a shift of the address finds it.  A slot that ever had a handle also uses its
 *              generation, a word that is not touched before.
 * Invariants   A1  a slot's state is 0 exactly while its object is free.  Otherwise it is arena_active(), or
 *                  LFPOOL_MARKED_ once the first handle of that use has been made.  The word of a granule in which no
 *                  object begins is 0.
 *              A2  only the thread that holds the slot (or the object) writes its state, with two exceptions, both by
 *                  CAS.  A thread that makes a handle marks it.  And threads race to release it: with
 *                  LFPOOL_CHECK_RACES, at a retire, in lfpool_release_all(), and if it is marked.
 *              A3  the word {generation:51, pins:10, phase:3} of a slot is dead, live, candidate (live, and may be
 *                  evicted), released or retired (both take effect at the last unpin), or leaving.  A marked slot
 *                  becomes free only as follows.  A CAS sets the word to {generation + 1, 0, leaving}, from a word
 *                  without pins or, at the last unpin, from a released or retired word with one pin.  The thread whose
 *                  CAS succeeded releases the object: it sets the state to 0, then the word to {generation + 1, 0,
 *                  dead}.  So one of several releases succeeds, and a word that was live while the state was marked is
 *                  never live again.
 *              A4  only a live or candidate word gets more pins.  So the pins of a released word only decrease, and
 *                  the slot becomes free after the last unpin.
 * Progress     Wait-free, except open, back, close and extend, which enter the kernel (except in a buffer).
 * Edges        TELL: arena_activate -> a walk, a resolve: what hooks.activate wrote.
 *              MARK: the release of a marked object -> the mark of the slot's next use, which has another generation.
 *              PIN: an unpin -> a later pin, and the call that ends the use: all accesses to the object.
 */
#ifndef LFPOOL_ARENA_H
#define LFPOOL_ARENA_H

#include "base/atomics.h"
#include "base/base.h"

#include "lfpool/inline.h"

/* An address range for the objects; by default reserved pages without access.  All 0: the objects are in the pool's
 * mapping. */
struct window {
	void *at;
	size_t bytes;
	bool whole; /* a buffer for the whole pool, with access, of arena_buffer_bytes()  */
	bool lent;  /* memory for the objects, with access                                */
};

struct arena_plan {
	size_t room_bytes; /* for the pool's own data, at the start */
	size_t object_size;
	size_t object_alignment;        /* power of two */
	bool plain_stride;              /* LFPOOL_PLAIN_STRIDE */
	size_t front_bytes, back_bytes; /* before and behind each object, for debug modes */
	size_t capacity;                /* usable slots at the start */
	size_t reserved;                /* the maximum number of slots, at least `capacity` */
	uint32_t backing;               /* flags of os.h */
	struct window window;           /* a whole one is aligned to CACHE_LINE_PAIR */
	size_t colour;                  /* shifts the pool within its pages: arena.c */
	bool veiled;                    /* states do not look like references to the objects: for leak checkers */
	bool fenced;                    /* LFPOOL_FENCED, or in a buffer: no membarrier(2), owners fence */
};

struct arena {
	struct lfpool_cache_t face;    /* the arena's fields in every cache; `hot` is not set here */
	uintptr_t zero;                /* address of the imaginary slot 0: slot s is at zero + s * stride */
	uint64_t inverse;              /* of the odd part of the stride, modulo 2^64, see arena_slot_of() */
	uint64_t slots;                /* slots with addresses                                       */
	uint32_t stride;               /* bytes from slot to slot                                    */
	uint8_t shift;                 /* trailing zero bits of the stride                           */
	uintptr_t veil;                /* inverts the states of active objects, see arena_active()   */
	size_t mapped_bytes;           /* from the page of the room's start; 0: in a buffer          */
	size_t front;                  /* bytes of a slot before its object, for debug modes         */
	char *objects;                 /* the page on which they begin                               */
	_Atomic(uint8_t) *dirty;       /* per page of the objects: can be given back, see cold.h; NULL: never */
	size_t touched;                /* bytes of the mapping up to the end of the generations      */
	uint32_t backing;              /* flags of os.h                                         */
	bool in_buffer;                /* and no operation on it enters the kernel                   */
	bool fenced, lent;             /* as planned                                                 */
	_Atomic(uint32_t) *wanted;     /* LFPOOL_WANTED_BEFORE_ the states                       */
	_Atomic(uint64_t) *generation; /* per slot, A3                                          */
};

/* Is the arena in a buffer?  A macro, so that it is a constant in embedded builds with every compiler. */
#define arena_in_buffer(arena) (EMBEDDED || (arena)->in_buffer)

/* Maps an arena and returns its room, zeroed; NULL when the system refuses memory.  `arena_out` must be outside the
 * room. */
void *arena_open(struct arena *arena_out, const struct arena_plan *plan);
void arena_close(void *room, size_t mapped_bytes);

/* Backs all usable memory as planned (os.h).  Once, before anything outside the room is touched. */
lfpool_status_t arena_back(const struct arena *arena, void *room, size_t capacity);

/* The stride for objects of `bytes` bytes by the rule of config.h; `plain`: LFPOOL_PLAIN_STRIDE. */
size_t layout_stride(size_t bytes, size_t alignment, bool plain);
/* The inverse of the odd part of a stride, modulo 2^64. */
uint64_t layout_inverse(uint64_t stride);

/* The size of an arena in a buffer at any address; 0 on overflow. */
size_t arena_buffer_bytes(const struct arena_plan *plan);
/* The heavy fence (os.h); in a pool whose owners fence, a full fence of the caller only. */
void arena_heavy_fence(const struct arena *arena);

/* The size of the objects in whole pages; false on overflow, or if the window is too small. */
bool arena_object_bytes(const struct arena_plan *plan, size_t *bytes_out);

/* Makes slots from + 1 .. to accessible, and backs them.  False when the system refuses memory; some may then be
 * accessible and locked.  Two threads may extend by the same slots at once, and one may use them already: their
 * contents stay.  Enters the kernel, except if `from` and `to` are on one page. */
bool arena_extend(const struct arena *arena, size_t from, size_t to);
/* `slots`; with huge pages rounded up, so that they fill the last page. */
size_t arena_fill_pages(const struct arena *arena, size_t slots);

/* Is the address within the range of the objects? */
static inline bool arena_spans(const struct arena *arena, const void *address)
{
	const uintptr_t first = arena->zero + arena->stride;

	return (uintptr_t)address - first < (uintptr_t)(arena->slots * arena->stride);
}

/* The slot of any address; a number outside 1 .. slots if no object starts there.  Exact for every stride: the
 * multiplication by an odd number and the rotation are bijections that map the offset of slot s to s, so they map no
 * other offset to s. */
static inline uint64_t arena_slot_of(const struct arena *arena, const void *address)
{
	const uint64_t product = (uint64_t)((uintptr_t)address - arena->zero) * arena->inverse;

	return product >> arena->shift | product << (-(unsigned)arena->shift & 63);
}

/* Why no object starts at `object`: LFPOOL_E_FOREIGN or LFPOOL_E_INTERIOR. */
COLD lfpool_status_t arena_refuse(const struct arena *arena, const void *object);

/* LFPOOL_OK and the slot, or an error and SLOT_NONE. */
static inline lfpool_status_t arena_locate(const struct arena *arena, const void *object, uint32_t *slot_out)
{
	const uint64_t slot = arena_slot_of(arena, object);

	const bool found = likely(slot - 1 < arena->slots);

	*slot_out = found ? (uint32_t)slot : SLOT_NONE;
	return found ? LFPOOL_OK : arena_refuse(arena, object);
}

static inline void *arena_object(const struct arena *arena, uint32_t slot)
{
	return (void *)(arena->zero + (uintptr_t)slot * arena->stride);
}

/* The slot of an entry of a magazine: the start of an object, or 0. */
static inline uint32_t arena_slot(const struct arena *arena, uintptr_t entry)
{
	ASSERT("H5", !entry || arena_slot_of(arena, (const void *)entry) - 1 < arena->slots);
	return likely(entry) ? (uint32_t)arena_slot_of(arena, (const void *)entry) : SLOT_NONE;
}

/* The state of an active object without a handle: its address, or in a veiled arena, whose pool has no fast paths, the
 * inverted address. */
static inline uintptr_t arena_active(const struct arena *arena, uint32_t slot)
{
	return (uintptr_t)arena_object(arena, slot) ^ arena->veil;
}

static inline _Atomic(uintptr_t) *arena_state(const struct arena *arena, uint32_t slot)
{
	return lfpool_state_at_(&arena->face, arena_object(arena, slot));
}

/* The slot whose object begins in a granule (numbered from `first`), or the last slot before that granule. */
static inline uint32_t arena_slot_in(const struct arena *arena, uintptr_t granule)
{
	const uintptr_t end = (arena->face.first + granule + 1) << arena->face.grain;

	return (uint32_t)((end - 1 - arena->zero) / arena->stride);
}

/* relaxed, here and below: the hand-over of the object orders its state; only lfpool_in_use() reads it without
 * holding the object. */
static inline bool arena_is_active(const struct arena *arena, uint32_t slot)
{
	return load_relaxed(arena_state(arena, slot));
}

/* By the holder of a free slot. */
static inline void arena_activate(struct arena *arena, uint32_t slot)
{
	/* release, edge TELL: what hooks.activate wrote.  (A fast path has no such hook, and is relaxed.) */
	store_release(arena_state(arena, slot), arena_active(arena, slot));
}

/* ---- Generations ---- */

#define GENERATION_PHASE_BITS 3
#define GENERATION_PINS_BITS 10
#define GENERATION_PIN (UINT64_C(1) << GENERATION_PHASE_BITS)
#define GENERATION_ONE (UINT64_C(1) << (GENERATION_PHASE_BITS + GENERATION_PINS_BITS))
#define GENERATION_PINS_MOST ((1u << GENERATION_PINS_BITS) - 1)

enum generation_phase {
	GENERATION_DEAD,
	GENERATION_LIVE,
	GENERATION_CANDIDATE,
	GENERATION_RELEASED,
	GENERATION_RETIRED,
	GENERATION_LEAVING
};

static inline enum generation_phase generation_phase(uint64_t word)
{
	return (enum generation_phase)(word & (GENERATION_PIN - 1));
}

static inline unsigned generation_pins(uint64_t word)
{
	return (unsigned)(word >> GENERATION_PHASE_BITS) & GENERATION_PINS_MOST;
}

/* Does a handle with this word name its object? */
static inline bool generation_is_live(uint64_t word)
{
	return generation_phase(word) == GENERATION_LIVE || generation_phase(word) == GENERATION_CANDIDATE;
}

/* Was the object released or retired while it was pinned? */
static inline bool generation_is_pending(uint64_t word)
{
	return generation_phase(word) == GENERATION_RELEASED || generation_phase(word) == GENERATION_RETIRED;
}

/* The word of a slot, for any thread.  acquire, edge TELL: from the thread that made a handle; edges MARK and PIN. */
static inline uint64_t arena_generation(const struct arena *arena, uint32_t slot)
{
	return load_acquire(&arena->generation[slot]);
}

/* By the holder of an object: marks it, if it is not marked yet, and returns its word.  `as`: GENERATION_LIVE; or
 * GENERATION_CANDIDATE, with pins, for an object without a handle.  If the returned word is not live, the object is not
 * active, or is being released. */
uint64_t arena_mark(const struct arena *arena, uint32_t slot, uint64_t as);
/* Frees the marked slot if its word is still `word`, which has no pins.  Exactly one of several threads succeeds. */
bool arena_unmark(const struct arena *arena, uint32_t slot, uint64_t word);

/* Refused: another thread has ended the use.  Now: the caller has the slot.  Later: the last unpin ends the use. */
enum leave { LEAVE_REFUSED, LEAVE_NOW, LEAVE_LATER };

/* Ends the use that `word` belongs to.  If it is pinned, its phase becomes `later`: GENERATION_RELEASED or
 * GENERATION_RETIRED. */
enum leave arena_leave(const struct arena *arena, uint32_t slot, uint64_t word, enum generation_phase later);
/* The same for a thread that saw the mark. */
COLD enum leave arena_leave_marked(const struct arena *arena, uint32_t slot, enum generation_phase later);

/* Adds a pin to the use that `word` belongs to; false if the use has ended, or has GENERATION_PINS_MOST pins. */
bool arena_pin(const struct arena *arena, uint32_t slot, uint64_t word);
/* Removes a pin from the use that `word` belongs to.  Returns the previous word; if that has no pins, or another
 * generation, nothing changed.  *ended_out: this ended the use, and the caller has the slot. */
uint64_t arena_unpin(const struct arena *arena, uint32_t slot, uint64_t word, bool *ended_out);

/* Is the object of a slot with this state in use?  A released object that is pinned is not, though its state is not
 * 0. */
static inline bool arena_is_in_use(const struct arena *arena, uint32_t slot, uintptr_t state)
{
	/* relaxed: as the state; a snapshot. */
	return state &&
	       (likely(state != LFPOOL_MARKED_) || !generation_is_pending(load_relaxed(&arena->generation[slot])));
}

/* ---- A release ---- */

/* Ends the use of an object that had this state, which is not 0.  Exactly one of several threads succeeds. */
static inline enum leave arena_leave_from(struct arena *arena, uint32_t slot, uintptr_t state,
					  enum generation_phase later)
{
	/* relaxed: one of several threads wins; the free lists publish the slot for its next holder.  Fails if the
	 * object was released, or marked, meanwhile. */
	if (state > LFPOOL_MARKED_ && cas_relaxed(arena_state(arena, slot), &state, 0))
		return LEAVE_NOW;
	return state == LFPOOL_MARKED_ ? arena_leave_marked(arena, slot, later) : LEAVE_REFUSED;
}

/* By the holder of an active object: ends its use.  `races`: one of two concurrent releases is refused. */
static inline enum leave arena_leave_active(struct arena *arena, uint32_t slot, bool races, enum generation_phase later)
{
	_Atomic(uintptr_t) *const at = arena_state(arena, slot);
	const uintptr_t state = load_relaxed(at);

	if (races || state <= LFPOOL_MARKED_)
		return arena_leave_from(arena, slot, state, later);
	store_relaxed(at, 0);
	return LEAVE_NOW;
}

#endif
