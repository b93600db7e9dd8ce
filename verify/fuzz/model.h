/* SPDX-License-Identifier: MIT */
/*
 * model.h - one pool, and a model of the header's promises about it.
 *
 * Idea         The model knows who holds each object, and nothing about the library's internals: no magazines, no
 *              caches, no strides.  Everything it demands is a sentence of lfpool.h.
 * Model        A cell is an address that the pool has handed out at least once, active or free.  Cells are sorted, so
 *              "is this an object" is a search and "do two objects overlap" is a comparison with the neighbours.
 * Demands      acquire   NULL exactly when `capacity` objects are held; otherwise an aligned object that is not held
 *                        and does not overlap another.  Its bytes are those of the last holder, or zero without one (or
 *                        with LFPOOL_ZERO).
 *              release   the right status for the pointer.  The hook hears of a refusal once, with the right pointer,
 *                        status and count, and nothing changes.
 *              counts    exact, after each call.
 *              destroy   returns the number of objects held, and calls the remaining continuations.
 *              resizing  exact.  Free objects go first; the rest is pending, and goes on release, before waiters get
 *                        any.  The pool grows automatically, in whole steps, when a call finds nothing and no shrink is
 *                        pending, and as long as calls wait.
 *              waiting   first come, first served, each inside the call that made its object free.
 *              several   all or none, with the reason; without a wait.
 *              closing   in half of the pools: nothing is handed out, waiters are called with nothing, released objects
 *                        leave the pool.
 *              evicting  the victim is the least, and gives way; a pinned object is released at the last unpin.
 *              retiring  retired objects are in use until the scheme reports otherwise; a refused destroy changes
 *                        nothing.
 * Backends     The mutex pool overwrites the first bytes of a free object; the malloc backend promises nothing about
 *              a fresh object's bytes or about wrong pointers.  The model demands no more.
 */
#ifndef LFPOOL_FUZZ_MODEL_H
#define LFPOOL_FUZZ_MODEL_H

#include "../../common/require.h"
#include "input.h"
#include "lfpool/evict.h"
#include "lfpool/retire.h"
#include "lfpool/wait.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MODEL_CAPACITY_MAX 600
#define MODEL_CACHES_MAX 20
#define MODEL_BULK_MAX 40
#define MODEL_WAITING_MAX 40 /* more than fit into the first lot of cells */

struct cell {
	uintptr_t address;
	uint64_t stamp; /* its last holder's; 0 = unknown */
	bool held;
	bool retired; /* and therefore not held */
	bool trimmed; /* since then: each byte is unchanged or zero */
	/* If acquired by priority; handle 0: it was not. */
	lfpool_handle_t handle;
	uint64_t priority, age;
};

/* A waiting continuation. */
struct waiting {
	lfpool_ticket_t ticket;
	bool releases; /* releases its object at once */
	bool resizes;  /* then calls functions that serve waiters */
	uint8_t again; /* times that it queues again */
};

/* A refusal that the current call must report. */
struct refusal {
	const void *object;
	lfpool_status_t status; /* STATUS_OUTSIDE: foreign or interior, the header leaves it open */
};
#define STATUS_OUTSIDE LFPOOL_E_ARGUMENT /* release never returns it */

struct model;

/* How to make and destroy a pool, if not with lfpool_create() and lfpool_destroy(). */
struct way {
	lfpool_status_t (*make)(struct model *m); /* m->config becomes m->pool */
	size_t (*destroy)(struct model *m);
	void *(*acquire)(struct model *m); /* for lfpool_acquire(), and release; both or neither */
	lfpool_status_t (*release)(struct model *m, void *object);
	bool (*there)(const struct model *m); /* is the pool still where it was made, even after a refused destroy? */
};

/* The required pool, and the consequences for the model. */
struct plan {
	lfpool_config_t config;
	const struct way *way; /* NULL: the default */
	unsigned choice;       /* for the plan's maker */
	bool zeroes;           /* every acquired object is all zero */
	bool overwrites;       /* the pool writes to free objects */
	bool tells_active;     /* the hook reports objects still active at the end */
	bool refuses;          /* hooks refuse now and then */
	bool in_buffer;
	bool explicit_caches; /* calls go through these                                                  */
	bool hook_calls_pool; /* the misuse hook calls the pool */
};

struct model {
	struct plan plan;
	void *made; /* the way's data */
	lfpool_t *pool;
	lfpool_config_t config;
	bool exact;   /* the backend knows its objects: all except malloc */
	bool strange; /* other threads have written to free objects */
	struct cell cell[MODEL_CAPACITY_MAX];
	size_t cells, held, retired;
	size_t most; /* the most held at once since the high-water mark was reset */
	unsigned checks;
	uint64_t stamps; /* stamps given out so far */
	lfpool_cache_t *cache[MODEL_CACHES_MAX];
	size_t caches;
	size_t misuses;
	struct refusal expected[MODEL_BULK_MAX];            /* refusals of the current call ... */
	size_t expected_count, reported_count;              /* ... and how many of them the hook has heard of */
	size_t told;                                        /* number of objects reported active at the end */
	_Atomic unsigned refused;                           /* by hooks, in the current call */
	_Atomic bool ready;                                 /* the scheme's answer */
	_Atomic(lfpool_batch_t *) batch[LFPOOL_PLACES_MAX]; /* batches that the scheme has */
	unsigned depth;                                     /* of nested continuations */
	size_t capacity, maximum, reserved;                 /* now; the current end of growth, and the final one */
	size_t owed;                                        /* to a pending shrink */
	struct waiting waiting[MODEL_WAITING_MAX];          /* the oldest first                                 */
	size_t waiters, called, awaited; /* continuations; in the current call: called, to be called */
	lfpool_ticket_t last_ticket;
	size_t evictions;      /* that the current call must make */
	lfpool_handle_t stale; /* the handle of an evicted object */
	bool closing;
};

/* The route of a call: the thread's own cache, an explicit one, or an explicit one with inlined hits. */
struct door {
	lfpool_cache_t *cache; /* NULL: the thread's own cache */
	bool inlined;
};

/* Makes a pool with the configuration from the input, or from a plan; or closes it and checks the results. */
void model_open(struct model *m, struct input *in);
void model_start(struct model *m, const struct plan *plan);
void model_close(struct model *m);

/* All calls below check everything that the header promises about them. */

void *model_acquire(struct model *m, struct door door);
void model_acquire_bulk(struct model *m, size_t count);
/* Releases any pointer, unless the header leaves the outcome open.  `foreign`: certainly not in this pool. */
void model_release(struct model *m, struct door door, void *object, bool foreign);
void model_release_bulk(struct model *m, void *const *objects, size_t count);
/* By its handle; or by its address alone. */
void model_release_otherwise(struct model *m, void *object, bool by_handle);
void model_cache_create(struct model *m);
void model_cache_destroy(struct model *m, size_t which);
/* Checks owns and in_use for any pointer. */
void model_ask(const struct model *m, const void *pointer, bool foreign);
/* The contents of every held object, and the counts. */
void model_check_contents(const struct model *m);
void model_check_counts(struct model *m);

static inline size_t model_unheld(const struct model *m)
{
	return m->capacity - m->held - m->retired;
}

/* ---- For the other files of the model ---- */

/* Checks the result of an acquire. */
void model_require_got(struct model *m, void *object);
/* The status of releasing `object` now, by the header; does the header define the outcome? */
lfpool_status_t model_status_of(const struct model *m, const void *object, bool foreign);
bool model_is_defined(const struct model *m, lfpool_status_t status);
/* Applies a release that is about to happen to the model; true if it releases an object. */
bool model_foresee(struct model *m, const void *object, lfpool_status_t status);
void model_require_status(lfpool_status_t status, lfpool_status_t expected);
/* After the call: every refusal must have been reported. */
void model_settle(struct model *m);
/* A held object is released. */
void model_released(struct model *m, struct cell *cell);
/* Finds the object's cell, or adds it. */
struct cell *model_found(struct model *m, void *object);
/* For pools that random threads have used: writes the stamp of the thread that holds the object. */
void stamp_write(void *object, size_t size, uint64_t stamp);
void stamp_require(const void *object, size_t size, uint64_t stamp);

/* ---- evicting.c: priorities and pins ---- */

/* For hooks.evict. */
void model_evicted(void *context, void *object, lfpool_handle_t handle, uint64_t priority);
void model_acquire_evicting(struct model *m, uint64_t priority);
void model_release_least(struct model *m, size_t count);
void model_set_priority(struct model *m, struct cell *cell, uint64_t priority);
void model_release_pinned(struct model *m, struct cell *cell, unsigned pins);

/* ---- retiring.c: retired objects; a refused destroy ---- */

/* For config.scheme: one that is polled, or one that is notified and waited for. */
lfpool_scheme_t model_scheme(bool asked);
void model_retire(struct model *m, void *object, bool foreign);
/* All retired objects become free, in a call that is about to be made. */
void model_reclaimed(struct model *m);
/* With the scheme's consent, or without it. */
void model_drain(struct model *m, bool consent);
void model_destroy_refused(struct model *m);

/* ---- waiters.c: the number of objects, and the waiters ---- */

/* A call that found nothing grew the pool in the model; false if it could not. */
bool model_grow_by_itself(struct model *m);
/* Around a call that may make `back` held objects free, all at once or one by one: computes its work for a pending
 * shrink and for waiters. */
void model_foresee_serving(struct model *m, size_t back, bool one_by_one);
void model_settle_serving(struct model *m);
/* The object, from a continuation or in any other way, is active now. */
void model_acquired(struct model *m, void *object);
/* Releases the object by a nested call. */
void model_release_inside(struct model *m, void *object);
void model_grow(struct model *m, size_t count, bool reserve);
void model_shrink(struct model *m, size_t count);
void model_shrink_cancel(struct model *m);
void model_set_maximum(struct model *m, size_t maximum);
void model_trim(struct model *m, size_t keep, size_t budget);
void model_acquire_wait(struct model *m, struct door door, int64_t timeout_ns);
void model_acquire_async(struct model *m, struct waiting what);
/* A waiting one; or a ticket that belongs to none. */
void model_cancel(struct model *m, size_t which);
void model_cancel_nobody(struct model *m, uint32_t choice);
/* The cell of this address, or NULL. */
struct cell *model_cell(const struct model *m, const void *pointer);
/* The first cell from `from` on, cyclically, that is held or not as requested; or NULL. */
struct cell *model_pick(const struct model *m, size_t from, bool held);

#endif
