/* SPDX-License-Identifier: MIT */
/* free_list.c - a pthread mutex around a list: what most programs have. */
#include <pthread.h>

#define LOCK_T pthread_mutex_t
#define LOCK_INIT(lock) (void)pthread_mutex_init(lock, NULL)
#define LOCK(lock) (void)pthread_mutex_lock(lock)
#define UNLOCK(lock) (void)pthread_mutex_unlock(lock)
#include "locked_list.h"

const struct subject subject_free_list = {
	SUBJECT("free-list", "own", "one pthread mutex, one list through the objects: no checks", NULL,
		TRAIT_BOUNDED | TRAIT_POOL),
	STACK_MEMBERS,
};
