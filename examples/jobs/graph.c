/* SPDX-License-Identifier: MIT */
/*
 * graph.c - dependencies, a continuation and parallel for, on problems whose answer a plain loop knows.
 *
 *     graph [--workers N] [--capacity N] [--size N] [--tile N] [--seed N]
 *
 * Edit         How many letters must be changed, inserted or removed to make one text out of another: a matrix, each cell of
 * distance     which needs the cells above, to the left, and between the two.  It is cut into tiles, a job each, that wait for
 *              the tile above and the tile to the left: a wave goes from the upper left to the lower right.  When the last
 *              tile has ended, a continuation reads the answer.
 * In windows   A tile's job is started when the tile below has been told of it, so no more jobs are prepared at a time than
 *              there are tiles in a row.  If there are not as many records, what is prepared is started and waited for, and
 *              the tile that found none is done at once: any capacity will do, 1 too.
 * Prefix sums  Two parallel loops: the sum of each block; and, from where the blocks before it end, the sums in it.
 *
 * Exit status  0: both agree with the plain loops, and every record came back.  1: not so, or there is no job system.
 *              2: wrong usage.  3: no memory.
 */
#include "command_line.h"
#include "jobs.h"
#include "must.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct options {
	unsigned long workers;
	unsigned long capacity;
	unsigned long size; /* letters of the texts, and hundreds of numbers to be summed up */
	unsigned long tile; /* letters */
	unsigned long seed;
};

/* ---- Edit distance ----------------------------------------------------------------------------------------- */

struct distance {
	const struct options *options;
	char *row_text, *column_text;
	uint32_t *cells;   /* (size + 1) x (size + 1) */
	struct job **open; /* in each column of tiles the last one prepared, not started; NULL: ended, or none   */
	struct jobs_group tiles;
	uint64_t jobs, at_once;
	uint32_t answer;
};

/* What a job is told. */
struct tile {
	struct distance *distance;
	size_t row, column; /* the first of the tile, from 1 */
};

static uint32_t *cell(const struct distance *d, size_t row, size_t column)
{
	return &d->cells[row * (d->options->size + 1) + column];
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static size_t tile_end(const struct options *options, size_t first)
{
	return first + options->tile <= options->size ? first + options->tile : options->size + 1;
}

static void tile_run(struct jobs_worker *worker, const void *payload)
{
	const struct tile *tile = payload;
	const struct distance *d = tile->distance;
	const size_t row_end = tile_end(d->options, tile->row), column_end = tile_end(d->options, tile->column);

	(void)worker;
	for (size_t row = tile->row; row < row_end; row++) {
		for (size_t column = tile->column; column < column_end; column++) {
			const bool differ = d->row_text[row - 1] != d->column_text[column - 1];

			*cell(d, row, column) = least(least(*cell(d, row - 1, column), *cell(d, row, column - 1)) + 1,
						      *cell(d, row - 1, column - 1) + differ);
		}
	}
}

static void read_answer(struct jobs_worker *worker, const void *payload)
{
	struct distance *d = *(struct distance *const *)payload;

	(void)worker;
	d->answer += *cell(d, d->options->size, d->options->size);
}

/* Starts what is prepared and waits for all of it. */
static void wait_for_tiles(struct jobs_worker *worker, struct distance *d, size_t columns)
{
	for (size_t i = 0; i < columns; i++)
		if (d->open[i])
			jobs_start(worker, d->open[i]);
	memset(d->open, 0, columns * sizeof(*d->open));
	jobs_wait(worker, &d->tiles);
}

static void distance_run(struct jobs_worker *worker, const void *payload)
{
	struct distance *d = *(struct distance *const *)payload;
	const size_t size = d->options->size, step = d->options->tile, columns = (size + step - 1) / step;
	struct job *last = NULL;

	for (size_t row = 1; row <= size; row += step) {
		for (size_t column = 1, i = 0; column <= size; column += step, i++) {
			const struct tile tile = {d, row, column};
			struct job *before[] = {d->open[i], i ? d->open[i - 1] : NULL};

			last = jobs_prepare(worker, &d->tiles, before, 2, tile_run, &tile, sizeof(tile));
			if (last) {
				d->jobs++;
				/* The tile above has been named by both that wait for it. */
				if (before[0])
					jobs_start(worker, before[0]);
				d->open[i] = last;
			} else {
				d->at_once++;
				wait_for_tiles(worker, d, columns);
				tile_run(worker, &tile);
			}
		}
	}
	const bool continued = last && jobs_then(worker, last, read_answer, &d, sizeof(d));

	wait_for_tiles(worker, d, columns);
	if (!continued)
		read_answer(worker, &d);
}

static char *random_text(struct random *random, size_t letters)
{
	char *text = must_grow(NULL, letters, 1);

	for (size_t i = 0; i < letters; i++)
		text[i] = "ACGT"[random_below(random, 4)];
	return text;
}

/* The same in two loops, and one row. */
static uint32_t distance_alone(const struct distance *d)
{
	const size_t size = d->options->size;
	uint32_t *row = must_grow(NULL, size + 1, sizeof(*row));

	for (size_t i = 0; i <= size; i++)
		row[i] = (uint32_t)i;
	for (size_t r = 1; r <= size; r++) {
		uint32_t between = row[0]++;

		for (size_t c = 1; c <= size; c++) {
			const uint32_t above = row[c];

			row[c] = least(least(above, row[c - 1]) + 1, between + (d->row_text[r - 1] != d->column_text[c - 1]));
			between = above;
		}
	}

	const uint32_t answer = row[size];

	free(row);
	return answer;
}

static bool compare_distances(struct jobs *jobs, const struct options *options)
{
	struct random random = random_for(options->seed, 0);
	struct distance d = {.options = options};
	struct distance *const payload = &d;

	d.row_text = random_text(&random, options->size);
	d.column_text = random_text(&random, options->size);
	d.cells = must_grow(NULL, (options->size + 1) * (options->size + 1), sizeof(*d.cells));
	for (size_t i = 0; i <= options->size; i++)
		*cell(&d, i, 0) = *cell(&d, 0, i) = (uint32_t)i;
	d.open = must_grow(NULL, options->size, sizeof(*d.open));
	memset(d.open, 0, options->size * sizeof(*d.open));

	const uint64_t start = now_ns();

	jobs_run(jobs, distance_run, &payload, sizeof(payload));

	const uint64_t middle = now_ns();
	const uint32_t truth = distance_alone(&d);
	const uint64_t end = now_ns();

	printf("edit distance  %" PRIu32 " for %zu letters, %" PRIu64 " tiles as jobs, %" PRIu64 " at once, %.1f ms;"
	       " one loop: %" PRIu32 ", %.1f ms\n",
	       d.answer, options->size, d.jobs, d.at_once, (double)(middle - start) / 1e6, truth, (double)(end - middle) / 1e6);
	free(d.row_text);
	free(d.column_text);
	free(d.cells);
	free(d.open);
	return d.answer == truth;
}

/* ---- Prefix sums ------------------------------------------------------------------------------------------- */

#define BLOCK 1000

struct sums {
	uint64_t *number, *sum;
	uint64_t *block; /* its sum; then, what is before it */
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
	for (size_t block = begin; block < end; block++) {
		uint64_t sum = s->block[block];

		for (size_t i = block * BLOCK; i < block_end(s, block); i++)
			s->sum[i] = sum += s->number[i];
	}
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

static bool compare_sums(struct jobs *jobs, const struct options *options)
{
	struct random random = random_for(options->seed, 1);
	struct sums s = {.count = options->size * 100};
	struct sums *const payload = &s;
	uint64_t sum = 0;
	size_t wrong = 0;

	s.number = must_grow(NULL, s.count, sizeof(*s.number));
	s.sum = must_grow(NULL, s.count, sizeof(*s.sum));
	s.block = must_grow(NULL, s.count / BLOCK + 1, sizeof(*s.block));
	memset(s.block, 0, (s.count / BLOCK + 1) * sizeof(*s.block));
	for (size_t i = 0; i < s.count; i++)
		s.number[i] = random_next(&random);
	jobs_run(jobs, sums_run, &payload, sizeof(payload));
	for (size_t i = 0; i < s.count; i++)
		wrong += (sum += s.number[i]) != s.sum[i];
	printf("prefix sums    of %zu numbers, %zu differ from the loop's\n", s.count, wrong);
	free(s.number);
	free(s.sum);
	free(s.block);
	return wrong == 0;
}

/* ---- The program ------------------------------------------------------------------------------------------- */

static struct options parse_options(int argc, char **argv)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct options options = {
		.workers = processors > 0 ? (unsigned long)processors : 1, .capacity = 1024, .size = 2000, .tile = 64, .seed = 1};
	const struct option_row rows[] = {
		OPTION_NUMBER("workers", &options.workers, 1, 1024), OPTION_NUMBER("capacity", &options.capacity, 1, 1ul << 24),
		OPTION_NUMBER("size", &options.size, 1, 20000),      OPTION_NUMBER("tile", &options.tile, 1, 20000),
		OPTION_NUMBER("seed", &options.seed, 0, UINT32_MAX), OPTIONS_END};

	(void)command_line("graph", rows, NULL, argc, argv);
	return options;
}

int main(int argc, char **argv)
{
	const struct options options = parse_options(argc, argv);
	const struct jobs_config config = {.workers = (unsigned)options.workers, .capacity = options.capacity};
	struct jobs *jobs;
	const lfpool_status_t status = jobs_create(&jobs, &config);

	if (status != LFPOOL_OK) {
		fprintf(stderr, "graph: no job system: %s\n", lfpool_status_string(status));
		return 1;
	}
	printf("%lu workers, %lu records, seed %lu\n", options.workers, options.capacity, options.seed);

	bool good = compare_distances(jobs, &options);

	good &= compare_sums(jobs, &options);

	const struct jobs_report report = jobs_report(jobs);

	printf("jobs           %" PRIu64 ", %" PRIu64 " stolen, %" PRIu64 " at once; %zu records and %zu edges active\n",
	       report.submitted, report.stolen, report.at_once_empty, report.active, report.edges_active);
	good &= jobs_destroy(jobs) == 0;
	puts(good ? "both agree, every record came back" : "FAILED");
	return good ? 0 : 1;
}
