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
 *              destroy   returns how many objects were held.
 * Backends     The mutex pool overwrites the first bytes of a free object; the malloc backend promises nothing about a
 *              fresh object's bytes or about wrong pointers.  The model asks no more.
 */
#ifndef LFPOOL_FUZZ_MODEL_H
#define LFPOOL_FUZZ_MODEL_H

#include "input.h"
#include "lfpool/lfpool.h"

#include <stdio.h>
#include <stdlib.h>

#define MODEL_CAPACITY_MAX 600
#define MODEL_CACHES_MAX 20
#define MODEL_BULK_MAX 40

#define REQUIRE(condition) ((condition) ? (void)0 : require_failed(#condition, __FILE__, __LINE__))

static inline _Noreturn void require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: required: %s\n", file, line, condition);
	abort();
}

struct cell {
	uintptr_t address;
	uint64_t stamp; /* what its last holder wrote; 0 = unknown                             */
	bool held;
};

/* A refusal that the call under way must report. */
struct refusal {
	const void *object;
	lfpool_status_t status; /* STATUS_OUTSIDE: foreign or interior, the header does not say which */
};
#define STATUS_OUTSIDE LFPOOL_E_ARGUMENT /* release never returns it */

struct model {
	lfpool_t *pool;
	lfpool_config_t config;
	bool exact;   /* the backend knows its objects: all but malloc                               */
	bool tracked; /* the pool refuses double releases                                            */
	struct cell cell[MODEL_CAPACITY_MAX];
	size_t cells, held;
	size_t most;    /* held at once, since the high-water mark was reset     */
	unsigned checks;
	uint64_t stamps; /* given out so far                                                         */
	lfpool_cache_t *cache[MODEL_CACHES_MAX];
	size_t caches;
	size_t misuses;
	struct refusal expected[MODEL_BULK_MAX]; /* refusals of the call under way ...               */
	size_t expected_count, reported_count;   /* ... and how many the hook has heard of           */
	bool hook_calls_pool;
};

/* Which way a call takes: the thread's own cache, an explicit one, or that one with its hits inlined here. */
struct door {
	lfpool_cache_t *cache; /* NULL: the thread's own */
	bool inlined;
};

/* Makes a pool with the configuration that the input describes, or closes it and checks what it returns. */
void model_open(struct model *m, struct input *in);
void model_close(struct model *m);
/* A configuration that is wrong in one field is refused with that field's status. */
void model_refuse_config(struct input *in);

/* All calls below check everything that the header promises about them. */

void *model_acquire(struct model *m, struct door door);
void model_acquire_bulk(struct model *m, size_t count);
/* Releases any pointer whatever, unless the header leaves open what happens then. `foreign`: certainly not in this
 * pool. */
void model_release(struct model *m, struct door door, void *object, bool foreign);
void model_release_bulk(struct model *m, void *const *objects, size_t count);
void model_cache_create(struct model *m);
void model_cache_destroy(struct model *m, size_t which);
/* owns and in_use of any pointer. */
void model_ask(const struct model *m, const void *pointer, bool foreign);
/* The contents of every held object, and the counts. */
void model_check_contents(const struct model *m);
void model_check_counts(struct model *m);

/* The cell of this address, or NULL. */
struct cell *model_cell(const struct model *m, const void *pointer);
/* The first cell from the `from`-th on, round the corner, that is held or not as asked; NULL when none is. */
struct cell *model_pick(const struct model *m, size_t from, bool held);

#endif
