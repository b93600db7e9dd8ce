/* SPDX-License-Identifier: MIT */
/*
 * compared_mutex.c - the job system on one page, with its records from a list under a mutex: the pool that a program
 * has without a library.  The list checks nothing.
 */
#include "lfpool/inline.h"

#include <pthread.h>
#include <stdlib.h>

struct free_record {
	_Alignas(64) struct free_record *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct free_record *first_free;

static inline void *list_take(void)
{
	pthread_mutex_lock(&mutex);

	struct free_record *record = first_free;

	if (record)
		first_free = record->next;
	pthread_mutex_unlock(&mutex);
	return record;
}

static inline void list_put(void *object)
{
	struct free_record *record = object;

	pthread_mutex_lock(&mutex);
	record->next = first_free;
	first_free = record;
	pthread_mutex_unlock(&mutex);
}

#define lfpool_cache_acquire(cache) list_take()
#define lfpool_cache_release(cache, job) list_put(job)
#define COMPARED mutex
#include "compared.h"

_Static_assert(sizeof(struct job) <= sizeof(struct free_record), "a record of the list has room for a job");

/* The list takes its records from aligned_alloc().  The pool of the job system is made and destroyed, but not used. */
static uint64_t measure_list(int count, size_t records, struct tree tree, int64_t *jobs_out, size_t *lost_out)
{
	struct free_record *memory = aligned_alloc(64, records * sizeof(*memory));
	size_t there = 0;

	if (!memory)
		exit(3);
	for (size_t i = records; i > 0; i--)
		list_put(&memory[i - 1]);

	const uint64_t taken = measure(count, records, tree, jobs_out, lost_out);

	while (list_take())
		there++;
	*lost_out += records - there;
	free(memory);
	return taken;
}

const struct compared compared_mutex = {"mutex", measure_list};
