/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_type_stable.c - reading objects that may be released at any moment, without a scheme.  The memory stays, so a
 * reader may read first, and then ask lfpool_resolve() whether the words belonged to the object it wanted.
 * docs/deferred-release.md, "Without a grace period", has the pattern and says why it works.
 *
 * Idea         Every word of an object is made from its handle.  So a reader that has the handle can distinguish a
 *              word of this object from a word of any other that was ever there.
 * Control      Without the second resolve the same readers accept words of other objects.
 */
#include "../support/workers.h"

#include <sched.h>

enum { WORDS = 6, PLACES = 2, WRITERS = 2, READERS = 2 };

struct object {
	_Atomic(uint64_t) word[WORDS];
};

static uint64_t word_for(lfpool_handle_t handle, size_t i)
{
	return (handle ^ i) * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static struct {
	lfpool_t *pool;
	_Atomic(lfpool_handle_t) place[PLACES];
	atomic_size_t accepted; /* reads */
	atomic_size_t foreign;  /* reads that it would have accepted without the second resolve */
} scene;

/* ---- The pattern ---- */

static void publish(struct object *object, size_t place)
{
	const lfpool_handle_t handle = lfpool_handle_of(scene.pool, object);

	/* release: after our acquire of the object. */
	for (size_t i = 0; i < WORDS; i++)
		atomic_store_explicit(&object->word[i], word_for(handle, i), memory_order_release);
	/* release: the words. */
	atomic_store_explicit(&scene.place[place], handle, memory_order_release);
}

enum seen { GONE, LOOKED, ACCEPTED };

/* Reads the handle's object; ACCEPTED if, by the second resolve, the words are that object's. */
static enum seen look(lfpool_handle_t handle, uint64_t *words_out, bool pause)
{
	struct object *object = lfpool_resolve(scene.pool, handle);

	if (!object)
		return GONE;
	for (size_t i = 0; i < WORDS; i++) {
		/* acquire: the writer's earlier steps, above all the acquire of the object. */
		words_out[i] = atomic_load_explicit(&object->word[i], memory_order_acquire);
		if (pause && i == WORDS / 2)
			sched_yield();
	}
	return lfpool_resolve(scene.pool, handle) == object ? ACCEPTED : LOOKED;
}

static bool words_hold(lfpool_handle_t handle, const uint64_t *words)
{
	for (size_t i = 0; i < WORDS; i++)
		if (words[i] != word_for(handle, i))
			return false;
	return true;
}

/* ---- Threads ---- */

/* Releases one, acquires and publishes another, at full speed. */
static void write_often(struct worker *me)
{
	struct object *object = NULL;

	while (!told_to_end(me)) {
		for (int i = 0; i < 64; i++) {
			REQUIRE(lfpool_release(scene.pool, object) == LFPOOL_OK);
			REQUIRE(object = lfpool_acquire(scene.pool));
			publish(object, me->number % PLACES);
		}
		/* On few processors: readers must meet published objects too. */
		if (random_below(&me->random, 4) == 0)
			sched_yield();
	}
	REQUIRE(lfpool_release(scene.pool, object) == LFPOOL_OK);
}

static void read_often(struct worker *me)
{
	uint64_t words[WORDS];

	for (size_t n = 0; !told_to_end(me); n++) {
		/* acquire: the words at the publication. */
		const lfpool_handle_t handle = atomic_load_explicit(&scene.place[n % PLACES], memory_order_acquire);
		const enum seen seen = look(handle, words, n % 64 == 0);

		if (seen == GONE)
			continue;
		const bool hold = words_hold(handle, words);

		REQUIRE(seen != ACCEPTED || hold);
		/* relaxed: counts. */
		atomic_fetch_add_explicit(seen == ACCEPTED ? &scene.accepted : &scene.foreign,
					  seen == ACCEPTED || !hold, memory_order_relaxed);
	}
}

static void write_or_read(struct worker *me)
{
	if (me->number < WRITERS)
		write_often(me);
	else
		read_often(me);
}

/* For a while, and until the readers have accepted some words, and met foreign ones: the control. */
static void read_while_others_write(size_t cache_capacity)
{
	const uint64_t until = now_ns() + TIMES(150, 300) * UINT64_C(1000000), limit = until + UINT64_C(60000000000);
	struct workers workers;

	memset(&scene, 0, sizeof(scene));
	/* no-tools: AddressSanitizer would report each late read. */
	scene.pool = POOL_OF(sizeof(struct object), 2 * WRITERS, .cache_capacity = cache_capacity, .debug = "no-tools");
	workers_start(&workers, WRITERS + READERS, write_or_read, NULL, 0);
	for (; now_ns() < until || !atomic_load(&scene.foreign) || !atomic_load(&scene.accepted); usleep(1000))
		REQUIRE(now_ns() < limit);
	(void)workers_end(&workers);
	print_message("    accepted %zu looks; thrown away, with words of others, %zu\n", atomic_load(&scene.accepted),
		      atomic_load(&scene.foreign));
	pool_close(scene.pool, sizeof(struct object));
}

TEST(no_word_of_another_object_is_accepted)
{
	read_while_others_write(0);
	read_while_others_write(2);
	read_while_others_write(LFPOOL_CACHE_NONE);
}

RUN_TESTS()
