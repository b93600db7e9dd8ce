/* SPDX-License-Identifier: MIT */
/* test: debug threads */
/*
 * test_debug_random.c - no false alarm: threads that make no mistake, random calls, every mode, backend and way in.
 */
#include "../support/support.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 3
#define HELD_MAX 20
#define MAILBOXES 8
#define ROUNDS TIMES(30, 6)
#define STEPS TIMES(4000, 800)

static struct {
	lfpool_t *pool;
	size_t object_size;
	_Atomic(void *) mailbox[MAILBOXES]; /* objects on their way to other threads */
	atomic_size_t findings, hooks_called;
} stage;

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *state >> 33;
}

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	fprintf(stderr, "%s: %s\n", lfpool_status_string(misuse->status), misuse->detail);
	stage.findings++;
}

static bool hook(void *context, void *object)
{
	(void)context;
	/* A hook may use all of the object. */
	memset(object, 0x55, stage.object_size);
	stage.hooks_called++;
	/* Now and then refused. */
	return stage.hooks_called % 50 != 0;
}

static void undo(void *context, void *object)
{
	(void)context;
	memset(object, 0, stage.object_size);
}

struct worker {
	pthread_t thread;
	uint64_t random;
	lfpool_cache_t *cache;
	void *held[HELD_MAX];
	size_t count;
};

static void got(struct worker *w, void *object)
{
	static const char *const tags[] = {NULL, "physics", "audio", "network"};

	stamp_write(object, stage.object_size, (uintptr_t)object);
	lfpool_label(stage.pool, object, tags[next_random(&w->random) % COUNT(tags)]);
	w->held[w->count++] = object;
}

static void acquire_some(struct worker *w)
{
	const size_t room = HELD_MAX - w->count, wanted = (size_t)(next_random(&w->random) % (room + 1));
	void *objects[HELD_MAX];
	size_t count = 0;

	switch (next_random(&w->random) % 4) {
	case 0: count = lfpool_acquire_bulk(stage.pool, objects, wanted); break;
	case 1: count = w->cache ? lfpool_cache_acquire_bulk(w->cache, objects, wanted) : 0; break;
	case 2: count = room && (objects[0] = lfpool_acquire(stage.pool)); break;
	default: count = room && w->cache && (objects[0] = lfpool_cache_acquire(w->cache)); break;
	}
	for (size_t i = 0; i < count; i++)
		got(w, objects[i]);
}

static void release_some(struct worker *w)
{
	const size_t wanted = (size_t)(next_random(&w->random) % (w->count + 1));

	for (size_t i = w->count - wanted; i < w->count; i++)
		REQUIRE(stamp_holds(w->held[i], stage.object_size, (uintptr_t)w->held[i]));
	w->count -= wanted;
	switch (next_random(&w->random) % 3) {
	case 0: REQUIRE(lfpool_release_bulk(stage.pool, w->held + w->count, wanted) == wanted); break;
	case 1:
		for (size_t i = 0; i < wanted; i++)
			REQUIRE(lfpool_release(stage.pool, w->held[w->count + i]) == LFPOOL_OK);
		break;
	default:
		for (size_t i = 0; i < wanted; i++)
			REQUIRE((w->cache ? lfpool_cache_release(w->cache, w->held[w->count + i])
					  : lfpool_release(stage.pool, w->held[w->count + i])) == LFPOOL_OK);
		break;
	}
}

static void exchange_mail(struct worker *w)
{
	_Atomic(void *) *mailbox = &stage.mailbox[next_random(&w->random) % MAILBOXES];
	void *object = w->count ? w->held[--w->count] : NULL;

	object = atomic_exchange(mailbox, object);
	if (object) {
		REQUIRE(stamp_holds(object, stage.object_size, (uintptr_t)object));
		w->held[w->count++] = object;
	}
}

static void *work(void *argument)
{
	struct worker *w = argument;

	w->cache = next_random(&w->random) % 2 ? lfpool_cache_create(stage.pool) : NULL;
	for (int i = 0; i < STEPS; i++) {
		switch (next_random(&w->random) % 5) {
		case 0:
		case 1: acquire_some(w); break;
		case 2:
		case 3: release_some(w); break;
		default: exchange_mail(w); break;
		}
	}
	REQUIRE(lfpool_release_bulk(stage.pool, w->held, w->count) == w->count);
	lfpool_cache_destroy(w->cache);
	return NULL;
}

/* A config made of the random number; its words into `words`. */
static lfpool_config_t random_config(uint64_t *random, char words[100])
{
	static const char *const modes[] = {"poison,", "guard,", "owner,", "backtrace=1/7,", "zero,", "check,", "no-tools,"};
	const size_t sizes[] = {1, 7, 8, 20, 64, 100, 1000};
	lfpool_config_t config = config_of(sizes[next_random(random) % COUNT(sizes)], (size_t)(next_random(random) % 60 + 1));

	*words = '\0';
	for (size_t i = 0; i < COUNT(modes); i++)
		if (next_random(random) % 3)
			strcat(words, modes[i]);
	if (next_random(random) % 3)
		sprintf(words + strlen(words), "quarantine=%u", (unsigned)(next_random(random) % 40 + 1));
	config.debug = words;
	config.object_alignment = (size_t)1 << next_random(random) % 8;
	config.backend = (lfpool_backend_t)(next_random(random) % 5 % 3);
	config.cache_capacity = next_random(random) % 4 ? (size_t)(next_random(random) % 30) : LFPOOL_CACHE_NONE;
	if (next_random(random) % 3 == 0)
		config.flags |= LFPOOL_PREFAULT;
	config.hooks.misuse = on_misuse;
	if (next_random(random) % 3 == 0)
		config.hooks.activate = hook;
	if (next_random(random) % 3 == 0)
		config.hooks.deactivate = hook;
	if (next_random(random) % 3 == 0) {
		config.hooks.create = hook;
		config.hooks.destroy = undo;
	}
	return config;
}

TEST(no_false_alarm)
{
	uint64_t random = test_seed("no_false_alarm");

	for (int round = 0; round < ROUNDS; round++) {
		struct worker workers[THREADS] = {0};
		char words[100];
		lfpool_config_t config = random_config(&random, words);

		stage.object_size = config.object_size;
		stage.findings = stage.hooks_called = 0;
		stage.pool = pool_with(&config);
		for (unsigned i = 0; i < THREADS; i++) {
			workers[i].random = next_random(&random);
			assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
		}
		for (unsigned i = 0; i < THREADS; i++)
			assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		for (size_t i = 0; i < MAILBOXES; i++) {
			void *object = atomic_exchange(&stage.mailbox[i], NULL);

			assert_int_equal(lfpool_release(stage.pool, object), LFPOOL_OK);
		}
		assert_int_equal(lfpool_active_count(stage.pool), 0);
		assert_int_equal(lfpool_destroy(stage.pool), 0);
		if (stage.findings)
			fprintf(stderr, "round %d, backend %d, \"%s\"\n", round, (int)config.backend, words);
		assert_int_equal(stage.findings, 0);
	}
}

RUN_TESTS()
