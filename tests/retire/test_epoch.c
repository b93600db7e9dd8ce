/* SPDX-License-Identifier: MIT */
/* test: component */
/* test_epoch.c - rules of lfpool/epoch.h only (for all readers: test_readers.c): making and refusing a gate, the
 * small number of records, and the record that is not taken. */
#include "../support/epoch_support.h"

enum { SIZE = 24, CAPACITY = 10, THREADS = 4 };

/* Each test has an epoch, whose first record is this thread's. */
#define EPOCH_TEST(name) TEST_WITH(name, readers_open, readers_close)

static size_t records_of(const ck_epoch_t *of)
{
	size_t count = 0;

	for (const ck_stack_entry_t *entry = of->records.head; entry; entry = entry->next)
		count++;
	return count;
}

/* ---- Made, and refused ---- */

static bool refuse_memory;

/* Replaces the C library's, in the whole program. */
int posix_memalign(void **memory_out, size_t alignment, size_t size)
{
	if (refuse_memory)
		return ENOMEM;
	*memory_out = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
	return *memory_out ? 0 : ENOMEM;
}

TEST(epoch_create_refuses_bad_arguments_and_missing_memory)
{
	ck_epoch_t empty;
	const lfpool_scheme_t nothing = {0};
	lfpool_scheme_t made;

	ck_epoch_init(&empty);
	assert_int_equal(lfpool_epoch_create(NULL, &empty), LFPOOL_E_ARGUMENT);
	memset(&made, 0xff, sizeof(made));
	assert_int_equal(lfpool_epoch_create(&made, NULL), LFPOOL_E_ARGUMENT);
	assert_memory_equal(&made, &nothing, sizeof(made));
	refuse_memory = true;
	memset(&made, 0xff, sizeof(made));
	const lfpool_status_t status = lfpool_epoch_create(&made, &empty);

	refuse_memory = false;
	assert_int_equal(status, LFPOOL_E_NO_MEMORY);
	assert_memory_equal(&made, &nothing, sizeof(made));
	assert_int_equal(lfpool_epoch_create(&made, &empty), LFPOOL_OK);
	assert_int_equal(records_of(&empty), 0);
	lfpool_epoch_destroy(made);
	lfpool_epoch_destroy(nothing);
}

/* ---- Records ---- */

static void *retire_some(void *pool)
{
	join_readers();
	for (unsigned i = 0; i < 300; i++)
		retire(pool, lfpool_acquire(pool));
	leave_readers();
	return NULL;
}

/* For any number of threads. */
EPOCH_TEST(epoch_records_are_reused)
{
	enum { ROUNDS = 40 };
	lfpool_t *pool = readers_pool_of(SIZE, 50);

	for (unsigned round = 0; round < ROUNDS; round++)
		threads_run(THREADS, retire_some, pool, 0);
	/* The test's own record, and the threads', which reuse theirs. */
	assert_in_range(records_of(&epoch), 2, LFPOOL_PLACES_MAX + 1 + THREADS);
	drain_and_destroy(pool, SIZE);
}

RUN_TESTS()
