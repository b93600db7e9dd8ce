/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_type_stable.c - reading objects that may be released at any moment, without a scheme: the memory stays, so a
 * reader may look first, and ask lfpool_resolve() afterwards whether what it saw belonged to the object that it
 * wanted.
 *
 * Idea         Every word of an object is made of its handle.  So whoever has the handle can tell a word of this
 *              object from one of any other that ever lay there.
 *
 *                  writer                                          reader
 *                  object = acquire, handle = handle_of            handle <- shared place (acquire)
 *                  words of the object <- (release)                object = resolve(handle), or it is gone
 *                  shared place <- handle (release)                words of the object (acquire)
 *                  ... release, at any time                        resolve(handle) == object, or throw the words away
 *
 * Why          A word that a later holder wrote was stored with release, after his acquire had changed the slot's
 *              state word in the order of his thread.  Who loads that word with acquire has the change behind him, so
 *              the second resolve, which reads the state word later, sees it, or a newer one, and no generation comes
 *              twice (handle.h).  A word of an earlier holder cannot be read, because the handle was published after
 *              this one's.  The first words of a use are what must not be relaxed: with fences it would be a release
 *              fence after the acquire of the object, and an acquire fence before the second resolve.
 *              (ThreadSanitizer knows no fences.)
 * Control      Without the second resolve the same readers accept words of other objects.
 */
#include "../support/support.h"

#include <sched.h>
#include <stdatomic.h>

enum { WORDS = 6, CAPACITY = 4, PLACES = 2, WRITERS = 2, READERS = 2, BURST_MAX = 100 };

struct object {
	_Atomic(uint64_t) word[WORDS];
};

static uint64_t word_for(lfpool_handle_t handle, size_t i)
{
	return (handle ^ i) * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static struct scene {
	lfpool_t *pool;
	_Atomic(lfpool_handle_t) place[PLACES];
	size_t burst;
	atomic_bool over;
} scene;

static void scene_open(size_t capacity, size_t cache_capacity)
{
	memset(&scene, 0, sizeof(scene));
	/* AddressSanitizer would report each late look. */
	scene.pool = POOL_OF(sizeof(struct object), capacity, .cache_capacity = cache_capacity, .debug = "no-tools");
}

/* ---- The pattern ---- */

static lfpool_handle_t publish(struct object *object, size_t place)
{
	const lfpool_handle_t handle = lfpool_handle_of(scene.pool, object);

	/* release: after our acquire of the object. */
	for (size_t i = 0; i < WORDS; i++)
		atomic_store_explicit(&object->word[i], word_for(handle, i), memory_order_release);
	/* release: the words. */
	atomic_store_explicit(&scene.place[place], handle, memory_order_release);
	return handle;
}

enum seen { GONE, LOOKED, ACCEPTED };

/* Reads the handle's object; ACCEPTED if the words are that object's, for what the second resolve says. */
static enum seen look(lfpool_handle_t handle, uint64_t *words_out, bool pause)
{
	struct object *object = lfpool_resolve(scene.pool, handle);

	if (!object)
		return GONE;
	for (size_t i = 0; i < WORDS; i++) {
		/* acquire: whatever its writer did before, the acquire of the object above all. */
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

/* ---- Step by step ---- */

TEST(a_look_that_ends_too_late_is_told)
{
	static const size_t caches[] = {0, 2, LFPOOL_CACHE_NONE};

	for (size_t c = 0; c < COUNT(caches); c++) {
		struct object *object, *next;
		uint64_t words[WORDS];

		scene_open(CAPACITY, caches[c]);
		assert_non_null(object = lfpool_acquire(scene.pool));
		const lfpool_handle_t handle = publish(object, 0);

		assert_int_equal(look(handle, words, false), ACCEPTED);
		assert_true(words_hold(handle, words));
		/* The look begins. */
		assert_ptr_equal(lfpool_resolve(scene.pool, handle), object);
		assert_int_equal(lfpool_release(scene.pool, object), LFPOOL_OK);
		/* The memory stays, and what is in it, until the next holder writes. */
		for (size_t i = 0; i < WORDS; i++)
			assert_true(atomic_load(&object->word[i]) == word_for(handle, i));
		assert_null(lfpool_resolve(scene.pool, handle));
		assert_ptr_equal(next = lfpool_acquire(scene.pool), object);
		assert_null(lfpool_resolve(scene.pool, handle));
		const lfpool_handle_t other = publish(next, 0);

		assert_true(other != handle);
		for (size_t i = 0; i < WORDS; i++)
			assert_true(atomic_load(&object->word[i]) == word_for(other, i));
		/* It ends. */
		assert_null(lfpool_resolve(scene.pool, handle));
		assert_int_equal(look(handle, words, false), GONE);
		assert_int_equal(lfpool_destroy(scene.pool), 1);
	}
}

/* ---- Threads ---- */

/* Releases so many, acquires and publishes as many, at full speed. */
static void *write_often(void *argument)
{
	const size_t place = *(const size_t *)argument;
	struct random random = random_for(place, 0);
	struct object *objects[BURST_MAX];
	size_t held = 0;

	while (!atomic_load_explicit(&scene.over, memory_order_relaxed)) {
		for (int i = 0; i < 64; i++) {
			for (size_t k = 0; k < held; k++)
				REQUIRE(lfpool_release(scene.pool, objects[k]) == LFPOOL_OK);
			for (held = 0; held < scene.burst; held++) {
				REQUIRE(objects[held] = lfpool_acquire(scene.pool));
				(void)publish(objects[held], place % PLACES);
			}
		}
		/* Few processors: readers shall meet what is published, too. */
		if (random_below(&random, 4) == 0)
			sched_yield();
	}
	for (size_t k = 0; k < held; k++)
		REQUIRE(lfpool_release(scene.pool, objects[k]) == LFPOOL_OK);
	return NULL;
}

struct reader {
	atomic_size_t accepted;
	atomic_size_t foreign; /* these, too, if it had not resolved again */
};

static void *read_often(void *argument)
{
	struct reader *r = argument;
	uint64_t words[WORDS];

	for (size_t n = 0; !atomic_load_explicit(&scene.over, memory_order_relaxed); n++) {
		/* acquire: the words that were there when it was published. */
		const lfpool_handle_t handle = atomic_load_explicit(&scene.place[n % PLACES], memory_order_acquire);
		const enum seen seen = look(handle, words, n % 64 == 0);

		if (seen == GONE)
			continue;
		const bool hold = words_hold(handle, words);

		REQUIRE(seen != ACCEPTED || hold);
		/* relaxed: counts. */
		atomic_fetch_add_explicit(seen == ACCEPTED ? &r->accepted : &r->foreign, seen == ACCEPTED || !hold,
					  memory_order_relaxed);
	}
	return NULL;
}

/* Besides what writers hold: what a step of lfpool_trim() may have in its hands. */
#define SPARE (64 * 1024 / sizeof(struct object))

/* For a while, and until the readers accepted some words, and met foreign ones: the control. */
static void read_while_others_write(size_t burst, size_t cache_capacity, bool (*meanwhile)(void))
{
	const uint64_t until = now_ns() + TIMES(150, 300) * UINT64_C(1000000), limit = until + UINT64_C(60000000000);
	struct reader r = {0};

	scene_open(2 * WRITERS * burst + SPARE, cache_capacity);
	scene.burst = burst;
	static size_t places[WRITERS] = {0, 1};
	const struct threads writers = threads_start(WRITERS, write_often, places, sizeof(places[0]));
	const struct threads readers = threads_start(READERS, read_often, &r, 0);

	while (!meanwhile() || now_ns() < until || !atomic_load(&r.foreign) || !atomic_load(&r.accepted))
		REQUIRE(now_ns() < limit);
	atomic_store(&scene.over, true);
	threads_join(&writers);
	threads_join(&readers);
	print_message("    accepted %zu looks; thrown away, with words of others, %zu\n", atomic_load(&r.accepted),
		      atomic_load(&r.foreign));
	require_whole(scene.pool, sizeof(struct object));
	assert_int_equal(lfpool_destroy(scene.pool), 0);
}

static bool wait_a_moment(void)
{
	usleep(1000);
	return true;
}

TEST(no_word_of_another_object_is_accepted)
{
	read_while_others_write(1, 0, wait_a_moment);
	read_while_others_write(1, 2, wait_a_moment);
	read_while_others_write(3, LFPOOL_CACHE_NONE, wait_a_moment);
}

/* Some pages went back to the system, again and again. */
static bool trim(void)
{
	(void)lfpool_trim(scene.pool, 0, SIZE_MAX);
	usleep(100);
	return stats_of(scene.pool).given_back > 100 * 4096;
}

/* Under the readers' eyes: what is zero then is not accepted either. */
TEST(nor_a_zero_of_memory_that_was_given_back)
{
	read_while_others_write(BURST_MAX, 2, trim);
}

RUN_TESTS()
