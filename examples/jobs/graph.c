/* SPDX-License-Identifier: MIT */
/*
 * graph.c - dependencies, a continuation and a parallel loop, on problems whose answers a plain loop can check.
 *
 *     graph [--workers N] [--capacity N] [--size N] [--tile N] [--seed N]
 *
 * Distance     The edit distance: how many letters must be changed, inserted or removed to turn one text into
 *              another.  In a matrix each cell needs the cells above, to the left, and between these two.  The
 *              matrix is cut into tiles, one job each, which wait for the tile above and the tile to the left: a wave
 *              from the upper left to the lower right.  When the last tile has ended, a continuation reads the answer.
 * In windows   A tile's job is started once the tile below has named it, so at most a row of tiles is prepared at a
 *              time.  If there are not enough records, the prepared tiles are started and waited for, and the tile
 *              that found no record is done at once: any capacity works, even 1.
 * Prefix sums  Two parallel loops: the sum of each block; then the sums inside each block, starting from the sum of
 *              the blocks before it.
 *
 * Exit status  0: both results agree with the plain loops, and every record came back.  1: otherwise, or there is no
 *              job system.  2: wrong usage.  3: no memory.
 */
#include "command_line.h"
#include "jobs.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define SIZE_MOST 20000

static unsigned long workers, capacity = 1024;
static unsigned long size = 2000; /* letters of each text; also, in hundreds, the numbers to add up */
static unsigned long step = 64;   /* rows and columns of a tile */
static unsigned long seed = 1;

/* ---- Edit distance ----------------------------------------------------------------------------------------- */

static char *row_text, *column_text;
static uint32_t *cells;         /* (size + 1) x (size + 1)                                                       */
static struct job **open_tiles; /* in each column, the last tile if it is prepared but not started; else NULL */
static uint64_t tiles_as_jobs, tiles_at_once;
static uint32_t answer;

/* Returns zeroed memory.  Ends the program if memory is short. */
static void *memory(size_t count, size_t bytes)
{
	void *got = calloc(count, bytes);

	if (!got) {
		fputs("graph: no memory\n", stderr);
		exit(3);
	}
	return got;
}

/* A job's argument: the first row and column of a tile, from 1, and its end. */
struct tile {
	size_t row, column, row_end, column_end;
};

static struct tile tile_at(size_t row, size_t column, size_t letters)
{
	const size_t row_end = row + letters <= size ? row + letters : size + 1;
	const size_t column_end = column + letters <= size ? column + letters : size + 1;

	return (struct tile){row, column, row_end, column_end};
}

static uint32_t *cell(size_t row, size_t column)
{
	return &cells[row * (size + 1) + column];
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void tile_run(struct jobs_worker *worker, const void *payload)
{
	const struct tile *tile = payload;

	(void)worker;
	for (size_t row = tile->row; row < tile->row_end; row++) {
		for (size_t column = tile->column; column < tile->column_end; column++) {
			const bool differ = row_text[row - 1] != column_text[column - 1];

			*cell(row, column) = least(least(*cell(row - 1, column), *cell(row, column - 1)) + 1,
						   *cell(row - 1, column - 1) + differ);
		}
	}
}

static void read_answer(struct jobs_worker *worker, const void *payload)
{
	(void)worker;
	(void)payload;
	answer += *cell(size, size);
}

/* Starts all prepared tiles and waits for them. */
static void wait_for_tiles(struct jobs_worker *worker, size_t columns)
{
	for (size_t i = 0; i < columns; i++)
		if (open_tiles[i])
			jobs_start(worker, open_tiles[i]);
	memset(open_tiles, 0, columns * sizeof(*open_tiles));
	jobs_wait(worker);
}

static void distance_run(struct jobs_worker *worker, const void *payload)
{
	const size_t columns = (size + step - 1) / step;
	struct job *last = NULL;

	(void)payload;
	for (size_t row = 1; row <= size; row += step) {
		for (size_t column = 1, i = 0; column <= size; column += step, i++) {
			const struct tile tile = tile_at(row, column, step);
			struct job *before[] = {open_tiles[i], i ? open_tiles[i - 1] : NULL};

			last = jobs_prepare(worker, before, 2, tile_run, &tile, sizeof(tile));
			if (last) {
				tiles_as_jobs++;
				/* Both tiles that wait for the tile above have named it. */
				if (before[0])
					jobs_start(worker, before[0]);
				open_tiles[i] = last;
			} else {
				tiles_at_once++;
				wait_for_tiles(worker, columns);
				tile_run(worker, &tile);
			}
		}
	}
	const bool continued = last && jobs_then(worker, last, read_answer, "", 1);

	wait_for_tiles(worker, columns);
	if (!continued)
		read_answer(worker, NULL);
}

static char *random_text(struct random *random, size_t letters)
{
	char *text = memory(letters, 1);

	for (size_t i = 0; i < letters; i++)
		text[i] = "ACGT"[random_below(random, 4)];
	return text;
}

static bool compare_distances(struct jobs *jobs)
{
	struct random random = random_for(seed, 0);

	row_text = random_text(&random, size);
	column_text = random_text(&random, size);
	cells = memory((size + 1) * (size + 1), sizeof(*cells));
	for (size_t i = 0; i <= size; i++)
		*cell(i, 0) = *cell(0, i) = (uint32_t)i;
	open_tiles = memory(size, sizeof(*open_tiles));
	jobs_run(jobs, distance_run, "", 1);

	/* The whole matrix in one loop, as a single tile. */
	const struct tile all = tile_at(1, 1, size);

	tile_run(NULL, &all);

	const uint32_t truth = *cell(size, size);

	printf("edit distance  %" PRIu32 " for %lu letters, %" PRIu64 " tiles as jobs, %" PRIu64
	       " at once; one loop: %" PRIu32 "\n",
	       answer, size, tiles_as_jobs, tiles_at_once, truth);
	free(row_text);
	free(column_text);
	free(cells);
	free(open_tiles);
	return answer == truth;
}

/* ---- Prefix sums ------------------------------------------------------------------------------------------- */

#define BLOCK 1000

struct sums {
	uint64_t *number;                   /* the numbers; finally, each is the sum up to itself */
	uint64_t block[SIZE_MOST / 10 + 1]; /* each block's sum; later the sum of the blocks before it */
	size_t count;
};

static size_t block_end(const struct sums *s, size_t block)
{
	return (block + 1) * BLOCK < s->count ? (block + 1) * BLOCK : s->count;
}

static void sum_blocks(struct jobs_worker *worker, size_t begin, size_t end, void *context)
{
	struct sums *s = context;

	(void)worker;
	for (size_t block = begin; block < end; block++)
		for (size_t i = block * BLOCK; i < block_end(s, block); i++)
			s->block[block] += s->number[i];
}

static void sum_inside(struct jobs_worker *worker, size_t begin, size_t end, void *context)
{
	struct sums *s = context;

	(void)worker;
	for (size_t block = begin; block < end; block++)
		for (size_t i = block * BLOCK; i < block_end(s, block); i++)
			s->number[i] = s->block[block] += s->number[i];
}

static void sums_run(struct jobs_worker *worker, const void *payload)
{
	struct sums *s = *(struct sums *const *)payload;
	const size_t blocks = (s->count + BLOCK - 1) / BLOCK;
	uint64_t before = 0;

	jobs_for(worker, 0, blocks, 1, sum_blocks, s);
	for (size_t i = 0; i < blocks; i++) {
		const uint64_t sum = s->block[i];

		s->block[i] = before;
		before += sum;
	}
	jobs_for(worker, 0, blocks, 1, sum_inside, s);
}

static bool compare_sums(struct jobs *jobs)
{
	struct random random = random_for(seed, 1), again = random;
	struct sums *s = memory(1, sizeof(*s));
	uint64_t sum = 0;
	size_t wrong = 0;

	s->count = size * 100;
	s->number = memory(s->count, sizeof(*s->number));
	for (size_t i = 0; i < s->count; i++)
		s->number[i] = random_next(&random);
	jobs_run(jobs, sums_run, &s, sizeof(s));
	for (size_t i = 0; i < s->count; i++)
		wrong += (sum += random_next(&again)) != s->number[i];
	printf("prefix sums    of %zu numbers, %zu differ from the loop's\n", s->count, wrong);
	free(s->number);
	free(s);
	return wrong == 0;
}

/* ---- The program ------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	const struct option_row rows[] = {
		OPTION_NUMBER("workers", &workers, 1, 1024), OPTION_NUMBER("capacity", &capacity, 1, 1ul << 24),
		OPTION_NUMBER("size", &size, 1, SIZE_MOST),  OPTION_NUMBER("tile", &step, 1, SIZE_MOST),
		OPTION_NUMBER("seed", &seed, 0, UINT32_MAX), OPTIONS_END};
	lfpool_t *pool;

	workers = processors > 0 ? (unsigned long)processors : 1;
	(void)command_line("graph", rows, NULL, argc, argv);

	const lfpool_status_t status = jobs_pool_create(&pool, capacity, LFPOOL_BACKEND_LOCKFREE);
	struct jobs *jobs = status == LFPOOL_OK ? jobs_create((unsigned)workers, pool, NULL) : NULL;

	if (!jobs) {
		fprintf(stderr, "graph: no job system: %s\n", lfpool_status_string(status));
		return 1;
	}
	printf("%lu workers, %lu records, seed %lu\n", workers, capacity, seed);

	bool good = compare_distances(jobs);

	good &= compare_sums(jobs);

	const struct jobs_report report = jobs_report(jobs);

	jobs_destroy(jobs);

	const size_t lost = lfpool_destroy(pool);

	printf("jobs           %" PRIu64 ", %" PRIu64 " stolen, %" PRIu64 " at once; %zu records lost\n",
	       report.submitted, report.stolen, report.at_once, lost);
	good &= lost == 0;
	puts(good ? "both agree, every record came back" : "FAILED");
	return good ? 0 : 1;
}
