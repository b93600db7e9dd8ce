/* SPDX-License-Identifier: MIT */
/*
 * debugging.h - the debug modes of a pool behind one interface (lfpool/debug.h lists the modes).
 *
 * Idea         lifecycle.c calls these functions around the hooks, while an object moves between the free lists and the
 *              caller:
 *                  acquire   debug_slot_open:    checks the poison, fills the guards
 *                            the hooks
 *                            debug_slot_begun:   records the owner
 *                  release   debug_slot_ending:  checks the guards, records the owner
 *                            the hooks
 *                            debug_slot_end:     fills in the poison, makes the object inaccessible, quarantines it
 *              Owner records, the quarantine and the tools have a module each: owner.h, quarantine.h, tools.h.
 * Invariants   B1  an object is accessible from debug_slot_open() to debug_slot_end() or debug_slot_refused(), and from
 *                  debug_slot_show() to its next release.  Otherwise the tools treat it as inaccessible.
 *              B2  `contents` of a slot is POISON exactly while its object is free and filled with the poison.
 *                  `contents` is FRESH before the first use, and while the object's memory may be returned to the
 *                  system.  The next acquire fills a FRESH object with the poison.
 * Progress     As in owner.h, quarantine.h and tools.h.
 */
#ifndef LFPOOL_DEBUGGING_H
#define LFPOOL_DEBUGGING_H

#include "object/tools.h"
#include "base/words.h"

#include "lfpool/report.h"

#define DETAIL_BYTES 1024 /* room for the detail of a finding or a misuse */

struct arena_plan;
struct debug;
struct quarantine;
struct text;

/* The pool of the objects, as debug modes see it. */
struct debug_home {
	struct object_range range;
	const char *name;
	bool tells_each; /* hooks.misuse is set, so each object that is active at destroy is reported */
	void *pool;
	void (*tell)(void *pool, lfpool_misuse_t *misuse); /* reports a finding */
	bool (*is_active)(const void *pool, uint32_t slot);
};

/* *debug_out is NULL if no mode and no tool needs the calls below.  False when the system refuses memory. */
bool debug_open(struct debug **debug_out, const lfpool_config_t *config, const struct debug_modes *modes);
void debug_close(struct debug *debug);

/* debug_plan(), debug_attach() and debug_detach() do nothing if `debug` is NULL.  debug_plan() adds guard bytes and
 * alignment, before arena_open(). */
void debug_plan(const struct debug *debug, struct arena_plan *plan);
/* Called after the pool is made, when all its objects are free.  With LFPOOL_CREATE_ALL they are built already. */
void debug_attach(struct debug *debug, const struct debug_home *home);
/* Makes the last checks, before the pool is destroyed.  Slots 1 .. used were handed out.  Makes all memory accessible
 * again. */
void debug_detach(struct debug *debug, size_t used);

/* ---- One slot, called by its holder ---- */

void debug_slot_open(struct debug *debug, uint32_t slot, void *object);
void debug_slot_refused(struct debug *debug, uint32_t slot, void *object);
void debug_slot_begun(struct debug *debug, uint32_t slot);
void debug_slot_ending(struct debug *debug, uint32_t slot, void *object);
/* Returns the slot to put back.  With a quarantine, this is the slot that left the quarantine, or SLOT_NONE. */
uint32_t debug_slot_end(struct debug *debug, uint32_t slot, void *object);

/* From now on the object's memory may be returned to the system, so its poison is no longer checked. */
void debug_slot_cool(struct debug *debug, uint32_t slot, void *object);
/* A hook may use this free object, from a call with `begins` true to a call with `begins` false. */
void debug_slot_lend(struct debug *debug, void *object, bool begins);
/* Allows writes to this free object until its next release.  Any thread may call this function.  `debug` may be
 * NULL. */
void debug_slot_show(struct debug *debug, uint32_t slot, void *object);

/* The quarantine, whose slots are in no free list; NULL if the pool has none.  `debug` may be NULL. */
struct quarantine *debug_quarantine(struct debug *debug);

/* ---- Reports ---- */

void debug_label(struct debug *debug, uint32_t slot, const char *label);
/* Writes which thread released the object last, if the modes record it. */
void debug_put_released(const struct debug *debug, uint32_t slot, struct text *text);
/* Writes the end of a dump: the modes, and in the mode owner a ranked table of the holders.  `debug` may be NULL. */
void debug_put_report(const struct debug *debug, const struct debug_modes *modes, size_t used, lfpool_format_t format,
		      struct text *text);

#endif
