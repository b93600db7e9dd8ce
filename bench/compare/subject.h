/* SPDX-License-Identifier: MIT */
/*
 * subject.h - what is compared: one `struct subject` for each way to get hold of a 64-byte object.
 *
 * Idea         A subject brings its own copy of the loops, compiled with its own acquire and release in them (see
 *              workloads.h).  So an inlined path is really inlined, and nobody pays an indirect call that another
 *              does not: the pointers below are followed once in CHUNK_PAIRS pairs.
 */
#ifndef LFPOOL_COMPARE_SUBJECT_H
#define LFPOOL_COMPARE_SUBJECT_H

#include <stddef.h>
#include <stdint.h>

#define OBJECT_BYTES 64

/* Pairs between two looks at the flag that ends a measurement: the look then costs nothing that could be seen. */
#define CHUNK_PAIRS 4096

/* An object of the subjects that keep their objects themselves. */
struct object {
	_Alignas(OBJECT_BYTES) unsigned char bytes[OBJECT_BYTES];
};

enum workload {
	PAIRS,   /* acquire, write, release                                                            */
	BURSTS,  /* acquire and write a whole burst, then release it in the same order                 */
	HANDOFF, /* one thread acquires, writes and pushes into a ring; another pops, reads, releases  */
	WORKLOADS
};

struct ring;

/* What a loop works with: one per thread. */
struct worker {
	void *hand;        /* the subject's: what join() returned   */
	struct ring *ring; /* HANDOFF: shared with one other thread */
	void **objects;    /* BURSTS: room for one burst            */
	size_t burst;      /* BURSTS: objects                       */
};

/* Runs about `pairs` pairs; returns how many exactly. */
typedef size_t loop_fn(struct worker *worker, size_t pairs);

struct subject {
	const char *name;   /* on the command line and in the CSV      */
	const char *what;   /* in one line                             */
	unsigned workloads; /* those that make sense: 1 << PAIRS | ... */

	/* What the threads share.  `held` is the most objects that one thread, or one ring, has out at once. */
	void *(*open)(size_t threads, size_t held);
	void (*close)(void *shared);
	/* What one thread has of its own; called by that thread. */
	void *(*join)(void *shared);
	void (*leave)(void *hand);

	loop_fn *pairs, *bursts, *produce, *consume;
};

extern const struct subject subject_limit, subject_ring, subject_inlined, subject_untracked, subject_library,
	subject_mutex, subject_malloc;

#define SUBJECTS 7

/* All of them, in the order of the tables. */
extern const struct subject *const subjects[SUBJECTS];

/* `pointer`, unless it is NULL: then ends the program, saying that there was no memory. */
void *must(void *pointer);

/* Ends the program: a pool that is large enough for all said NULL. */
_Noreturn void out_of_objects(void);

/* The use that is made of an object.  The compiler must not guess that nobody looks: it would remove malloc and free
 * altogether. */
static inline void object_write(void *object, uint64_t value)
{
	*(uint64_t *)object = value;
	__asm__ __volatile__("" : : "r"(object) : "memory");
}

static inline void object_read(const void *object)
{
	__asm__ __volatile__("" : : "r"(*(const uint64_t *)object) : "memory");
}

#endif
