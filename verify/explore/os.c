/* SPDX-License-Identifier: MIT */
/*
 * os.c - src/os/os.h and the few functions of src/pool/threads.c, src/api/calls.c and src/api/process.c that the rest
 * of the library needs.
 *
 * Idea         All memory that the library maps comes from one static room.  So one memcpy restores a whole pool, and
 *              addresses are the same in every run of the program.  The heavy fence is the model's.
 * Sleep        Only a wake wakes a sleeping thread, however often the word changes.  So a wake that is forgotten, or
 *              that comes before the sleep, leaves a thread asleep, and the engine finds no thread to run.
 * Clock        Virtual.  It stops until the engine chooses a thread that sleeps with a deadline; then it shows that
 *              deadline, whatever the deadlines of other threads are (those may be late too).
 * Early        A sleep may end spuriously: a choice, like a weak CAS's failure.
 */
#include "os/os.h"

#include "explore.h"
#include "pool/pool.h"
#include "api/api.h"
#include "retires.h"
#include "scenario.h"
#include "pool/threads.h"
#include "verbs.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_BYTES ((size_t)1 << 20)
#define PAGE 4096
#define OPENED_MAX 16
#define KEPT_MAX 16
#define KEPT_BYTES ((size_t)1 << 16)

/* Notes that are restored with the room. */
static struct {
	void *notes;
	size_t bytes;
} kept[KEPT_MAX];
static unsigned kept_count;
static char kept_saved[KEPT_BYTES];
static _Alignas(PAGE) char room[ROOM_BYTES], saved[ROOM_BYTES];
static size_t used, saved_bytes;
static bool asymmetric;
/* Ranges that the threads committed; the rest is committed from the beginning. */
static struct range {
	const char *address;
	size_t bytes;
	struct moment at;
} opened[OPENED_MAX];
static unsigned opened_count;
static bool refuses;
/* In src/pool/threads.c this is thread-local. */
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

/* Copies the notes to their saved copies, or back. */
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
	/* The last execution may have been cut off. */
	memset(lent, 0, sizeof(lent));
	memset(serving, 0, sizeof(serving));
	/* New mappings are already zero when the model asks for their first value. */
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

void *os_map_aligned(size_t bytes, size_t offset, size_t alignment, bool open)
{
	used += alignment ? -((uintptr_t)room + used + offset) & (alignment - 1) : 0;
	return os_map(bytes);
}

void os_unmap(void *address, size_t bytes)
{
	/* A thread that still reads this memory will fail. */
	memset(address, 0xdb, bytes);
}

bool os_open(void *address, size_t bytes)
{
	if (!engine_running())
		return true;
	engine_point(true);
	if (refuses)
		return false;
	if (opened_count == OPENED_MAX)
		engine_fail("the explorer's fault: too many ranges are committed");
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
		if ((const char *)address < opened[i].address ||
		    (const char *)address >= opened[i].address + opened[i].bytes)
			continue;
		if (moment_before(&opened[i].at, &now))
			return;
		late = true;
	}
	if (late)
		engine_fail("memory is used that may not be committed yet");
}

bool os_discard(void *address, size_t bytes)
{
	engine_point(true);
	memset(address, 0, bytes);
	scenario_discarded(address, bytes);
	return true;
}

void *os_heap_resize(void *memory, size_t bytes)
{
	/* Memory allocated by the threads disappears when they start again. */
	return engine_running() && !memory ? os_map(bytes) : realloc(memory, bytes);
}

/* These functions are empty or constant here. */
/* clang-format off */
void *os_reserve(size_t bytes) { return os_map(bytes); }
bool os_guard(void *address, size_t bytes) { return true; }
bool os_prefault(void *address, size_t bytes) { return true; }
bool os_lock(void *address, size_t bytes) { return true; }
void os_wish_huge(void *address, size_t bytes) {}
void os_close(void *address, size_t bytes) {}
size_t os_page_bytes(void) { return PAGE; }
void os_yield(void) { (void)sched_yield(); }
unsigned os_processors(void) { return 2; }
uint32_t os_thread_id(void) { return 1; }
void os_forget_thread_id(void) {}
bool os_mutex_open(os_mutex_t *mutex) { return pthread_mutex_init(mutex, NULL) == 0; }
void os_mutex_close(os_mutex_t *mutex) { (void)pthread_mutex_destroy(mutex); }
const char *os_environment(const char *name) { return secure_getenv(name); }
void os_print(const char *text) { (void)fputs(text, stderr); }
bool os_at_fork(void (*before)(void), void (*parent)(void), void (*child)(void)) { return true; }
void *os_heap_aligned(size_t alignment, size_t bytes) { return aligned_alloc(alignment, round_up(bytes, alignment)); }
void os_heap_free(void *memory) { free(memory); }
bool os_can_read(const void *address) { return (void)address, true; }
bool os_asymmetric(void) { return asymmetric; }
bool process_open(void) { return true; }
bool fork_mutex_open(struct fork_mutex *m) { return true; }
void fork_mutex_close(struct fork_mutex *m) {}
uint32_t process_forks(void) { return 0; }
uintptr_t process_forker(void) { return 0; }
bool threads_keep_caches(void) { return true; }
uint32_t thread_hint(void) { return retires_hint(); }
struct cache_head *thread_cache(lfpool_t *pool) { return thread_cache_if_any(pool); }
struct cache_head *thread_cache_remembered(lfpool_t *pool) { return NULL; }
/* clang-format on */

void os_heavy_fence(void)
{
	if (asymmetric)
		memory_barrier_everywhere();
	else
		full_fence();
}

/* ---- Sleep and the clock ---- */

static struct {
	const void *on;
	uint32_t seen; /* the word's low half when it fell asleep */
	uint64_t deadline;
} sleeper[THREADS_MAX];
static unsigned asleep, dozing, late;
static struct moment fell_asleep[THREADS_MAX], woke_late[THREADS_MAX];
static uint64_t clock_ns = 1;

void sleep_begin(void)
{
	asleep = dozing = late = 0;
	clock_ns = 1;
}

unsigned sleepers(bool with_deadline)
{
	return with_deadline ? dozing : asleep;
}

static void wake(unsigned thread)
{
	asleep &= ~(1u << thread);
	dozing &= ~(1u << thread);
}

void sleep_time_over(unsigned thread)
{
	wake(thread);
	clock_ns = clock_ns < sleeper[thread].deadline ? sleeper[thread].deadline : clock_ns;
}

static void is_late(unsigned thread)
{
	if (late >> thread & 1)
		return;
	late |= 1u << thread;
	woke_late[thread] = memory_moment();
}

void sleep_call(void)
{
	late &= ~(1u << engine_thread());
}

bool sleep_was_late(struct moment *since_out)
{
	if (!(late >> engine_thread() & 1))
		return false;
	*since_out = woke_late[engine_thread()];
	return true;
}

bool sleep_unserved(unsigned thread, struct moment *since_out)
{
	*since_out = fell_asleep[thread];
	return asleep >> thread & 1 && *(const uint32_t *)sleeper[thread].on == sleeper[thread].seen;
}

uint64_t os_now_ns(void)
{
	return clock_ns;
}

void os_sleep_on(_Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns)
{
	const unsigned self = engine_thread();

	/* In the set-up and the last checks no thread could wake a sleeper. */
	if (!engine_running())
		abort();
	/* No thread can intervene between the check and the sleep: the kernel holds a lock. */
	if ((uint32_t)memory_newest(word, sizeof(*word)) != (uint32_t)seen)
		return;
	if (deadline_ns <= clock_ns) {
		is_late(self);
		return;
	}
	if (engine_choose(2, SPURIOUS))
		return;
	fell_asleep[self] = memory_moment();
	sleeper[self].on = word;
	sleeper[self].seen = (uint32_t)seen;
	sleeper[self].deadline = deadline_ns;
	asleep |= 1u << self;
	dozing |= (unsigned)(deadline_ns != UINT64_MAX) << self;
	engine_fall_asleep();
	if (deadline_ns <= clock_ns)
		is_late(self);
}

void os_wake(_Atomic(uint64_t) *word)
{
	engine_point(true);
	for (unsigned t = 0; t < THREADS_MAX; t++)
		if (asleep >> t & 1 && sleeper[t].on == word)
			wake(t);
}

uint32_t os_backtrace(void **frames_out, uint32_t room_for)
{
	(void)frames_out;
	(void)room_for;
	return 0;
}

struct os_symbol os_symbol_at(const void *address)
{
	(void)address;
	return (struct os_symbol){0};
}

/* ---- The functions of src/pool/threads.c for the rest of the library ----
 *
 * A thread has the cache that is lent to it, or none.  (lfpool_acquire and lfpool_release have none.)
 */

static struct lfpool_entry_ nothing[1 + TABLE_ENTRIES_MIN] = {[1] = {.pool_id = 1}};
/* Named by the asm of lfpool/inline.h, which a whole-program optimiser does not see. */
__attribute__((used)) THREAD_LOCAL struct lfpool_thread_ lfpool_thread_ = {.last.pool_id = 1, .table = &nothing[1]};

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

void os_play_lend(lfpool_cache_t *cache)
{
	lent[engine_running() ? engine_thread() : 0] = (struct cache_head *)cache;
}
