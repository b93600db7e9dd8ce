/* SPDX-License-Identifier: MIT */
/*
 * unit_check_retired.c - lfpool_check() while objects are retired: each thing that can be wrong with them is made
 * wrong once, named, and made right again.
 */
#include "../support/support.h"

#include "retire/retired.h"
#include "pool/pool.h"

enum { CAPACITY = 20, WITH = 4, NEXT = 5 };

#define LOAD(p) atomic_load_explicit((p), memory_order_relaxed)
#define STORE(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

static lfpool_batch_t *batch;

static void on_begin(void *context, lfpool_batch_t *begun)
{
	(void)context;
	batch = begun;
}

static struct {
	lfpool_t *pool;
	struct retired *limbo;
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
	lfpool_config_t config = config_of(24, CAPACITY);

	config.backend = backend;
	config.scheme.begin = on_begin;
	scene.pool = pool_with(&config);
	scene.limbo = scene.pool->retired;
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

/* ---- The damages ---- */

static void with_scheme_cut(void)
{
	STORE(&scene.limbo->link[batch->first], LINK_RETIRED);
}

static void next_cut(void)
{
	STORE(&scene.limbo->link[(uint32_t)LOAD(&scene.shard->word)], LINK_RETIRED);
}

static void circle(void)
{
	const uint32_t first = (uint32_t)LOAD(&scene.shard->word);

	STORE(&scene.limbo->link[first], first | LINK_RETIRED);
}

static void link_to_active(void)
{
	STORE(&scene.limbo->link[batch->first], slot_of(scene.active) | LINK_RETIRED);
}

static void link_to_free(void)
{
	STORE(&scene.limbo->link[(uint32_t)LOAD(&scene.shard->word)], scene.released | LINK_RETIRED);
}

static void link_to_nowhere(void)
{
	STORE(&scene.limbo->link[batch->first], (CAPACITY + 1) | LINK_RETIRED);
}

static void says_that_it_is_not(void)
{
	STORE(&scene.limbo->link[slot_of(scene.with[0])], 0);
}

static void another_says_that_it_is(void)
{
	STORE(&scene.limbo->link[slot_of(scene.active)], LINK_RETIRED);
}

static void longer_than_its_count(void)
{
	STORE(&scene.shard->word, LOAD(&scene.shard->word) - (UINT64_C(1) << 32));
}

static void active_again(void)
{
	_Atomic(uint8_t) *state = &scene.pool->arena->face.state[slot_of(scene.next[2])];

	STORE(state, LFPOOL_ACTIVE);
}

static void idle_with_slots(void)
{
	STORE(&scene.shard->word, shard_in(LOAD(&scene.shard->word), IDLE));
}

static void lost(void)
{
	STORE(&scene.shard->word, shard_word(shard_phase(LOAD(&scene.shard->word)), 0, SLOT_NONE));
}

static const struct damage {
	void (*commit)(void);
	const char *named;
} damages[] = {
	{with_scheme_cut, ""},
	{next_cut, ""},
	{circle, "C1: a free slot lies in two places"},
	{link_to_active, "A1: an object that is in use lies"},
	{link_to_free, ""},
	{link_to_nowhere, ""},
	{says_that_it_is_not, "R1: a retired slot does not say so"},
	{another_says_that_it_is, "R1: more slots say that they are retired than are"},
	{longer_than_its_count, "R1: a list of retired slots is longer than its count"},
	{active_again, "A1: an object that is in use lies"},
	{idle_with_slots, "R2: an idle shard has retired slots"},
	{lost, ""},
};

/* All that a damage may change. */
static struct {
	uint64_t word;
	uint32_t link[CAPACITY + 2];
	uint8_t state[CAPACITY + 2];
} kept;

static void keep(void)
{
	kept.word = LOAD(&scene.shard->word);
	for (size_t slot = 1; slot <= CAPACITY; slot++) {
		kept.link[slot] = LOAD(&scene.limbo->link[slot]);
		kept.state[slot] = LOAD(&scene.pool->arena->face.state[slot]);
	}
}

static void put_right(void)
{
	STORE(&scene.shard->word, kept.word);
	for (size_t slot = 1; slot <= CAPACITY; slot++) {
		STORE(&scene.limbo->link[slot], kept.link[slot]);
		STORE(&scene.pool->arena->face.state[slot], kept.state[slot]);
	}
}

TEST(each_damage_is_found)
{
	static const lfpool_backend_t backends[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX, LFPOOL_BACKEND_MALLOC};

	for (size_t b = 0; b < COUNT(backends); b++) {
		scene_open(backends[b]);
		keep();
		for (size_t i = 0; i < COUNT(damages); i++) {
			damages[i].commit();
			const char *violated = lfpool_check(scene.pool, NULL);

			if (!violated || strncmp(violated, damages[i].named, strlen(damages[i].named)) != 0)
				fail_msg("backend %zu, damage %zu: expected \"%s\", got \"%s\"", b, i, damages[i].named,
					 violated ? violated : "nothing");
			put_right();
			assert_null(lfpool_check(scene.pool, NULL));
		}
		assert_int_equal(lfpool_release(scene.pool, scene.active), LFPOOL_OK);
		lfpool_batch_reclaim(batch);
		assert_null(lfpool_check(scene.pool, NULL));
		lfpool_batch_reclaim(batch);
		require_whole(scene.pool, 24);
		assert_int_equal(lfpool_destroy(scene.pool), 0);
	}
}

RUN_TESTS()
