/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.h - the steps of an object between the free lists and its caller.
 *
 * Idea         The free lists move slots and know nothing of objects.  A pool with hooks, debug modes or tools has a
 *              `struct lifecycle`; other pools pay nothing.  lifecycle_begin() runs after a slot was taken, and before
 *              its object becomes active.  lifecycle_end() runs after the object has become free, and before the slot
 *              is put back.  At both times the caller holds no lock, and its cache is consistent, so a hook may use the
 *              pool.
 * Invariants   K1  only the holder of a slot calls lifecycle_begin() and lifecycle_end() for it.  If two threads
 *                  release an object at once, only one of them becomes the holder of its slot, because a release is a
 *                  CAS.
 *              K2  `built` of a slot is 1 exactly while hooks.create has run for its object, and hooks.destroy has not
 *                  run since.
 * Progress     The same as that of the hooks.
 */
#ifndef LFPOOL_LIFECYCLE_H
#define LFPOOL_LIFECYCLE_H

#include "base/atomics.h"
#include "base/base.h"

#include "lfpool/lfpool.h"

struct arena;
struct aside;
struct lifecycle;
struct debug_modes;

/* Makes the lifecycle of a pool with this config.  *lifecycle_out is NULL for a pool without hooks and debug modes.
 * False when the system refuses memory. */
bool lifecycle_open(struct lifecycle **lifecycle_out, const lfpool_config_t *config, const struct debug_modes *modes);
void lifecycle_close(struct lifecycle *lifecycle);
/* These two are for a pool in a buffer, which has no debug modes.  lifecycle_buffer_bytes() returns the bytes of the
 * lifecycle, or 0 if the pool needs no lifecycle.  lifecycle_open_in() makes the lifecycle in a buffer with this number
 * of bytes, aligned to CACHE_LINE_PAIR. */
size_t lifecycle_buffer_bytes(const lfpool_config_t *config);
struct lifecycle *lifecycle_open_in(void *buffer, const lfpool_config_t *config);
/* Backs the lifecycle's memory as `flags` require (os.h), except the memory of the debug modes.  `lifecycle` may be
 * NULL. */
lfpool_status_t lifecycle_back(const struct lifecycle *lifecycle, uint32_t flags);

/* The debug modes, for the functions in debugging.h; NULL if no mode and no tool is in use.  `lifecycle` may be
 * NULL. */
struct debug *lifecycle_debug(const struct lifecycle *lifecycle);

/* Does the lifecycle run at each acquire and release?  If not, the fast path may be inlined.  `lifecycle` may be
 * NULL. */
bool lifecycle_each_call(const struct lifecycle *lifecycle);

/* Builds all objects, for LFPOOL_CREATE_ALL.  If hooks.create refuses, destroys the objects built so far, and returns
 * false. */
bool lifecycle_build_all(struct lifecycle *lifecycle, const struct arena *arena, size_t capacity);
/* Called when the pool is destroyed.  Destroys all built objects of slots 1 .. used, and with LFPOOL_CREATE_ALL at
 * least for slots 1 .. initial. */
void lifecycle_destroy_all(struct lifecycle *lifecycle, const struct arena *arena, size_t initial, size_t used);

/* In malloc mode each object is built and destroyed for each use, and the `slot` of the functions below is
 * SLOT_NONE. */

/* The result of lifecycle_begin().  BEGIN_REFUSED: a hook refused the object, and its slot must stay free; the object
 * may be built or not.  BEGIN_DISCARDED: hooks.validate rejected the object, so it was destroyed, and hooks.create
 * could not build it again.  The caller must put its slot into the cold store, and then takes another slot. */
enum begun { BEGIN_OK, BEGIN_REFUSED, BEGIN_DISCARDED };

/* Called by the holder of the free `slot`, before the object becomes active. */
enum begun lifecycle_begin(struct lifecycle *lifecycle, uint32_t slot, void *object);
/* Called by the holder of `slot`, after the object's use has ended and before the slot is put back.  Returns the slot
 * to put back.  With a quarantine, this is a slot that was released earlier, or SLOT_NONE. */
uint32_t lifecycle_end(struct lifecycle *lifecycle, uint32_t slot, void *object);

/* Called by the holder of the free `slot`, before the slot goes to the cold store.  Destroys the object if it is built.
 * From then on its poison is no longer checked.  `lifecycle` may be NULL. */
void lifecycle_cool(struct lifecycle *lifecycle, uint32_t slot, void *object);

/* The slots that are set aside; NULL if the pool has no hooks.activate.  `lifecycle` may be NULL. */
struct aside *lifecycle_aside(const struct lifecycle *lifecycle);

/* ---- Building ---- */

/* Does the pool build all objects at creation (LFPOOL_CREATE_ALL)?  If so, objects in slots from the cold store may be
 * unbuilt.  `lifecycle` may be NULL. */
bool lifecycle_builds_all(const struct lifecycle *lifecycle);
bool lifecycle_is_built(const struct lifecycle *lifecycle, uint32_t slot);
bool lifecycle_build(struct lifecycle *lifecycle, uint32_t slot, void *object);

#endif
