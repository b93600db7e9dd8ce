/* SPDX-License-Identifier: MIT */
/*
 * unit_check_backends.c - lfpool_check() on the mutex and malloc backends, and on each while objects are retired: what is theirs alone
 * is damaged, named, and made right again.
 */
#include "../support/held.h"
#include "../support/schemes.h"

#include "core/cache.h"
#include "pool/pool.h"
#include "retire/retired.h"

#define LOAD(p) atomic_load_explicit((p), memory_order_relaxed)
#define STORE(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

static void expect_violation(const lfpool_t *pool, const char *expected)
{
	const char *violated = lfpool_check(pool, NULL);

	if (!violated || strncmp(violated, expected, strlen(expected)) != 0)
		fail_msg("expected \"%s\", got \"%s\"", expected, violated ? violated : "nothing");
}

/* The list lies in the free objects, so a user can break it. */
TEST(the_list_of_the_mutex_backend)
{
	/* no-tools: links lie in free objects, unless a sanitizer is told that those must not be touched. */
	lfpool_t *pool = POOL_OF(24, 10, .backend = LFPOOL_BACKEND_MUTEX, .debug = "no-tools");
	void *objects[5], *saved;

	assert_null(lfpool_check(pool, NULL));
	assert_int_equal(acquire_all(pool, objects, 5), 5);
	assert_null(lfpool_check(pool, NULL));
	release_all(pool, objects, 3);
	const struct {
		void *link;
		const char *named;
	} damages[] = {{objects[2], "C1: a free slot lies in two places"},
		       {objects[4], "A1: an object that is in use lies"},
		       {moved(objects[0], 1), "M1:"},
		       {NULL, "M2: the list does not hold"},
		       {moved(objects[0], 9 * (ptrdiff_t)stride_of(pool, objects[0])), "C1: a slot that was never used"}};

	memcpy(&saved, objects[2], sizeof(saved));
	for (size_t i = 0; i < COUNT(damages); i++) {
		memcpy(objects[2], &damages[i].link, sizeof(void *));
		expect_violation(pool, damages[i].named);
		memcpy(objects[2], &saved, sizeof(saved));
		assert_null(lfpool_check(pool, NULL));
	}
	STORE(&pool->arena->face.state[6], 3);
	expect_violation(pool, "A1: the state of a slot that was never used");
	STORE(&pool->arena->face.state[6], 0);
	release_all(pool, objects + 3, 2);
	pool_close(pool, 24);
}

/* Slots as in the lock-free backend; each that is in use has an object, and the object has a label. */
TEST(the_cells_of_the_malloc_backend)
{
	lfpool_t *pool = POOL_OF(24, 10, .backend = LFPOOL_BACKEND_MALLOC);
	void *objects[2] = {NULL, NULL}, *label, *saved;

	assert_int_equal(acquire_all(pool, objects, 2), 2);
	release_all(pool, objects, 1);
	assert_null(lfpool_check(pool, NULL));
	for (uint32_t slot = 1; slot <= pool->backend->used(pool); slot++) {
		_Atomic(void *) *cell = arena_object(pool->arena, slot);
		void *object = LOAD(cell);

		if (!object) {
			STORE(cell, &saved);
			expect_violation(pool, "E1: a free slot");
			STORE(cell, NULL);
			continue;
		}
		assert_ptr_equal(object, objects[1]);
		STORE(cell, NULL);
		expect_violation(pool, "E1: an active slot");
		STORE(cell, object);
		label = moved(object, -16);
		memcpy(&saved, label, sizeof(saved));
		memset(label, 1, sizeof(saved));
		expect_violation(pool, "E1: an active slot");
		memcpy(label, &saved, sizeof(saved));
	}
	assert_null(lfpool_check(pool, NULL));
	release_all(pool, objects + 1, 1);
	assert_int_equal(lfpool_destroy(pool), 0);
}

BACKEND_TEST(no_memory_for_the_check, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = POOL_OF(24, 10, .backend = backend);
	const struct had before = had_now();

	(void)os_testing_refuse(1);
	assert_string_equal(lfpool_check(pool, NULL), "no memory for the check");
	(void)os_testing_refuse(0);
	assert_null(lfpool_check(pool, NULL));
	require_had(before);
	lfpool_destroy(pool);
}

/* ---- What is retired ---- */

enum { CAPACITY = 20, WITH = 4, NEXT = 5 };

static lfpool_batch_t *batch;

static void on_begin(void *context, lfpool_batch_t *begun)
{
	(void)context;
	batch = begun;
}

static struct {
	lfpool_t *pool;
	struct retired *retired;
	struct retired_shard *shard;
	void *with[WITH], *next[NEXT], *active;
	uint32_t released; /* a free slot */
} scene;

static uint32_t slot_of(const void *object)
{
	return (uint32_t)lfpool_index_of(scene.pool, object) + 1;
}

static void scene_open(lfpool_backend_t backend)
{
	scene.pool = POOL_OF(24, CAPACITY, .backend = backend, .scheme.begin = on_begin);
	scene.retired = scene.pool->retired;
	assert_int_equal(lfpool_acquire_bulk(scene.pool, scene.with, WITH), WITH);
	assert_int_equal(lfpool_acquire_bulk(scene.pool, scene.next, NEXT), NEXT);
	assert_non_null(scene.active = lfpool_acquire(scene.pool));
	void *released = lfpool_acquire(scene.pool);

	scene.released = slot_of(released);
	assert_int_equal(lfpool_release(scene.pool, released), LFPOOL_OK);
	assert_int_equal(lfpool_retire_bulk(scene.pool, scene.with, WITH), WITH);
	assert_int_equal(lfpool_retire_bulk(scene.pool, scene.next, NEXT), NEXT);
	scene.shard = batch->shard;
	assert_null(lfpool_check(scene.pool, NULL));
}

/* All that a damage may change. */
static struct {
	uint64_t word;
	uint32_t link[CAPACITY + 1];
	uint8_t state[CAPACITY + 1];
} kept;

static void keep(void)
{
	kept.word = LOAD(&scene.shard->word);
	memcpy(kept.link, (const void *)scene.retired->link, sizeof(kept.link));
	memcpy(kept.state, (const void *)scene.pool->arena->face.state, sizeof(kept.state));
}

static void put_right(void)
{
	STORE(&scene.shard->word, kept.word);
	memcpy((void *)scene.retired->link, kept.link, sizeof(kept.link));
	memcpy((void *)scene.pool->arena->face.state, kept.state, sizeof(kept.state));
}

static void scene_close(void)
{
	assert_null(lfpool_check(scene.pool, NULL));
	assert_int_equal(lfpool_release(scene.pool, scene.active), LFPOOL_OK);
	lfpool_batch_reclaim(batch);
	assert_null(lfpool_check(scene.pool, NULL));
	lfpool_batch_reclaim(batch);
	pool_close(scene.pool, 24);
}

/* DAMAGE(name, named, statement): a test on each backend; the invariant that is violated then begins with `named`. */
#define DAMAGE(name, named, ...)                       \
	BACKEND_TEST(name, LFPOOL_BACKEND_MALLOC)      \
	{                                              \
		scene_open(backend);                   \
		keep();                                \
		__VA_ARGS__;                           \
		expect_violation(scene.pool, (named)); \
		put_right();                           \
		scene_close();                         \
	}

#define LINK(slot) (&scene.retired->link[slot])
/* The last one of those that are with the scheme, and of those that come next. */
#define WITH_SCHEME batch->first
#define COMES_NEXT (uint32_t)LOAD(&scene.shard->word)

DAMAGE(with_scheme_cut, "", STORE(LINK(WITH_SCHEME), LINK_RETIRED))
DAMAGE(next_cut, "", STORE(LINK(COMES_NEXT), LINK_RETIRED))
DAMAGE(circle, "C1: a free slot lies in two places", STORE(LINK(COMES_NEXT), COMES_NEXT | LINK_RETIRED))
DAMAGE(link_to_active, "A1: an object that is in use lies", STORE(LINK(WITH_SCHEME), slot_of(scene.active) | LINK_RETIRED))
DAMAGE(link_to_free, "", STORE(LINK(COMES_NEXT), scene.released | LINK_RETIRED))
DAMAGE(link_to_nowhere, "", STORE(LINK(WITH_SCHEME), (CAPACITY + 1) | LINK_RETIRED))
DAMAGE(says_that_it_is_not, "R1: a retired slot does not say so", STORE(LINK(slot_of(scene.with[0])), 0))
DAMAGE(another_says_that_it_is, "R1: more slots say that they are retired than are",
       STORE(LINK(slot_of(scene.active)), LINK_RETIRED))
DAMAGE(longer_than_its_count, "R1: a list of retired slots is longer than its count",
       STORE(&scene.shard->word, LOAD(&scene.shard->word) - (UINT64_C(1) << 32)))
DAMAGE(active_again, "A1: an object that is in use lies",
       STORE(&scene.pool->arena->face.state[slot_of(scene.next[2])], LFPOOL_ACTIVE))
DAMAGE(idle_with_slots, "R2: an idle shard has retired slots",
       STORE(&scene.shard->word, shard_in(LOAD(&scene.shard->word), IDLE)))
DAMAGE(lost, "", STORE(&scene.shard->word, shard_word(shard_phase(LOAD(&scene.shard->word)), 0, SLOT_NONE)))

RUN_TESTS()
