/* SPDX-License-Identifier: MIT */
/* test: wrap=os_heap_aligned */
/* unit_check_modes.c - lfpool_check() in malloc mode, and in each mode with retired objects: damage is named, then
 * repaired. */
#include "../support/support.h"

#include "core/cache.h"
#include "pool/slots.h"
#include "retire/retired.h"

#define LOAD(p) atomic_load_explicit((p), memory_order_relaxed)
#define STORE(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

static bool no_heap;

void *__wrap_os_heap_aligned(size_t alignment, size_t bytes);
void *__real_os_heap_aligned(size_t alignment, size_t bytes);

void *__wrap_os_heap_aligned(size_t alignment, size_t bytes)
{
	return no_heap ? NULL : __real_os_heap_aligned(alignment, bytes);
}

static void expect_violation(const lfpool_t *pool, const char *expected)
{
	const char *violated = lfpool_check(pool, NULL);

	if (!violated || strncmp(violated, expected, strlen(expected)) != 0)
		fail_msg("expected \"%s\", got \"%s\"", expected, violated ? violated : "nothing");
}

/* Each slot in use has an object, and the object has a label. */
TEST(check_finds_damaged_cells_of_malloc_mode)
{
	lfpool_t *pool = POOL_OF(24, 10, .backend = LFPOOL_BACKEND_MALLOC);
	void *objects[2] = {NULL, NULL}, *label, *saved;

	assert_int_equal(acquire_all(pool, objects, 2), 2);
	release_all(pool, objects, 1);
	assert_null(lfpool_check(pool, NULL));
	for (uint32_t slot = 1; slot <= slots_used(pool); slot++) {
		_Atomic(void *) *cell = arena_object(&pool->core.arena, slot);
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

BACKEND_TEST(check_reports_missing_memory, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = POOL_OF(24, 10, .backend = backend);

	no_heap = true;
	assert_string_equal(lfpool_check(pool, NULL), "no memory for the check");
	no_heap = false;
	assert_null(lfpool_check(pool, NULL));
	lfpool_destroy(pool);
}

/* ---- Retired objects ---- */

static lfpool_batch_t *batch;

static void on_begin(void *context, lfpool_batch_t *begun)
{
	(void)context;
	batch = begun;
}

/* One object is with the scheme, four are next; the lists are damaged, one word at a time. */
BACKEND_TEST(check_finds_damaged_lists_of_retired_objects, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = POOL_OF(24, 20, .backend = backend, .scheme.begin = on_begin);
	void *objects[5], *active = lfpool_acquire(pool);

	assert_int_equal(lfpool_acquire_bulk(pool, objects, 5), 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(lfpool_retire(pool, objects[i]), LFPOOL_OK);
	_Atomic(uint64_t) *const word = &((struct batch *)batch)->shard->word;
	_Atomic(uint32_t) *const link = pool->retired->link;
	const uint64_t counted = LOAD(word);
	const uint32_t first = (uint32_t)counted, in_use = (uint32_t)lfpool_index_of(pool, active) + 1;
	const struct {
		uint32_t slot, link;
		const char *named;
	} damages[] = {{first, first | LINK_RETIRED, "C1: a free slot is listed twice"},
		       {first, in_use | LINK_RETIRED, "A1: an object in use is listed"},
		       {first, 0, "R1: the link of a retired slot does not mark it as retired"},
		       {in_use, LINK_RETIRED, "R1: more slots are marked as retired than are listed"}};

	for (size_t i = 0; i < COUNT(damages); i++) {
		const uint32_t saved = LOAD(&link[damages[i].slot]);

		STORE(&link[damages[i].slot], damages[i].link);
		expect_violation(pool, damages[i].named);
		STORE(&link[damages[i].slot], saved);
	}
	STORE(word, counted - (UINT64_C(1) << 32));
	expect_violation(pool, "R1: a list of retired slots is longer than its count");
	STORE(word, shard_in(counted, IDLE));
	expect_violation(pool, "R2: an idle shard has retired slots");
	STORE(word, counted);
	assert_null(lfpool_check(pool, NULL));
	assert_int_equal(lfpool_release(pool, active), LFPOOL_OK);
	lfpool_batch_reclaim(batch);
	lfpool_batch_reclaim(batch);
	pool_close(pool, 24);
}

RUN_TESTS()
