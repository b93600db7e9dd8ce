/* SPDX-License-Identifier: MIT */
/* heap_mutex.c - one mutex around the heap of heap.h: what most programs do. */
#include <pthread.h>

#define MUTEX(operation) (void)pthread_mutex_##operation(&pool->mutex)
#include "heap.h"

const struct subject subject_heap_mutex = {
	SUBJECT("heap-mutex", "own", "one mutex around an indexed binary heap", NULL, 0),
	SHARED_BY_ALL(open_heap, close_heap, EVICTING_LOOPS),
};
