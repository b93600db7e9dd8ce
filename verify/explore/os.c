/* SPDX-License-Identifier: MIT */
/*
 * os.c - src/os/os.h and the few functions of src/pool/threads.c, src/api/calls.c and src/api/process.c that the rest needs, for the explorer.
 *
 * Idea         All memory that the library maps comes from one static room, so that a whole pool can be put back as it
 *              was with one memcpy, and addresses are the same in every run of the program.  The heavy fence is the
 *              model's; sleep and the clock are in sleep.c.
 */
#include "os/os.h"

#include "explore.h"
#include "object/misuse.h"
#include "pool/pool.h"
#include "api/process.h"
#include "retires.h"
#include "scenario.h"
#include "pool/threads.h"
#include "verbs.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_BYTES ((size_t)1 << 20)
#define PAGE 4096
#define OPENED_MAX 16
#define KEPT_MAX 16
#define KEPT_BYTES ((size_t)1 << 16)

/* Notes that are put back with the room. */
static struct {
	void *notes;
	size_t bytes;
} kept[KEPT_MAX];
static unsigned kept_count;
static char kept_saved[KEPT_BYTES];
static _Alignas(PAGE) char room[ROOM_BYTES], saved[ROOM_BYTES];
static size_t used, saved_bytes;
static bool asymmetric;
/* What the threads opened; the rest is open from the beginning. */
static struct range {
	const char *address;
	size_t bytes;
	struct moment at;
} opened[OPENED_MAX];
static unsigned opened_count;
static bool refuses;
/* Thread-local, in src/pool/threads.c. */
static struct cache_head *lent[THREADS_MAX];
static struct serving *serving[THREADS_MAX];

void os_play_open(bool is_asymmetric)
{
	asymmetric = is_asymmetric;
	memset(room, 0, used);
	used = 0;
	refuses = false;
	kept_count = 0;
	os_play_keep(&refuses, sizeof(refuses));
}

void os_play_keep(void *notes, size_t bytes)
{
	size_t sum = bytes;

	for (unsigned i = 0; i < kept_count; i++)
		sum += kept[i].bytes;
	if (kept_count == KEPT_MAX || sum > KEPT_BYTES)
		abort();
	kept[kept_count].notes = notes;
	kept[kept_count++].bytes = bytes;
}

/* Each in its place, to where it was saved, or back. */
static void copy_kept(bool back)
{
	char *at = kept_saved;

	for (unsigned i = 0; i < kept_count; at += kept[i++].bytes)
		memcpy(back ? kept[i].notes : at, back ? at : kept[i].notes, kept[i].bytes);
}

void os_play_save(void)
{
	saved_bytes = used;
	memcpy(saved, room, used);
	copy_kept(false);
}

void os_play_restore(void)
{
	memcpy(room, saved, saved_bytes);
	copy_kept(true);
	opened_count = 0;
	/* Where the last execution broke off. */
	memset(lent, 0, sizeof(lent));
	memset(serving, 0, sizeof(serving));
	/* What will be mapped is zero already, when the model asks for its first value. */
	memset(room + saved_bytes, 0, used - saved_bytes);
	used = saved_bytes;
}

void *os_map(size_t bytes)
{
	size_t at = used;

	if (bytes > ROOM_BYTES - used)
		return NULL;
	used += round_up(bytes, PAGE);
	return room + at;
}

void os_unmap(void *address, size_t bytes)
{
	/* Whoever looks at it again will stumble. */
	memset(address, 0xdb, bytes);
}

bool os_guard(void *address, size_t bytes)
{
	(void)address;
	(void)bytes;
	return true;
}

void *os_reserve(size_t bytes)
{
	return os_map(bytes);
}

bool os_open(void *address, size_t bytes)
{
	if (!engine_running())
		return true;
	engine_point(true);
	if (refuses)
		return false;
	if (opened_count == OPENED_MAX)
		engine_fail("the explorer's fault: too much is opened");
	else
		opened[opened_count++] = (struct range){address, bytes, memory_moment()};
	return true;
}

void os_play_refuse(void)
{
	refuses = !refuses;
}

void os_play_use(const void *address)
{
	bool late = false;

	if (!engine_running())
		return;

	const struct moment now = memory_moment();

	for (unsigned i = 0; i < opened_count; i++) {
		if ((const char *)address < opened[i].address || (const char *)address >= opened[i].address + opened[i].bytes)
			continue;
		if (moment_before(&opened[i].at, &now))
			return;
		late = true;
	}
	if (late)
		engine_fail("memory is used that may not be open yet");
}

bool os_discard(void *address, size_t bytes)
{
	engine_point(true);
	memset(address, 0, bytes);
	scenario_discarded(address, bytes);
	return true;
}

bool os_prefault(void *address, size_t bytes)
{
	(void)address;
	(void)bytes;
	return true;
}

bool os_lock(void *address, size_t bytes)
{
	(void)address;
	(void)bytes;
	return true;
}

void os_wish_huge(void *address, size_t bytes)
{
	(void)address;
	(void)bytes;
}

size_t os_page_bytes(void)
{
	return PAGE;
}

void os_close(void *address, size_t bytes)
{
	(void)address;
	(void)bytes;
}

void os_yield(void)
{
	(void)sched_yield();
}

unsigned os_processors(void)
{
	return 2;
}

unsigned os_processor_block(void)
{
	/* Each thread on a processor far from the others'. */
	return engine_running() ? engine_thread() : 0;
}

void *os_heap_resize(void *memory, size_t bytes)
{
	/* What the threads allocate is gone when they begin again. */
	return engine_running() && !memory ? os_map(bytes) : realloc(memory, bytes);
}

void *os_heap_aligned(size_t alignment, size_t bytes)
{
	return aligned_alloc(alignment, round_up(bytes, alignment));
}

void os_heap_free(void *memory)
{
	free(memory);
}

uint32_t os_thread_id(void)
{
	return 1;
}

void os_heavy_fence(void)
{
	if (asymmetric)
		memory_barrier_everywhere();
	else
		full_fence();
}

bool os_asymmetric(void)
{
	return asymmetric;
}

bool os_at_fork(void (*before)(void), void (*after_in_parent)(void), void (*after_in_child)(void))
{
	(void)before;
	(void)after_in_parent;
	(void)after_in_child;
	return true;
}

bool os_mutex_open(pthread_mutex_t *mutex)
{
	return pthread_mutex_init(mutex, NULL) == 0;
}

void os_forget_thread_id(void) {}

/* ---- What src/pool/threads.c, src/api/calls.c and src/api/process.c are to the rest of the library: threads here have the cache that is lent to them,
 * or none. ---- */

static struct thread_entry nothing[1 + TABLE_ENTRIES_MIN] = {[1] = {.pool_id = 1}};
THREAD_LOCAL struct thread_entry *thread_table = &nothing[1];

bool process_open(void)
{
	return true;
}

bool threads_keep_caches(void)
{
	return true;
}

uint32_t thread_hint(void)
{
	return retires_hint();
}

struct serving *thread_serving(void)
{
	return serving[engine_running() ? engine_thread() : 0];
}

void thread_serve(struct serving *innermost)
{
	serving[engine_running() ? engine_thread() : 0] = innermost;
}

struct cache_head *thread_cache_if_any(const lfpool_t *pool)
{
	(void)pool;
	return lent[engine_running() ? engine_thread() : 0];
}

struct cache_head *thread_cache(lfpool_t *pool)
{
	return thread_cache_if_any(pool);
}

void os_play_lend(lfpool_cache_t *cache)
{
	lent[engine_running() ? engine_thread() : 0] = (struct cache_head *)cache;
}

void *lfpool_acquire(lfpool_t *pool)
{
	return pool->backend->acquire(pool);
}

lfpool_status_t lfpool_release(lfpool_t *pool, void *object)
{
	return pool_release(pool, object);
}

size_t lfpool_acquire_bulk(lfpool_t *pool, void **objects_out, size_t count)
{
	size_t done = 0;

	while (done < count && (objects_out[done] = lfpool_acquire(pool)))
		done++;
	return done;
}

size_t lfpool_release_bulk(lfpool_t *pool, void *const *objects, size_t count)
{
	size_t done = 0;

	for (size_t i = 0; i < count; i++)
		done += objects[i] && lfpool_release(pool, objects[i]) == LFPOOL_OK;
	return done;
}
