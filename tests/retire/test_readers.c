/* SPDX-License-Identifier: MIT */
/* test: component */
/*
 * test_readers.c - objects that are retired while readers are in sections, of each flavour of liburcu and of ck_epoch: reused
 * not while a reader may reach them, and not never; whatever becomes of threads and of the pool.
 */
#ifdef FLAVOUR_EPOCH
#include "../support/epoch_support.h"
#else
#include "../support/rcu_support.h"
#endif

enum { SIZE = 40, CAPACITY = 6 };

/* ---- Readers hold objects back ---- */

/* What no reader holds back any more: the epoch's by whoever asks, at once; liburcu's when it calls back. */
static void *acquire_due(lfpool_t *pool, size_t i)
{
#ifdef FLAVOUR_EPOCH
	return i % 2 ? lfpool_acquire(pool) : lfpool_acquire_wait(pool, 0);
#else
	(void)i;
	return lfpool_acquire_wait(pool, FOR_EVER);
#endif
}

TEST(what_is_retired_waits_for_its_reader)
{
	for (unsigned bulk = 0; bulk < 2; bulk++) {
		lfpool_t *pool = readers_pool_of(SIZE, CAPACITY);
		void *objects[CAPACITY + 1];
		struct reader reader;

		take_all(pool, objects, CAPACITY, SIZE);
		reader_start(&reader);
		if (bulk)
			retire_bulk(pool, objects, CAPACITY);
		else
			retire_each(pool, objects, CAPACITY);
		assert_int_equal(lfpool_retired_count(pool), CAPACITY);
		/* Each of these asks; an epoch goes on by one, and no further. */
		for (unsigned i = 0; i < 20; i++) {
			assert_null(lfpool_acquire(pool));
			assert_false(lfpool_retire_poll(pool));
		}
		assert_null(lfpool_acquire_wait(pool, A_WHILE_NS));
		assert_false(lfpool_retire_poll(pool));
		assert_int_equal(lfpool_retired_count(pool), CAPACITY);
		for (size_t i = 0; i < CAPACITY; i++) {
			assert_true(stamp_holds(objects[i], SIZE, i));
			assert_false(lfpool_in_use(pool, objects[i]));
		}
		reader_end(&reader);
		for (size_t i = 0; i < CAPACITY; i++)
			assert_non_null(objects[i] = acquire_due(pool, i));
		assert_true(sort_disjoint(objects, CAPACITY, SIZE));
		release_all(pool, objects, CAPACITY);
		drain_and_destroy(pool, SIZE);
	}
}

/* ---- Threads that come and go ---- */

static void *retire_and_exit(void *pool)
{
	void *object;

	join_readers();
	enter();
	REQUIRE(object = lfpool_acquire(pool));
	retire_inside(pool, object);
	leave();
	leave_readers();
	return NULL;
}

TEST(a_thread_that_exits_leaves_nothing_behind)
{
	enum { THREADS = 60 };
	lfpool_t *pool = readers_pool_of(SIZE, THREADS);
	struct reader reader;

	for (unsigned held = 0; held < 2; held++) {
		if (held)
			reader_start(&reader);
		for (unsigned i = 0; i < THREADS; i++)
			threads_run(1, retire_and_exit, pool, 0);
		if (held) {
			assert_int_equal(lfpool_retired_count(pool), THREADS);
			reader_end(&reader);
		}
		require_drained(pool, SIZE);
	}
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- Draining and destroying ---- */

/* Reads objects of a pool that somebody destroys meanwhile. */
struct late_reader {
	pthread_t thread;
	void *objects[CAPACITY + 1];
	sem_t inside;
	_Atomic(bool) left;
};

static void *read_for_a_while(void *argument)
{
	struct late_reader *reader = argument;
	const uint64_t end = now_ns() + (uint64_t)A_WHILE_NS;

	join_readers();
	enter();
	sem_post(&reader->inside);
	do {
		for (size_t i = 0; i < CAPACITY; i++)
			REQUIRE(stamp_holds(reader->objects[i], SIZE, i));
	} while (now_ns() < end);
	atomic_store(&reader->left, true);
	leave();
	leave_readers();
	return NULL;
}

static bool count_deactivated(void *context, void *object)
{
	(void)object;
	atomic_fetch_add((atomic_size_t *)context, 1);
	return true;
}

TEST(drain_and_destroy_wait_for_readers)
{
	for (unsigned drain = 0; drain < 2; drain++) {
		struct late_reader reader = {.left = false};
		atomic_size_t deactivated = 0;
		lfpool_t *pool = readers_pool(
			CONFIG_OF(SIZE, CAPACITY, .hooks.context = &deactivated, .hooks.deactivate = count_deactivated));

		take_all(pool, reader.objects, CAPACITY, SIZE);
		sem_init(&reader.inside, 0, 0);
		thread_start(&reader.thread, read_for_a_while, &reader);
		await(&reader.inside);
		retire_each(pool, reader.objects, CAPACITY);
		if (drain) {
			assert_int_equal(lfpool_drain(pool), LFPOOL_OK);
			assert_int_equal(lfpool_retired_count(pool), 0);
			assert_int_equal(deactivated, CAPACITY);
			assert_true(reader.left);
		}
		assert_int_equal(lfpool_destroy(pool), 0);
		assert_true(reader.left);
		assert_int_equal(deactivated, CAPACITY);
		pthread_join(reader.thread, NULL);
	}
}

/* ---- Readers and writers of a board at once ---- */

enum { PLACES = 8, READERS = 2, WRITERS = 2, BYTES = 56 };
#ifdef FLAVOUR_EPOCH
enum { SHEETS = 24, WRITES = TIMES(20000, 1500), LIVES = 4 };
#else
/* liburcu's grace periods last. */
enum { SHEETS = 40, WRITES = TIMES(800, 300), LIVES = 1 };
#endif

struct sheet {
	uint64_t number;
	unsigned char bytes[BYTES];
};

struct board {
	lfpool_t *pool;
	_Atomic(struct sheet *) place[PLACES];
	atomic_uint writing;
	atomic_size_t waited, read;
};

struct visitor {
	pthread_t thread;
	struct board *board;
	struct random random;
	uint64_t number;
};

static const struct sheet *read_place(struct visitor *visitor, uint64_t *number_out)
{
	const uint32_t i = random_below(&visitor->random, PLACES);
	/* acquire: what is on it. */
	const struct sheet *sheet = atomic_load_explicit(&visitor->board->place[i], memory_order_acquire);

	*number_out = sheet ? sheet->number : 0;
	return sheet;
}

/* Looks at a sheet for a while; nobody may have taken it for something else. */
static void look(struct visitor *visitor, const struct sheet *sheet, uint64_t number)
{
	if (!sheet)
		return;
	for (unsigned looks = random_below(&visitor->random, 60); looks; looks--)
		REQUIRE(stamp_holds(sheet->bytes, BYTES, number));
	REQUIRE(sheet->number == number);
	atomic_fetch_add_explicit(&visitor->board->read, 1, memory_order_relaxed);
}

/* Sections may lie in each other, and overlap: what was read in one holds until that one ends. */
static void read_some(struct visitor *visitor)
{
	struct section first, second;
	uint64_t number, its_number;

	section_begin(&first);
	const struct sheet *sheet = read_place(visitor, &number);

	look(visitor, sheet, number);
	section_begin(&second);
	const struct sheet *another = read_place(visitor, &its_number);

	look(visitor, sheet, number);
	section_end(&first);
	look(visitor, another, its_number);
	section_end(&second);
	rest();
}

static void *read_sheets(void *argument)
{
	struct visitor *visitor = argument;

	join_readers();
	while (atomic_load(&visitor->board->writing)) {
		read_some(visitor);
		if (random_below(&visitor->random, 32) == 0)
			(void)lfpool_retire_poll(visitor->board->pool);
	}
	leave_readers();
	return NULL;
}

static struct sheet *acquire_sheet(struct visitor *visitor)
{
	struct board *board = visitor->board;
	struct sheet *sheet = lfpool_acquire(board->pool);

	if (!sheet) {
		atomic_fetch_add_explicit(&board->waited, 1, memory_order_relaxed);
		/* Not in a section: it would wait for itself.  All but a few are retired: one comes. */
		REQUIRE(sheet = lfpool_acquire_wait(board->pool, FOR_EVER));
	}
	(void)taken(sheet);
	sheet->number = visitor->number += WRITERS;
	stamp_write(sheet->bytes, BYTES, sheet->number);
	return sheet;
}

/* Sometimes takes a sheet down, else puts another one in its place; inside a section, or outside, as it comes. */
static void write_one(struct visitor *visitor)
{
	_Atomic(struct sheet *) *const place = &visitor->board->place[random_below(&visitor->random, PLACES)];
	struct sheet *sheet = random_below(&visitor->random, 8) ? acquire_sheet(visitor) : NULL, *old;
	const bool inside = random_below(&visitor->random, 2);

	if (inside)
		enter();
	/* release: what is on the new one; acquire: it was another writer's. */
	old = atomic_exchange_explicit(place, sheet, memory_order_acq_rel);
	if (old)
		(inside ? retire_inside : retire)(visitor->board->pool, old);
	if (inside)
		leave();
}

static void *write_sheets(void *argument)
{
	struct visitor *visitor = argument;

	join_readers();
	for (unsigned i = 0; i < WRITES; i++)
		write_one(visitor);
	leave_readers();
	atomic_fetch_sub(&visitor->board->writing, 1);
	return NULL;
}

TEST(what_a_reader_has_read_stays)
{
	const uint64_t seed = test_seed("what_a_reader_has_read_stays");
	struct visitor visitors[READERS + WRITERS];
	struct board board = {.pool = readers_pool_of(sizeof(struct sheet), SHEETS)};

	/* More of them where threads have not met: the pool is small enough to be reused many times over, and to run dry. */
	for (unsigned life = 0; life < LIVES || (life < 100 * LIVES && !(board.read && board.waited)); life++) {
		board.writing = WRITERS;
		for (unsigned i = 0; i < READERS + WRITERS; i++) {
			visitors[i] = (struct visitor){.board = &board, .number = i, .random = random_for(seed, life * 100 + i)};
			thread_start(&visitors[i].thread, i < WRITERS ? write_sheets : read_sheets, &visitors[i]);
		}
		for (unsigned i = 0; i < READERS + WRITERS; i++)
			pthread_join(visitors[i].thread, NULL);
	}
	assert_true(board.read > 0 && board.waited > 0);
	for (unsigned i = 0; i < PLACES; i++)
		if (board.place[i])
			retire(board.pool, board.place[i]);
	drain_and_destroy(board.pool, sizeof(struct sheet));
}

RUN_READERS_TESTS()
