/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the value and the order that an atomic operation gets.
 *
 * Sequentially consistent search: the memory itself.
 *
 * Weak search: C11's atomics as an operational model of views (in the manner of Kang, Hur, Lahav, Vafeiadis, Dreyer
 * 2017, without promises, and of loom and Relacy).
 *   Store history   each shared location keeps all its stores of this execution, oldest first: its modification order.
 *   View            for each location the oldest store that may still be read, and for each thread a vector clock of
 *                   the events that happen before.  A thread has a view; a store carries one.
 *   Load            reads any store that its thread's view does not forbid; acquire joins the store's view.  A thread
 *                   that has read an old store keeps reading it until its view changes, or for LATE_MAX loads: so one
 *                   late store is one choice, however often it is read.
 *   Store           is appended; release gives it the thread's view, relaxed the view of the thread's last fence.
 *   Read-modify-    reads the last store; continues its release sequence.  A failed compare-and-swap is a load.
 *   write
 *   seq_cst         reads the last store, and is also acquire and release: right for locations with only seq_cst
 *                   stores, whose order is then the order of the execution.
 *   Fence           seq_cst: acquire and release, and an exchange with the one view that all fences share.
 *   membarrier      such a fence in the caller, in every other thread, and in the caller again, one operation each.
 *   Sleep           reads the last store, like the kernel under its lock; neither sleep nor wake orders anything.
 *   Plain data      two unordered accesses, one of them a write: a data race, which is a failure.
 *
 * Not modelled A load never reads a store that comes later in the execution (load buffering), and a store is never
 *              put before one that was executed earlier (2+2W), although C11 and some processors allow both; nor does
 *              the model cover compilers.
 */
#include "explore.h"

#include "follow.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

#define LOCATIONS_MAX 4096 /* a power of two */
#define PLAIN_MAX 1024     /* a power of two */
#define HISTORY_MAX 256
#define LATE_MAX 64
#define ALONE_MAX 1000000

struct view {
	int16_t at[VIEW];
};

struct store {
	uint64_t value;
	struct view view;
};

struct location {
	const void *address;
	unsigned bytes;
	uint8_t readers, writers; /* threads that read it, that wrote it, one bit each, in this whole search */
	int16_t shared;           /* place in shared[], or -1                                 */
};

struct plain {
	const void *address;
	uint64_t execution; /* not the current one: the entry counts as empty */
	int16_t wrote[THREADS_MAX], read[THREADS_MAX];
};

static struct location locations[LOCATIONS_MAX];
static struct plain plains[PLAIN_MAX];
static uint64_t execution;
/* Operations of the set-up and the last checks, since the last execution began. */
static uint64_t operations_alone;

static struct {
	struct location *location;
	int stores;
	struct store history[HISTORY_MAX];
	uint8_t late[THREADS_MAX]; /* number of loads for which the thread still reads its last value */
} shared[SHARED_MAX];
static int shared_count;

/* Each thread's view; the view that an acquire fence will join; the view that its relaxed stores carry.  The fences'
 * view. */
static struct view current[THREADS_MAX], acquired[THREADS_MAX], released[THREADS_MAX], fenced;

static void join(struct view *into, const struct view *from)
{
	for (int i = 0; i < VIEW; i++)
		into->at[i] = into->at[i] > from->at[i] ? into->at[i] : from->at[i];
}

static size_t hash(const void *address)
{
	return (size_t)((uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

void memory_forget(void)
{
	memset(locations, 0, sizeof(locations));
	memset(plains, 0, sizeof(plains));
	execution = 0;
	shared_count = 0;
}

/* Outside the threads: in the set-up and the last checks, which must also end. */
static bool alone(void)
{
	if (engine_running())
		return false;
	if (++operations_alone > ALONE_MAX)
		abort();
	return true;
}

/* Copies of a known size are moves: a third of the explorer's time. */
static uint64_t raw_read(const void *address, unsigned bytes)
{
	uint64_t eight = 0;
	uint32_t four;

	if (bytes == sizeof(four)) {
		memcpy(&four, address, sizeof(four));
		return four;
	}
	if (bytes == sizeof(eight))
		memcpy(&eight, address, sizeof(eight));
	else
		memcpy(&eight, address, bytes);
	return eight;
}

static void raw_write(void *address, unsigned bytes, uint64_t value)
{
	uint32_t four = (uint32_t)value;

	if (bytes == sizeof(value))
		memcpy(address, &value, sizeof(value));
	else if (bytes == sizeof(four))
		memcpy(address, &four, sizeof(four));
	else
		memcpy(address, &value, bytes);
}

void memory_begin(void)
{
	execution++;
	operations_alone = 0;
	follow_begin();
	if (!engine_weak())
		return;
	for (int i = 0; i < shared_count; i++) {
		shared[i].stores = 1;
		shared[i].history[0].value = raw_read(shared[i].location->address, shared[i].location->bytes);
		shared[i].history[0].view = (struct view){0};
		memset(shared[i].late, 0, sizeof(shared[i].late));
	}
	fenced = (struct view){0};
	for (int t = 0; t < THREADS_MAX; t++) {
		current[t] = acquired[t] = released[t] = (struct view){0};
		current[t].at[SHARED_MAX + t] = 1;
	}
}

/* Advances the running thread's clock: later events do not happen before the releases so far. */
static void tick(unsigned thread)
{
	if (++current[thread].at[SHARED_MAX + thread] == INT16_MAX)
		engine_fail("the explorer's fault: a clock ran over");
}

/* The location, after noting the thread's access and letting others run. */
static struct location *arrive(const void *address, unsigned bytes, bool reads, bool writes)
{
	size_t at = hash(address) % LOCATIONS_MAX;
	unsigned probes = 0;

	while (locations[at].address && locations[at].address != address) {
		at = (at + 1) % LOCATIONS_MAX;
		if (++probes == LOCATIONS_MAX)
			engine_fail("the explorer's fault: too many locations");
	}

	struct location *l = &locations[at];

	if (!l->address)
		*l = (struct location){.address = address, .bytes = bytes, .shared = -1};
	if (l->bytes != bytes)
		engine_fail("accesses of %u and %u bytes to one atomic", l->bytes, bytes);
	if (reads)
		l->readers |= (uint8_t)(1u << engine_thread());
	if (writes)
		l->writers |= (uint8_t)(1u << engine_thread());

	uint8_t users = l->readers | l->writers;

	if (l->shared < 0 && l->writers && (users & (users - 1))) {
		if (shared_count == SHARED_MAX)
			engine_fail("the explorer's fault: too many shared locations");
		l->shared = (int16_t)shared_count;
		shared[shared_count++].location = l;
		engine_relearn();
	}
	engine_point(l->shared >= 0);
	return l;
}

/* The running thread reads store `index` of the location's history. */
static uint64_t read_store(struct location *l, int index, enum explore_order order)
{
	unsigned t = engine_thread();
	const struct store *s = &shared[l->shared].history[index];

	current[t].at[l->shared] = (int16_t)index;
	join(order & EXPLORE_ACQUIRE ? &current[t] : &acquired[t], &s->view);
	return s->value;
}

/* Appends a store; `sequence`: the store whose release sequence it continues. */
static void append(struct location *l, uint64_t value, enum explore_order order, const struct store *sequence)
{
	unsigned t = engine_thread();
	int index = shared[l->shared].stores;
	struct store *s = &shared[l->shared].history[index];

	if (index == HISTORY_MAX) {
		engine_fail("more than %d stores to one location", HISTORY_MAX);
		return;
	}
	current[t].at[l->shared] = (int16_t)index;
	s->value = value;
	s->view = order & EXPLORE_RELEASE ? current[t] : released[t];
	s->view.at[l->shared] = (int16_t)index;
	if (sequence)
		join(&s->view, &sequence->view);
	shared[l->shared].stores++;
	tick(t);
}

static bool modelled(const struct location *l)
{
	return engine_weak() && l->shared >= 0;
}

static uint64_t read_newest(struct location *l, enum explore_order order)
{
	shared[l->shared].late[engine_thread()] = 0;
	return read_store(l, shared[l->shared].stores - 1, order);
}

uint64_t explore_load(const void *address, unsigned bytes, enum explore_order order)
{
	if (alone())
		return raw_read(address, bytes);

	struct location *l = arrive(address, bytes, true, false);

	follow(FOLLOW_LOAD, address, raw_read(address, bytes), 0);
	if (!modelled(l))
		return raw_read(address, bytes);
	if (order == EXPLORE_SEQ_CST)
		return read_newest(l, order);

	unsigned t = engine_thread();
	int last = shared[l->shared].stores - 1, oldest = current[t].at[l->shared];
	uint8_t *late = &shared[l->shared].late[t];

	if (*late && oldest == last)
		*late = 0;
	if (*late) {
		/* Usually the value that the thread read last; or a later one. */
		--*late;
		return read_store(l, oldest + (int)engine_choose((unsigned)(last - oldest + 1), STALE), order);
	}

	unsigned back = engine_choose((unsigned)(last - oldest + 1), STALE);

	*late = back ? LATE_MAX : 0;
	return read_store(l, last - (int)back, order);
}

uint64_t memory_newest(const void *address, unsigned bytes)
{
	struct location *l = arrive(address, bytes, true, false);

	return modelled(l) ? read_newest(l, EXPLORE_RELAXED) : raw_read(address, bytes);
}

void explore_store(void *address, unsigned bytes, uint64_t value, enum explore_order order)
{
	struct location *l = alone() ? NULL : arrive(address, bytes, false, true);

	follow(FOLLOW_STORE, address, raw_read(address, bytes), value);
	/* The memory always holds the last store. */
	raw_write(address, bytes, value);
	if (l && modelled(l))
		append(l, raw_read(address, bytes), order, NULL);
}

uint64_t explore_add(void *address, unsigned bytes, uint64_t value)
{
	struct location *l = alone() ? NULL : arrive(address, bytes, true, true);
	uint64_t before = raw_read(address, bytes), after = before + value;

	raw_write(address, bytes, after);
	if (l && modelled(l)) {
		const struct store *last = &shared[l->shared].history[shared[l->shared].stores - 1];

		(void)read_store(l, shared[l->shared].stores - 1, EXPLORE_RELAXED);
		append(l, raw_read(address, bytes), EXPLORE_RELAXED, last);
	}
	return before;
}

/* The store that a compare-and-swap for `expected` reads: the last, or (unless seq_cst) one with a different value;
 * or it fails spuriously. */
static int choose_read(struct location *l, uint64_t expected, bool weak, enum explore_order order, bool *fails_out)
{
	int last = shared[l->shared].stores - 1, oldest = current[engine_thread()].at[l->shared], candidates = 1;
	int candidate[HISTORY_MAX];

	candidate[0] = last;
	for (int i = last - 1; i >= oldest && order != EXPLORE_SEQ_CST; i--)
		if (shared[l->shared].history[i].value != expected)
			candidate[candidates++] = i;

	int index = candidate[engine_choose((unsigned)candidates, STALE)];

	shared[l->shared].late[engine_thread()] = 0;

	*fails_out = shared[l->shared].history[index].value != expected || (weak && engine_choose(2, SPURIOUS));
	return index;
}

bool explore_cas(void *address, unsigned bytes, void *old, uint64_t value, bool weak, enum explore_order success,
		 enum explore_order failure)
{
	uint64_t expected = raw_read(old, bytes);
	struct location *l = alone() ? NULL : arrive(address, bytes, true, true);
	uint64_t found = raw_read(address, bytes);
	bool fails;

	if (l && modelled(l)) {
		int index = choose_read(l, expected, weak, success, &fails);

		found = read_store(l, index, fails ? failure : success);
		if (!fails) {
			raw_write(address, bytes, value);
			append(l, raw_read(address, bytes), success, &shared[l->shared].history[index]);
		}
	} else {
		fails = found != expected || (l && weak && l->shared >= 0 && engine_choose(2, SPURIOUS));
		if (!fails)
			raw_write(address, bytes, value);
	}
	follow(fails ? FOLLOW_MISS : FOLLOW_SWAP, address, found, value);
	if (fails)
		raw_write(old, bytes, found);
	return !fails;
}

/* ---- Fences ---- */

static void fence(unsigned t)
{
	engine_point(true);
	if (!engine_running() || !engine_weak())
		return;
	join(&current[t], &acquired[t]);
	join(&current[t], &fenced);
	fenced = released[t] = current[t];
	tick(t);
}

void explore_fence(void)
{
	fence(engine_thread());
}

void memory_barrier_everywhere(void)
{
	if (!engine_running())
		return;
	follow(FOLLOW_FENCE, NULL, 0, 0);
	explore_fence();
	for (unsigned t = 0; t < engine_threads(); t++)
		if (t != engine_thread())
			fence(t);
	explore_fence();
}

/* ---- Orders from outside ---- */

void memory_glimpse(struct glimpse *glimpse_out)
{
	memcpy(glimpse_out->at, current[engine_thread()].at, sizeof(glimpse_out->at));
}

void memory_glimpsed(const struct glimpse *glimpse)
{
	int16_t *at = current[engine_thread()].at;

	for (int i = 0; engine_weak() && i < shared_count; i++)
		at[i] = at[i] > glimpse->at[i] ? at[i] : glimpse->at[i];
}

/* ---- Plain data ---- */

void explore_plain(const void *address, bool write)
{
	if (!engine_running() || !engine_weak())
		return;

	unsigned self = engine_thread();
	size_t at = hash(address) % PLAIN_MAX;

	while (plains[at].address && plains[at].address != address)
		at = (at + 1) % PLAIN_MAX;

	struct plain *p = &plains[at];

	if (p->execution != execution)
		*p = (struct plain){.address = address, .execution = execution};
	for (unsigned t = 0; t < THREADS_MAX; t++) {
		int16_t seen = current[self].at[SHARED_MAX + t];

		if (t != self && (p->wrote[t] > seen || (write && p->read[t] > seen)))
			engine_fail("data race: threads %u and %u on plain data at %p", t, self, address);
	}
	(write ? p->wrote : p->read)[self] = current[self].at[SHARED_MAX + self];
}

/* ---- Moments ---- */

struct moment memory_moment(void)
{
	unsigned t = engine_thread();
	struct moment m = {.operation = engine_now(), .thread = t};

	if (engine_weak()) {
		memcpy(m.clock, &current[t].at[SHARED_MAX], sizeof(m.clock));
		tick(t);
	}
	return m;
}

bool moment_before(const struct moment *a, const struct moment *b)
{
	if (!engine_weak())
		return a->operation < b->operation;
	if (a->thread == b->thread)
		return a->clock[a->thread] < b->clock[a->thread];
	return a->clock[a->thread] <= b->clock[a->thread];
}
