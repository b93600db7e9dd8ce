/* SPDX-License-Identifier: MIT */
/*
 * lives.c - see lives.h.
 */
#include "lives.h"

#include "../support/support.h"
#include "lfpool/evict.h"
#include "lfpool/registry.h"
#include "lfpool/set.h"

#include <sys/wait.h>

enum { SIZE = 64, CAPACITY = 40, MOST = 120, STEP = 20, ASKS = 24, CACHES = 18, MARK = 77 };

#define MUST(condition) ((condition) ? (void)0 : must_failed(#condition, __LINE__))

/* ---- The current function; errno ---- */

struct shared *shared;
static _Thread_local int current = -1;

_Noreturn void must_failed(const char *condition, int line)
{
	snprintf(shared->failure, sizeof(shared->failure), "lives.c:%d: %s, after %s", line, condition,
		 current < 0 ? "nothing" : shared->function[current]);
	fprintf(stderr, "%s\n", shared->failure);
	_exit(3);
}

void errno_mark(void)
{
	errno = MARK;
}

static void note_call(enum refusal which)
{
	if (current >= 0)
		atomic_store(&shared->made[which], true);
}

/* The previous call must have left errno alone. */
static void enter(const char *function)
{
	int i = 0, end = (int)atomic_load(&shared->functions);

	MUST(errno == MARK);
	on_call = note_call;
	while (i < end && strcmp(shared->function[i], function) != 0)
		i++;
	/* If two threads add an entry at once, one is lost until the next life. */
	if (i == end) {
		MUST(end < FUNCTIONS_MAX);
		snprintf(shared->function[i], NAME_BYTES, "%s", function);
		atomic_store(&shared->functions, (unsigned)end + 1);
	}
	current = i;
	errno = MARK;
}

#define CALL(function) (enter(#function), (function))

/* ---- Shared by all lives ---- */

static lfpool_config_t config_for(const struct life *life)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	config.flags = life->flags;
	config.backend = life->backend;
	config.debug = life->debug;
	return config;
}

/* Was it made?  If not, the reason must be one that the header names, and nothing may be left. */
static bool is_made(lfpool_status_t status, const void *made, uint32_t flags, bool strict)
{
	MUST((status == LFPOOL_OK) == (made != NULL));
	MUST(status == LFPOOL_OK ||
	     (!strict && (status == LFPOOL_E_NO_MEMORY || (flags & LFPOOL_LOCK && status == LFPOOL_E_LOCK))));
	return made;
}

static bool activate(void *context, void *object)
{
	(void)context;
	return object;
}

static bool is_heap(const lfpool_t *pool)
{
	return lfpool_quick_stats(pool).backend == LFPOOL_BACKEND_MALLOC;
}

struct hand {
	void *objects[MOST + 8];
	size_t count;
};

static bool take(struct hand *h, void *object)
{
	if (!object)
		return false;
	MUST(h->count < COUNT(h->objects));
	/* All bytes get the object's number. */
	memset(object, (int)h->count + 1, SIZE);
	h->objects[h->count++] = object;
	return true;
}

/* NULL means that every object was in use. */
static void take_all(struct hand *h, lfpool_t *pool)
{
	size_t capacity;

	do
		capacity = lfpool_capacity(pool);
	while (take(h, CALL(lfpool_acquire)(pool)));
	MUST(h->count >= capacity || is_heap(pool));
}

static void *put(struct hand *h)
{
	MUST(h->count-- && all_bytes_are(h->objects[h->count], SIZE, (unsigned char)(h->count + 1)));
	return h->objects[h->count];
}

/* ---- A pool ---- */

static void release_at_once(void *context, lfpool_t *pool, void *object)
{
	atomic_fetch_add((atomic_size_t *)context, 1);
	MUST(object || is_heap(pool));
	MUST(CALL(lfpool_release)(pool, object) == LFPOOL_OK);
}

static void *visit(void *pool)
{
	void *objects[3];

	errno_mark();
	for (int i = 0; i < 3; i++) {
		void *object = CALL(lfpool_acquire)(pool);

		MUST(object || is_heap(pool));
		MUST(CALL(lfpool_release)(pool, object) == LFPOOL_OK);
	}

	MUST(CALL(lfpool_release_if_owned)(pool, CALL(lfpool_acquire)(pool)) == LFPOOL_OK);

	const size_t count = CALL(lfpool_acquire_bulk)(pool, objects, COUNT(objects));

	MUST(count == COUNT(objects) || is_heap(pool));
	MUST(CALL(lfpool_release_bulk)(pool, objects, count) == count);
	MUST(errno == MARK);
	return NULL;
}

static void fork_and_visit(lfpool_t *pool)
{
	int status = 0;
	const pid_t pid = fork();

	if (pid == 0) {
		alarm(HANGS_AFTER_SECONDS);
		(void)visit(pool);
		_exit(0);
	}
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	errno_mark();
}

/* With nothing left: calls that want an object queue, are cancelled, or are served. */
static void want(lfpool_t *pool, struct hand *h, bool strict)
{
	atomic_size_t calls = 0;
	size_t queued = 0, cancelled = 0;
	lfpool_ticket_t tickets[ASKS];
	void *two[2];

	(void)take(h, CALL(lfpool_acquire_wait)(pool, 50000));
	if (CALL(lfpool_acquire_bulk_wait)(pool, NULL, two, 2, 50000) == LFPOOL_OK)
		MUST(take(h, two[0]) && take(h, two[1]));
	for (int i = 0; i < ASKS; i++) {
		const lfpool_status_t status = CALL(lfpool_acquire_async)(pool, release_at_once, &calls,
									  &tickets[queued]);

		MUST(status == LFPOOL_OK || (!strict && status == LFPOOL_E_NO_MEMORY));
		queued += status == LFPOOL_OK;
	}
	for (size_t i = 0; i < queued; i += 3)
		cancelled += lfpool_cancel(pool, tickets[i]);
	(void)CALL(lfpool_shrink)(pool, 4);
	(void)CALL(lfpool_shrink_cancel)(pool);
	MUST(CALL(lfpool_limit)(pool, MOST) == LFPOOL_OK);
	while (h->count > 4)
		MUST(CALL(lfpool_release)(pool, put(h)) == LFPOOL_OK);
	MUST(calls + cancelled == queued || is_heap(pool));
	/* The memory before it exists too: the malloc backend looks for a label there. */
	MUST(CALL(lfpool_release)(pool, &h->objects[8]) == LFPOOL_E_FOREIGN);
	/* If the heap refuses there may be fewer. */
	if (h->count == 4) {
		const lfpool_handle_t pinned = lfpool_handle_of(pool, put(h));

		MUST(CALL(lfpool_pin)(pool, pinned) && CALL(lfpool_release_handle)(pool, pinned) == LFPOOL_OK);
		MUST(CALL(lfpool_unpin)(pool, pinned) == LFPOOL_OK);
		MUST(CALL(lfpool_release_self)(put(h)) == LFPOOL_OK);
	}
	MUST(CALL(lfpool_release_bulk)(pool, h->objects, h->count) == h->count);
	h->count = 0;
}

static void use_caches(lfpool_t *pool, bool strict)
{
	lfpool_cache_t *caches[CACHES];
	void *objects[2];

	for (int i = 0; i < CACHES; i++) {
		caches[i] = CALL(lfpool_cache_create)(pool);
		MUST(caches[i] || !strict);
		if (!caches[i])
			continue;
		objects[0] = CALL(lfpool_cache_acquire)(caches[i]);
		MUST(objects[0] || is_heap(pool));
		MUST(CALL(lfpool_cache_release)(caches[i], objects[0]) == LFPOOL_OK);
		objects[0] = CALL(lfpool_cache_acquire_wait)(caches[i], 50000);
		MUST(objects[0] || is_heap(pool));
		MUST(CALL(lfpool_cache_release_if_owned)(caches[i], objects[0]) == LFPOOL_OK);

		const size_t count = CALL(lfpool_cache_acquire_bulk)(caches[i], objects, 2);

		MUST(count == 2 || is_heap(pool));
		MUST(CALL(lfpool_cache_release_bulk)(caches[i], objects, count) == count);
	}
	for (int i = 0; i < CACHES; i++)
		lfpool_cache_destroy(caches[i]);
}

static void resize(lfpool_t *pool, bool strict)
{
	const size_t gone = CALL(lfpool_shrink)(pool, 30), added = CALL(lfpool_grow)(pool, 10);
	const size_t capacity = lfpool_capacity(pool);

	/* All of them are free. */
	MUST(gone == 30 && added <= 10 && (added == 10 || !strict));
	MUST(CALL(lfpool_reserve)(pool, capacity + 5) <= 5);
	for (int i = 0; i < 50 && CALL(lfpool_trim)(pool, 0, SIZE_MAX); i++)
		;
}

static void report(lfpool_t *pool, bool strict)
{
	char text[4096];
	const char *violated;

	(void)CALL(lfpool_dump)(pool, LFPOOL_TEXT, text, sizeof(text));
	violated = CALL(lfpool_check)(pool, NULL);
	MUST(!violated || (!strict && strcmp(violated, "no memory for the check") == 0));
}

static void live_pool(const struct life *life, bool strict)
{
	lfpool_status_t status;
	lfpool_config_t config = config_for(life);
	lfpool_t *pool = (lfpool_t *)(uintptr_t)1;
	struct hand hand = {.count = 0};
	pthread_t thread;

	config.max_capacity = MOST;
	config.growth_step = STEP;
	/* Makes it ask for the current processor. */
	config.depot_shards = 2;
	config.hooks.activate = life->hooks ? activate : NULL;
	status = CALL(lfpool_create)(&pool, &config);
	if (!is_made(status, pool, life->flags, strict))
		return;
	take_all(&hand, pool);
	MUST(hand.count == MOST || (!strict && (hand.count >= CAPACITY || is_heap(pool))));
	want(pool, &hand, strict);
	MUST(hand.count == 0 && lfpool_active_count(pool) == 0);
	use_caches(pool, strict);
	resize(pool, strict);
	MUST(pthread_create(&thread, NULL, visit, pool) == 0 && pthread_join(thread, NULL) == 0);
	errno_mark();
	if (life->forks)
		fork_and_visit(pool);
	report(pool, strict);
	/* No object was lost. */
	take_all(&hand, pool);
	MUST(CALL(lfpool_release_all)(pool) == hand.count);
	report(pool, strict);
	MUST(CALL(lfpool_close)(pool, -1) == 0);
	MUST(CALL(lfpool_destroy)(pool) == 0);
	MUST(errno == MARK);
}

/* ---- Retired objects ---- */

static lfpool_batch_t *kept[LFPOOL_PLACES_MAX];

static void begin_batch(void *context, lfpool_batch_t *batch)
{
	(void)context;
	MUST(!kept[batch->place]);
	kept[batch->place] = batch;
}

static bool end_batches(void *context)
{
	(void)context;
	for (size_t i = 0; i < LFPOOL_PLACES_MAX; i++) {
		lfpool_batch_t *batch = kept[i];

		kept[i] = NULL;
		if (batch)
			CALL(lfpool_batch_reclaim)(batch);
	}
	return true;
}

static void live_retiring(const struct life *life, bool strict)
{
	lfpool_status_t status;
	lfpool_config_t config = config_for(life);
	lfpool_t *pool = (lfpool_t *)(uintptr_t)1;
	struct hand hand = {.count = 0};

	config.scheme.begin = begin_batch;
	config.scheme.wait = end_batches;
	status = CALL(lfpool_create)(&pool, &config);
	if (!is_made(status, pool, life->flags, strict))
		return;
	for (int round = 0; round < 3; round++) {
		take_all(&hand, pool);
		MUST(hand.count >= 4 || (!strict && is_heap(pool)));
		if (hand.count >= 4) {
			MUST(CALL(lfpool_retire)(pool, put(&hand)) == LFPOOL_OK);
			hand.count -= 2;
			MUST(CALL(lfpool_retire_bulk)(pool, hand.objects + hand.count, 2) == 2);
		}
		while (hand.count)
			MUST(CALL(lfpool_release)(pool, put(&hand)) == LFPOOL_OK);
		(void)CALL(lfpool_retire_poll)(pool);
		MUST(CALL(lfpool_drain)(pool) == LFPOOL_OK && lfpool_quick_stats(pool).retired == 0);
	}
	report(pool, strict);
	MUST(CALL(lfpool_destroy)(pool) == 0);
	MUST(errno == MARK);
}

/* ---- A set ---- */

static void live_set(const struct life *life, bool strict)
{
	lfpool_status_t status;
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;
	lfpool_set_t *set = (lfpool_set_t *)(uintptr_t)1;
	void *objects[3];
	size_t count = 0;
	char text[4096] = "";

	config.largest = 256;
	config.pool.capacity = CAPACITY;
	config.pool.flags = life->flags;
	config.pool.backend = life->backend;
	config.pool.debug = life->debug;
	status = CALL(lfpool_set_create)(&set, &config);
	if (!is_made(status, set, life->flags, strict))
		return;
	for (size_t size = SIZE; size <= 4 * SIZE; size *= 2) {
		objects[count] = CALL(lfpool_set_acquire)(set, size);
		/* Its class cannot be made; a second request can. */
		MUST(objects[count] || !strict);
		count += objects[count] != NULL;
	}
	MUST(CALL(lfpool_set_release)(set, text + SIZE) == LFPOOL_E_FOREIGN);
	for (size_t i = 0; i < count; i++)
		MUST(CALL(lfpool_set_release)(set, objects[i]) == LFPOOL_OK);
	count = CALL(lfpool_set_acquire_bulk)(set, 20, objects, 3);
	MUST(count == 3 || !strict);
	MUST(CALL(lfpool_set_release_bulk)(set, objects, count) == count);
	for (int i = 0; i < 50 && CALL(lfpool_set_trim)(set, 0, SIZE_MAX); i++)
		;
	MUST(CALL(lfpool_set_release_if_owned)(set, CALL(lfpool_set_acquire)(set, 20)) == LFPOOL_OK);
	MUST(CALL(lfpool_set_pool)(set, 200) || !strict);
	MUST(CALL(lfpool_set_class)(set, 150, true, NULL) || !strict);
	(void)CALL(lfpool_set_dump)(set, LFPOOL_TEXT, text, sizeof(text));
	MUST(CALL(lfpool_set_destroy)(set) == 0);
	MUST(errno == MARK);
}

/* ---- Eviction ---- */

/* Returns the number of objects that it acquired. */
static size_t fill_evicting(lfpool_t *pool, uint64_t *priority, lfpool_handle_t *handle_out, bool strict)
{
	size_t count = 0;

	for (size_t i = 0; i < 2 * CAPACITY; i++) {
		lfpool_handle_t handle;

		if (!CALL(lfpool_acquire_evicting)(pool, ++*priority, &handle)) {
			MUST(!strict);
			continue;
		}
		count += count < CAPACITY;
		MUST(CALL(lfpool_unpin)(pool, handle) == LFPOOL_OK);
		MUST(CALL(lfpool_set_priority)(pool, handle, ++*priority) == LFPOOL_OK);
		*handle_out = handle;
	}
	return count;
}

static void live_evicting(const struct life *life, bool strict)
{
	lfpool_config_t config = config_for(life);
	lfpool_t *pool = (lfpool_t *)(uintptr_t)1;
	lfpool_handle_t handle = 0;
	uint64_t priority = 0;
	size_t count;

	config.evict = LFPOOL_EVICT_LESS;
	config.hooks.activate = life->hooks ? activate : NULL;
	const lfpool_status_t status = CALL(lfpool_create)(&pool, &config);

	if (!is_made(status, pool, life->flags, strict))
		return;
	count = fill_evicting(pool, &priority, &handle, strict);
	if (count) {
		MUST(CALL(lfpool_pin)(pool, handle));
		MUST(lfpool_release_handle(pool, handle) == LFPOOL_OK);
		MUST(CALL(lfpool_unpin)(pool, handle) == LFPOOL_OK);
		MUST(CALL(lfpool_release_least)(pool, CAPACITY) == count - 1);
	}
	MUST(!CALL(lfpool_least)(pool, NULL));
	report(pool, strict);
	MUST(CALL(lfpool_destroy)(pool) == 0);
	MUST(errno == MARK);
}

/* ---- A registry ---- */

static void live_registry(const struct life *life, bool strict)
{
	/* More pools, scenarios and lines than its first allocation has room for. */
	static const char
		profile[] = "jobs capacity=20 max_capacity=60\n[match]\njobs capacity=60\n[lobby]\njobs capacity=10\n"
			    "[a]\n[b]\n[c]\njobs-b keep=1\njobs-c keep=1\njobs-d keep=1\njobs-e keep=1\n"
			    "jobs-f capacity=3 max_capacity=50\n[d]\njobs-f capacity=50\n[e]\n[f]\n[g]\n[h]\n[i]\n"
			    "[j]\n[k]\n[l]\n[m]\n[n]\n[o]\n";
	static const char *const scenarios[] = {"match", "lobby", "d", "default"};
	lfpool_status_t status;
	lfpool_registry_t *registry = (lfpool_registry_t *)(uintptr_t)1;
	lfpool_config_t config = config_for(life);
	lfpool_profile_error_t error;
	lfpool_t *pools[12];
	char text[4096], name[] = "jobs-a";

	status = CALL(lfpool_registry_create)(&registry, profile, &error);
	MUST(strcmp(error.text, status == LFPOOL_OK ? "" : lfpool_status_string(status)) == 0);
	if (!is_made(status, registry, 0, strict))
		return;
	for (size_t i = 0; i < COUNT(pools); i++) {
		pools[i] = (lfpool_t *)(uintptr_t)1;
		name[5] = (char)('a' + i);

		status = CALL(lfpool_registry_create_pool)(registry, i ? name : "jobs", &config, &pools[i]);
		(void)is_made(status, pools[i], life->flags, strict);
		MUST(CALL(lfpool_registry_find)(registry, i ? name : "jobs") == pools[i]);
	}
	for (size_t i = 0; i < COUNT(scenarios); i++) {
		lfpool_registry_report_t now;

		status = CALL(lfpool_registry_switch_sized)(registry, profile, scenarios[i], &now, sizeof(now));
		MUST(strcmp(now.error.text, status == LFPOOL_OK ? "" : lfpool_status_string(status)) == 0);
		MUST(status == LFPOOL_OK || (!strict && status == LFPOOL_E_NO_MEMORY));
		MUST(CALL(lfpool_registry_switch)(registry, NULL, scenarios[i], NULL) == LFPOOL_OK);
	}
	(void)CALL(lfpool_registry_dump)(registry, LFPOOL_TEXT, text, sizeof(text));
	if (pools[1])
		MUST(CALL(lfpool_registry_destroy_pool)(registry, pools[1]) == 0);
	MUST(CALL(lfpool_registry_destroy)(registry) == 0);
	MUST(errno == MARK);
}

/* ---- Objects in the caller's memory ---- */

static void live_lent(const struct life *life, bool strict)
{
	static _Alignas(65536) unsigned char memory[65536];
	lfpool_config_t config = config_for(life);
	lfpool_t *pool = (lfpool_t *)(uintptr_t)1;
	struct hand hand = {.count = 0};
	lfpool_status_t status;
	size_t bytes;

	bytes = CALL(lfpool_memory_bytes)(&config);
	MUST(bytes ? bytes <= sizeof(memory) : !strict);
	config.memory = memory;
	config.memory_bytes = sizeof(memory);
	status = CALL(lfpool_create)(&pool, &config);
	if (!is_made(status, pool, life->flags, strict))
		return;
	take_all(&hand, pool);
	MUST(CALL(lfpool_release_all)(pool) == hand.count);
	report(pool, strict);
	MUST(CALL(lfpool_destroy)(pool) == 0);
	MUST(errno == MARK);
}

/* ---- All lives ---- */

#define LOCKFREE LFPOOL_BACKEND_LOCKFREE
#define MUTEX LFPOOL_BACKEND_MUTEX
#define HEAP LFPOOL_BACKEND_MALLOC

const struct life lives[] = {
	{"pool", live_pool, 0, LOCKFREE, NULL, false, true},
	{"pool, no cache of threads' own, zeroed", live_pool, LFPOOL_ZERO | LFPOOL_CHECK_RACES, LOCKFREE, NULL, false,
	 false},
	{"pool, prefaulted, hooks", live_pool, LFPOOL_PREFAULT, LOCKFREE, NULL, true, false},
	{"pool, locked", live_pool, LFPOOL_LOCK, LOCKFREE, NULL, false, false},
	{"pool, huge pages", live_pool, LFPOOL_HUGE_PAGES, LOCKFREE, NULL, false, false},
	{"pool, debugged", live_pool, 0, LOCKFREE, "poison,guard,quarantine=3,owner,backtrace=1/16", true, false},
	{"pool, mutex", live_pool, LFPOOL_PREFAULT, MUTEX, NULL, false, false},
	{"pool, heap", live_pool, 0, HEAP, NULL, true, false},
	{"pool, objects in memory of the caller's", live_lent, LFPOOL_PREFAULT, LOCKFREE, "owner", false, false},
	{"retiring", live_retiring, 0, LOCKFREE, NULL, false, false},
	{"retiring, mutex", live_retiring, LFPOOL_PREFAULT, MUTEX, NULL, false, false},
	{"set", live_set, 0, LOCKFREE, NULL, false, false},
	{"set, locked, debugged", live_set, LFPOOL_LOCK, LOCKFREE, "poison", false, false},
	{"set, mutex, prefaulted", live_set, LFPOOL_PREFAULT, MUTEX, NULL, false, false},
	{"set, heap", live_set, 0, HEAP, NULL, false, false},
	{"evicting", live_evicting, LFPOOL_PREFAULT, LOCKFREE, NULL, false, false},
	{"evicting, mutex", live_evicting, LFPOOL_PREFAULT, MUTEX, NULL, false, false},
	{"evicting, debugged", live_evicting, 0, LOCKFREE, "poison,guard,quarantine=4", true, false},
	{"registry", live_registry, 0, LOCKFREE, NULL, false, false},
};
const size_t life_count = COUNT(lives);
