/* SPDX-License-Identifier: MIT */
/* test: component */
/*
 * test_epoch_threads.c - readers and writers of a board at once, in sections of an epoch: while a reader is in its
 * section, what it has read stays what it is.  Threads end and others begin; some do nothing but ask.
 */
#include "../support/epoch_support.h"

enum { PLACES = 8, CAPACITY = 24, READERS = 2, WRITERS = 2, SIZE = 64, LIVES = 4 };

struct sheet {
	uint64_t number;
	unsigned char bytes[SIZE - sizeof(uint64_t)];
};

struct board {
	struct scene scene;
	_Atomic(struct sheet *) place[PLACES];
	atomic_uint writing;
	atomic_size_t dry, read;
};

struct visitor {
	pthread_t thread;
	struct board *board;
	ck_epoch_record_t *record;
	struct random random;
	uint64_t number;
};

static const struct sheet *read_place(struct visitor *visitor)
{
	const uint32_t i = random_below(&visitor->random, PLACES);

	/* acquire: what is on it. */
	return atomic_load_explicit(&visitor->board->place[i], memory_order_acquire);
}

static void look(struct visitor *visitor, const struct sheet *sheet, uint64_t number)
{
	for (unsigned looks = random_below(&visitor->random, 60); looks; looks--)
		REQUIRE(stamp_holds(sheet->bytes, sizeof(sheet->bytes), number));
	REQUIRE(sheet->number == number);
}

/* Sections may lie in each other, and overlap: what was read in one holds until that one ends. */
static void read_some(struct visitor *visitor)
{
	ck_epoch_section_t first, second;

	ck_epoch_begin(visitor->record, &first);
	const struct sheet *sheet = read_place(visitor);
	const uint64_t number = sheet ? sheet->number : 0;

	if (sheet)
		look(visitor, sheet, number);
	ck_epoch_begin(visitor->record, &second);
	const struct sheet *another = read_place(visitor);
	const uint64_t its_number = another ? another->number : 0;

	if (sheet)
		look(visitor, sheet, number);
	ordered_before(&sections);
	(void)ck_epoch_end(visitor->record, &first);
	if (another)
		look(visitor, another, its_number);
	ordered_before(&sections);
	(void)ck_epoch_end(visitor->record, &second);
	atomic_fetch_add_explicit(&visitor->board->read, sheet || another, memory_order_relaxed);
}

static void *read_sheets(void *argument)
{
	struct visitor *visitor = argument;

	visitor->record = record_new(&visitor->board->scene.epoch);
	while (atomic_load(&visitor->board->writing)) {
		read_some(visitor);
		if (random_below(&visitor->random, 32) == 0)
			(void)lfpool_retire_poll(visitor->board->scene.pool);
	}
	ck_epoch_unregister(visitor->record);
	return NULL;
}

static struct sheet *acquire_sheet(struct visitor *visitor)
{
	lfpool_t *pool = visitor->board->scene.pool;
	struct sheet *sheet = lfpool_acquire(pool);

	if (!sheet) {
		atomic_fetch_add_explicit(&visitor->board->dry, 1, memory_order_relaxed);
		/* Not in a section: it would wait for itself.  All but a few are retired: one comes. */
		REQUIRE(sheet = lfpool_acquire_wait(pool, FOR_EVER));
	}
	(void)taken(sheet);
	sheet->number = visitor->number += WRITERS;
	stamp_write(sheet->bytes, sizeof(sheet->bytes), sheet->number);
	return sheet;
}

/* Inside a section, or outside, as it comes. */
static void write_one(struct visitor *visitor)
{
	struct board *board = visitor->board;
	struct sheet *sheet = random_below(&visitor->random, 8) ? acquire_sheet(visitor) : NULL, *old;
	const bool inside = random_below(&visitor->random, 2);

	if (inside)
		ck_epoch_begin(visitor->record, NULL);
	/* release: what is on the new one; acquire: it was another writer's. */
	old = atomic_exchange_explicit(&board->place[random_below(&visitor->random, PLACES)], sheet,
				       memory_order_acq_rel);
	if (old)
		REQUIRE(lfpool_release_epoch(board->scene.pool, visitor->record, old) == LFPOOL_OK);
	if (inside) {
		ordered_before(&sections);
		(void)ck_epoch_end(visitor->record, NULL);
	}
}

static void *write_sheets(void *argument)
{
	struct visitor *visitor = argument;

	visitor->record = record_new(&visitor->board->scene.epoch);
	for (unsigned i = 0; i < TIMES(20000, 1500); i++)
		write_one(visitor);
	ck_epoch_unregister(visitor->record);
	atomic_fetch_sub(&visitor->board->writing, 1);
	return NULL;
}

TEST(what_a_reader_has_read_stays)
{
	const uint64_t seed = test_seed("what_a_reader_has_read_stays");
	struct visitor visitors[READERS + WRITERS];
	struct board board = {.dry = 0};

	open_scene(&board.scene, sizeof(struct sheet), CAPACITY);
	for (unsigned life = 0; life < LIVES; life++) {
		board.writing = WRITERS;
		for (unsigned i = 0; i < READERS + WRITERS; i++) {
			visitors[i] = (struct visitor){.board = &board, .number = i,
						       .random = random_for(seed, life * 100 + i)};
			thread_start(&visitors[i].thread, i < WRITERS ? write_sheets : read_sheets, &visitors[i]);
		}
		for (unsigned i = 0; i < READERS + WRITERS; i++)
			pthread_join(visitors[i].thread, NULL);
	}
	assert_true(board.read > 0 && board.dry > 0);
	for (unsigned i = 0; i < PLACES; i++)
		REQUIRE(lfpool_release_epoch(board.scene.pool, &board.scene.record, board.place[i]) == LFPOOL_OK);
	close_scene(&board.scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_reader_has_read_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
