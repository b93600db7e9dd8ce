/* SPDX-License-Identifier: MIT */
/*
 * arena.h - the address range of a pool, with the pool's own data, the states, and the objects.
 *
 * Idea         [ room for the pool | wanted | states | generations | dirty | no access | objects | no access ].
 *              Objects are contiguous and never move.  Addresses are reserved for the maximum number of objects.
 *              Objects beyond the first `capacity` are not accessible until arena_extend().  The objects may also be in
 *              a separate caller-provided range.  Alternatively, all parts are in a caller-provided buffer, without
 *              inaccessible pages in between.
 *                 A multiplication by the stride leads from a slot to its address.  A multiplication by the stride's
 *              inverse leads from an address to its slot, and also shows whether an object starts at the address
 *              (arena_slot_of).  No part is initialised, so untouched parts use no memory.
 *                 The state of a slot is a word outside the objects, so a write to an object cannot corrupt it.  The
 *              addresses of the objects are divided into granules.  The size of a granule is the largest power of two
 *              such that no two objects begin in one granule (H9).  Each granule has a state, so a shift of an
 *              object's address leads to the state.  A slot also has a generation, a word that is not touched before
 *              the slot's first handle is made.
 * Invariants   A1  a slot's state is 0 exactly while its object is free.  While the object is in use, the state is
 *                  arena_active(), or LFPOOL_MARKED_ after the first handle of this use was made.  (A use lasts from an
 *                  acquire to the release or retire.)  The word of a granule in which no object begins is 0.
 *              A2  only the holder of a slot, or of its object, writes the slot's state, with two exceptions, both by
 *                  CAS.  First, a thread that makes a handle marks the state.  Second, several threads may race to
 *                  release an object: with LFPOOL_CHECK_RACES, at a retire, in lfpool_release_all(), and if the state
 *                  is marked.
 *              A3  the generation of a slot is a word {generation:51, pins:10, phase:3}.  The phases are dead, live,
 *                  candidate (live, and may be evicted), released and retired (both take effect at the last unpin), and
 *                  leaving.  A marked slot becomes free only in two steps.  First, a CAS sets the word to {generation +
 *                  1, 0, leaving}, either from a word without pins, or by the last unpin from a released or retired
 *                  word with one pin.  Second, the thread whose CAS succeeded releases the object: it sets the state to
 *                  0, then the word to {generation + 1, 0, dead}.  So exactly one of several releases succeeds, and a
 *                  word that was live while the state was marked is never live again.
 *              A4  only a live or candidate word gets more pins.  So the pins of a released word only decrease, and
 *                  the slot becomes free after the last unpin.
 * Progress     Lock-free: arena_mark, leave, pin and unpin repeat only after another thread changed the word.  All
 *              other functions are wait-free.  open, back, close, extend and heavy_fence may enter the kernel, but not
 *              in a buffer.
 * Edges        TELL: arena_activate -> a walk, or a call that resolves a handle.  Publishes the writes of
 *              hooks.activate.
 *              MARK: the release of a marked object -> the mark of the slot's next use, which has another generation.
 *              PIN: an unpin -> a later pin, and the call that ends the use.  Orders all accesses to the object.
 */
#ifndef LFPOOL_ARENA_H
#define LFPOOL_ARENA_H

#include "base/atomics.h"
#include "base/base.h"

#include "lfpool/inline.h"

/* An address range for the objects.  Unless it is `whole` or `lent`, its pages are reserved, without access.  If all
 * fields are 0, the objects are in the pool's mapping. */
struct window {
	void *at;
	size_t bytes;
	bool whole; /* an accessible buffer of arena_buffer_bytes() for the whole pool */
	bool lent;  /* accessible memory for the objects                               */
};

struct arena_plan {
	size_t room_bytes; /* for the pool's own data, at the start */
	size_t object_size;
	size_t object_alignment;        /* power of two                                     */
	bool plain_stride;              /* LFPOOL_PLAIN_STRIDE                              */
	size_t front_bytes, back_bytes; /* before and behind each object, for debug modes   */
	size_t capacity;                /* usable slots at the start                        */
	size_t reserved;                /* the maximum number of slots, at least `capacity` */
	uint32_t backing;               /* flags of os.h                                    */
	struct window window;           /* aligned to CACHE_LINE_PAIR if `whole`            */
	size_t colour;                  /* shifts the pool's data within pages: arena.c     */
	bool veiled; /* states are inverted, so that leak checkers see no references to the objects */
	bool fenced; /* owners use full fences, so thieves need no membarrier(2): LFPOOL_FENCED, or in a buffer */
};

struct arena {
	struct lfpool_cache_t face;    /* the fields that every cache copies; `hot` is not set here                  */
	uintptr_t zero;                /* address of the imaginary object 0: object s is at zero + s * stride        */
	uint64_t inverse;              /* inverse of the odd part of the stride, modulo 2^64: arena_slot_of()        */
	uint64_t slots;                /* slots that have addresses                                                  */
	uint32_t stride;               /* bytes from slot to slot                                                    */
	uint8_t shift;                 /* trailing zero bits of the stride                                           */
	uintptr_t veil;                /* inverts the states of active objects, see arena_active()                   */
	size_t mapped_bytes;           /* size of the whole mapping; 0: the arena is in a buffer                     */
	size_t front;                  /* bytes of a slot before its object, for debug modes                         */
	char *objects;                 /* the first page of the objects                                              */
	_Atomic(uint8_t) *dirty;       /* a byte per page of the objects: 1 = memory to return (cold.h); may be NULL */
	size_t touched;                /* bytes of the mapping up to the end of the generations                      */
	uint32_t backing;              /* flags of os.h                                                              */
	bool in_buffer;                /* no operation on the arena enters the kernel                                */
	bool fenced, lent;             /* as in the plan                                                             */
	_Atomic(uint32_t) *wanted;     /* the demand word, LFPOOL_WANTED_BEFORE_ bytes before the states             */
	_Atomic(uint64_t) *generation; /* the word of each slot (A3)                                                 */
};

/* Is the arena in a buffer?  This is a macro, so that in embedded builds every compiler sees a constant. */
#define arena_in_buffer(arena) (EMBEDDED || (arena)->in_buffer)

/* Maps an arena and returns its room: zeroed memory for the pool's own data.  NULL when the system refuses memory.
 * `arena_out` must be outside the room. */
void *arena_open(struct arena *arena_out, const struct arena_plan *plan);
void arena_close(void *room, size_t mapped_bytes);

/* Backs all usable memory, as the flags of the plan require (os.h).  Called once, before any memory outside the room is
 * touched. */
lfpool_status_t arena_back(const struct arena *arena, void *room, size_t capacity);

/* The stride that config.h documents for objects of `bytes` bytes; `plain`: LFPOOL_PLAIN_STRIDE. */
size_t layout_stride(size_t bytes, size_t alignment, bool plain);
/* The inverse of the odd part of a stride, modulo 2^64. */
uint64_t layout_inverse(uint64_t stride);

/* The bytes that an arena needs in a buffer, whatever the buffer's address; 0 on overflow. */
size_t arena_buffer_bytes(const struct arena_plan *plan);
/* The heavy fence (os.h).  If the owners of this pool use full fences, this is only a full fence of the caller. */
void arena_heavy_fence(const struct arena *arena);

/* Computes the bytes of all objects, in whole pages; false on overflow, or if the window is too small. */
bool arena_object_bytes(const struct arena_plan *plan, size_t *bytes_out);

/* Makes the slots `from` + 1 .. `to` accessible, and backs them.  False when the system refuses memory; some of the
 * slots may then be accessible and locked.  Keeps the contents of the slots: when two threads extend by the same slots,
 * the faster one may use the slots already.  Enters the kernel, unless `from` and `to` are on one page. */
bool arena_extend(const struct arena *arena, size_t from, size_t to);
/* With huge pages, rounds `slots` up so that they fill the last page.  Otherwise returns `slots`. */
size_t arena_fill_pages(const struct arena *arena, size_t slots);

/* Is the address within the range of the objects? */
static inline bool arena_spans(const struct arena *arena, const void *address)
{
	const uintptr_t first = arena->zero + arena->stride;

	return (uintptr_t)address - first < (uintptr_t)(arena->slots * arena->stride);
}

/* The slot of any address; a number outside 1 .. slots if no object starts there.  The result is exact for every
 * stride: the multiplication by an odd number, followed by the rotation, is a bijection that maps the offset of slot s
 * to s, so it maps no other offset to s. */
static inline uint64_t arena_slot_of(const struct arena *arena, const void *address)
{
	const uint64_t product = (uint64_t)((uintptr_t)address - arena->zero) * arena->inverse;

	return product >> arena->shift | product << (-(unsigned)arena->shift & 63);
}

/* The reason why no object starts at `object`: LFPOOL_E_FOREIGN or LFPOOL_E_INTERIOR. */
COLD lfpool_status_t arena_refuse(const struct arena *arena, const void *object);

/* Returns LFPOOL_OK and the slot of an object, or an error and SLOT_NONE. */
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

/* The slot that a magazine's entry names.  The entry is the address of an object, or 0. */
static inline uint32_t arena_slot(const struct arena *arena, uintptr_t entry)
{
	ASSERT("H5", !entry || arena_slot_of(arena, (const void *)entry) - 1 < arena->slots);
	return likely(entry) ? (uint32_t)arena_slot_of(arena, (const void *)entry) : SLOT_NONE;
}

/* The state of an active object without a handle is the object's address.  In a veiled arena, whose pool has no fast
 * paths, the state is the inverted address. */
static inline uintptr_t arena_active(const struct arena *arena, uint32_t slot)
{
	return (uintptr_t)arena_object(arena, slot) ^ arena->veil;
}

static inline _Atomic(uintptr_t) *arena_state(const struct arena *arena, uint32_t slot)
{
	return lfpool_state_at_(&arena->face, arena_object(arena, slot));
}

/* The slot whose object begins in a granule; if none does, the last slot before the granule.  Slot 1 begins in
 * granule 0. */
static inline uint32_t arena_slot_in(const struct arena *arena, uintptr_t granule)
{
	const uintptr_t end = (arena->face.first + granule + 1) << arena->face.grain;

	return (uint32_t)((end - 1 - arena->zero) / arena->stride);
}

/* relaxed, here and below: the hand-over of the object orders its state.  A caller that does not hold the object gets a
 * snapshot. */
static inline bool arena_is_active(const struct arena *arena, uint32_t slot)
{
	return load_relaxed(arena_state(arena, slot));
}

/* For the holder of a free slot: makes its object active. */
static inline void arena_activate(struct arena *arena, uint32_t slot)
{
	/* release, edge TELL: publishes the writes of hooks.activate.  (A pool with fast paths has no such hook, so the
	 * store of a fast path is relaxed.) */
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

/* Do the handles of a use with this word name an active object? */
static inline bool generation_is_live(uint64_t word)
{
	return generation_phase(word) == GENERATION_LIVE || generation_phase(word) == GENERATION_CANDIDATE;
}

/* Was the object released or retired while it was pinned? */
static inline bool generation_is_pending(uint64_t word)
{
	return generation_phase(word) == GENERATION_RELEASED || generation_phase(word) == GENERATION_RETIRED;
}

/* The generation word of a slot, for any thread.  The load acquires edge TELL, from the thread that made a handle, and
 * the edges MARK and PIN. */
static inline uint64_t arena_generation(const struct arena *arena, uint32_t slot)
{
	return load_acquire(&arena->generation[slot]);
}

/* For the holder of an object: marks the object's state, unless it is marked, and returns the generation word.  `as` is
 * GENERATION_LIVE or, for an object without a handle, GENERATION_CANDIDATE plus pins.  If the returned word is not
 * live, the object is not active, or is being released. */
uint64_t arena_mark(const struct arena *arena, uint32_t slot, uint64_t as);
/* Frees the marked slot if its word is still `word`, which has no pins.  Exactly one of several threads succeeds. */
bool arena_unmark(const struct arena *arena, uint32_t slot, uint64_t word);

/* LEAVE_REFUSED: another thread has ended the use.  LEAVE_NOW: the caller has ended the use, and holds the slot.
 * LEAVE_LATER: the last unpin will end the use. */
enum leave { LEAVE_REFUSED, LEAVE_NOW, LEAVE_LATER };

/* Ends the use that `word` belongs to.  If the object is pinned, the phase becomes `later` instead: GENERATION_RELEASED
 * or GENERATION_RETIRED. */
enum leave arena_leave(const struct arena *arena, uint32_t slot, uint64_t word, enum generation_phase later);
/* Like arena_leave(), for the use whose marked state the caller has seen. */
COLD enum leave arena_leave_marked(const struct arena *arena, uint32_t slot, enum generation_phase later);

/* Adds a pin to the use that `word` belongs to; false if the use has ended, or has GENERATION_PINS_MOST pins. */
bool arena_pin(const struct arena *arena, uint32_t slot, uint64_t word);
/* Removes a pin from the use that `word` belongs to.  Returns the previous word.  If the previous word has no pins, or
 * another generation, no pin was removed.  *ended_out: this unpin ended the use, and the caller holds the slot. */
uint64_t arena_unpin(const struct arena *arena, uint32_t slot, uint64_t word, bool *ended_out);

/* Is the object of a slot with this state in use?  A pinned object that was released or retired is not in use, although
 * its state is not 0. */
static inline bool arena_is_in_use(const struct arena *arena, uint32_t slot, uintptr_t state)
{
	/* relaxed, as for the state: the answer is a snapshot. */
	return state &&
	       (likely(state != LFPOOL_MARKED_) || !generation_is_pending(load_relaxed(&arena->generation[slot])));
}

/* ---- A release ---- */

/* Ends the use of an object that had this state, which is not 0.  Exactly one of several threads succeeds. */
static inline enum leave arena_leave_from(struct arena *arena, uint32_t slot, uintptr_t state,
					  enum generation_phase later)
{
	/* relaxed: the CAS only decides which of several threads ends the use; the free lists publish the slot for its
	 * next holder.  The CAS fails if another thread released or marked the object meanwhile. */
	if (state > LFPOOL_MARKED_ && cas_relaxed(arena_state(arena, slot), &state, 0))
		return LEAVE_NOW;
	return state == LFPOOL_MARKED_ ? arena_leave_marked(arena, slot, later) : LEAVE_REFUSED;
}

/* For the holder of an active object: ends its use.  `races`: other threads may release the object too, and exactly one
 * release succeeds. */
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
