/* SPDX-License-Identifier: MIT */
/*
 * model.h - one pool, and beside it what the header promises about it.
 *
 * Idea         The model knows who holds what, and nothing of the library's inside: no magazines, no caches, no
 *              strides.  Everything it demands is a sentence of lfpool.h.
 * Model        A cell is an address that the pool has handed out at least once, active or free.  Cells are kept sorted,
 *              so "is this an object" is a search and "do two objects overlap" is a look at the neighbours.
 * Demands      acquire   NULL exactly when `capacity` objects are held; else an aligned object that is not held and
 *                        does not overlap another; its bytes are those that the last holder left, zero if there was
 *                        none (or LFPOOL_ZERO).
 *              release   the status that belongs to the pointer; a refusal is told to the hook once, with the right
 *                        pointer, status and count, and changes nothing.
 *              counts    exact, after each call.
 *              destroy   returns how many objects were held, and calls the continuations that are left.
 *              resizing  exact: what is free goes first, the rest is owed and goes when it comes back, before those who
 *                        wait get any; it grows by itself, in whole steps, when a call finds nothing and nothing is
 *                        owed, and as long as somebody waits.
 *              waiting   first come, first served, each inside the call that made its object free.
 *              several   all or none, and why not; without a wait.
 *              closing   nothing goes out, what waits is called with nothing, what comes back leaves; of half of the
 *              pools.  evicting  the victim is the least, and gives way; a pinned object is released at the last unpin.
 *              retiring  what is retired is in use until the scheme says otherwise; a destroy that is refused changes
 *                        nothing.
 * Backends     The mutex pool overwrites the first bytes of a free object; the malloc backend promises nothing about a
 *              fresh object's bytes or about wrong pointers.  The model asks no more.
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
#define MODEL_WAITING_MAX 40 /* more than lie in the first lot of places */

struct cell {
	uintptr_t address;
	uint64_t stamp; /* what its last holder wrote; 0 = unknown                             */
	bool held;
	bool retired; /* and then not held                                                       */
	bool trimmed; /* since then: each of its bytes is as it was, or zero                    */
	/* Acquired by priority; handle 0: it was not. */
	lfpool_handle_t handle;
	uint64_t priority, age;
};

/* A continuation that waits. */
struct waiting {
	lfpool_ticket_t ticket;
	bool releases; /* what it gets, at once */
	bool resizes;  /* then calls what serves those who wait */
	uint8_t again; /* so many times it queues anew */
};

/* A refusal that the call under way must report. */
struct refusal {
	const void *object;
	lfpool_status_t status; /* STATUS_OUTSIDE: foreign or interior, the header does not say which */
};
#define STATUS_OUTSIDE LFPOOL_E_ARGUMENT /* release never returns it */

struct model;

/* How a pool is made and ended, if not by lfpool_create() and lfpool_destroy(). */
struct way {
	lfpool_status_t (*make)(struct model *m); /* m->config becomes m->pool */
	size_t (*destroy)(struct model *m);
	void *(*acquire)(struct model *m); /* for lfpool_acquire(), and release; both or neither */
	lfpool_status_t (*release)(struct model *m, void *object);
	bool (*there)(
		const struct model *m); /* is the pool where it was made, also after a destroy that was refused? */
};

/* What a pool must be, and what follows from that for the model. */
struct plan {
	lfpool_config_t config;
	const struct way *way; /* NULL: the ordinary one */
	unsigned choice;       /* of the plan's maker                                                      */
	bool zeroes;           /* every object is all zero                                                */
	bool overwrites;       /* free objects are written to                                             */
	bool tells_active;     /* the hook hears of objects still active at the end                       */
	bool refuses;          /* hooks say no now and then                                               */
	bool in_buffer;
	bool explicit_caches; /* calls go through these                                                  */
	bool hook_calls_pool; /* the misuse hook does                                                    */
};

struct model {
	struct plan plan;
	void *made; /* the way's */
	lfpool_t *pool;
	lfpool_config_t config;
	bool exact;   /* the backend knows its objects: all but malloc                               */
	bool strange; /* others have written to free objects                                         */
	struct cell cell[MODEL_CAPACITY_MAX];
	size_t cells, held, retired;
	size_t most; /* held at once, since the high-water mark was reset     */
	unsigned checks;
	uint64_t stamps; /* given out so far                                                         */
	lfpool_cache_t *cache[MODEL_CACHES_MAX];
	size_t caches;
	size_t misuses;
	struct refusal expected[MODEL_BULK_MAX]; /* refusals of the call under way ...               */
	size_t expected_count, reported_count;   /* ... and how many the hook has heard of           */
	size_t told;              /* of objects still active at the end                                 */
	_Atomic unsigned refused; /* by hooks, in the call under way                                 */
	_Atomic bool ready;       /* says the scheme of what is retired                                 */
	_Atomic(lfpool_batch_t *) batch[LFPOOL_PLACES_MAX]; /* that the scheme was told of           */
	unsigned depth;                     /* of continuations in continuations                                  */
	size_t capacity, maximum, reserved; /* of now; where growing ends now, and at all              */
	size_t owed;                        /* to a shrink                                             */
	struct waiting waiting[MODEL_WAITING_MAX]; /* the oldest first                                 */
	size_t waiters, called, awaited;           /* continuations; of the call under way: called, to be called */
	lfpool_ticket_t last_ticket;
	size_t evictions;      /* that the call under way must make */
	lfpool_handle_t stale; /* of an object that was evicted     */
	bool closing;
};

/* Which way a call takes: the thread's own cache, an explicit one, or that one with its hits inlined here. */
struct door {
	lfpool_cache_t *cache; /* NULL: the thread's own */
	bool inlined;
};

/* Makes a pool with the configuration that the input describes, or by a plan; or closes it and checks what it returns.
 * */
void model_open(struct model *m, struct input *in);
void model_start(struct model *m, const struct plan *plan);
void model_close(struct model *m);

/* All calls below check everything that the header promises about them. */

void *model_acquire(struct model *m, struct door door);
void model_acquire_bulk(struct model *m, size_t count);
/* Releases any pointer whatever, unless the header leaves open what happens then. `foreign`: certainly not in this
 * pool. */
void model_release(struct model *m, struct door door, void *object, bool foreign);
void model_release_bulk(struct model *m, void *const *objects, size_t count);
/* By its handle; or by its address alone. */
void model_release_otherwise(struct model *m, void *object, bool by_handle);
void model_cache_create(struct model *m);
void model_cache_destroy(struct model *m, size_t which);
/* owns and in_use of any pointer. */
void model_ask(const struct model *m, const void *pointer, bool foreign);
/* The contents of every held object, and the counts. */
void model_check_contents(const struct model *m);
void model_check_counts(struct model *m);

static inline size_t model_unheld(const struct model *m)
{
	return m->capacity - m->held - m->retired;
}

/* ---- For the other files of the model ---- */

/* What an acquire may have returned. */
void model_require_got(struct model *m, void *object);
/* What releasing `object` must return now, by the header; does the header say what comes of it? */
lfpool_status_t model_status_of(const struct model *m, const void *object, bool foreign);
bool model_is_defined(const struct model *m, lfpool_status_t status);
/* Notes in the model what a release that is about to happen will do; true if an object comes back by it. */
bool model_foresee(struct model *m, const void *object, lfpool_status_t status);
void model_require_status(lfpool_status_t status, lfpool_status_t expected);
/* The call has returned: every refusal was reported. */
void model_settle(struct model *m);
/* A held object comes back. */
void model_released(struct model *m, struct cell *cell);
/* Of an object that may not be in the model yet: there from here on. */
struct cell *model_found(struct model *m, void *object);
/* For the pools of one row of bytes, what random threads left, each held by the thread that `stamp` names. */
void stamp_write(void *object, size_t size, uint64_t stamp);
void stamp_require(const void *object, size_t size, uint64_t stamp);

/* ---- evicting.c: priorities and pins ---- */

/* For hooks.evict. */
void model_evicted(void *context, void *object, lfpool_handle_t handle, uint64_t priority);
void model_acquire_evicting(struct model *m, uint64_t priority);
void model_release_least(struct model *m, size_t count);
void model_set_priority(struct model *m, struct cell *cell, uint64_t priority);
void model_release_pinned(struct model *m, struct cell *cell, unsigned pins);

/* ---- retiring.c: what is retired; a destroy that is refused ---- */

/* For config.scheme: asked, or told and waited for. */
lfpool_scheme_t model_scheme(bool asked);
void model_retire(struct model *m, void *object, bool foreign);
/* Notes that all of it becomes free, in a call that is about to be made. */
void model_reclaimed(struct model *m);
/* With the scheme's consent; or against it. */
void model_drain(struct model *m, bool consent);
void model_destroy_refused(struct model *m);

/* ---- waiters.c: how many objects there are, and who waits for one ---- */

/* Notes in the model that a call that found nothing grew the pool; false if it could not. */
bool model_grow_by_itself(struct model *m);
/* Around a call that may make `back` held objects free, all at once or one by one: what it must do for those who are
 * owed or wait. */
void model_foresee_serving(struct model *m, size_t back, bool one_by_one);
void model_settle_serving(struct model *m);
/* Of a continuation, and of every other way to get an object: it is active now. */
void model_acquired(struct model *m, void *object);
/* The object goes back, by a call of its own in the middle of another. */
void model_release_inside(struct model *m, void *object);
void model_grow(struct model *m, size_t count, bool reserve);
void model_shrink(struct model *m, size_t count);
void model_shrink_cancel(struct model *m);
void model_set_maximum(struct model *m, size_t maximum);
void model_trim(struct model *m, size_t keep, size_t budget);
void model_acquire_wait(struct model *m, struct door door, int64_t timeout_ns);
void model_acquire_async(struct model *m, struct waiting what);
/* One that waits; or a ticket that is nobody's. */
void model_cancel(struct model *m, size_t which);
void model_cancel_nobody(struct model *m, uint32_t choice);
/* The cell of this address, or NULL. */
struct cell *model_cell(const struct model *m, const void *pointer);
/* The first cell from the `from`-th on, round the corner, that is held or not as asked; NULL when none is. */
struct cell *model_pick(const struct model *m, size_t from, bool held);

#endif
