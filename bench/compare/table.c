/* SPDX-License-Identifier: MIT */
/*
 * table.c - the cells of a comparison and what was measured in them; the table on the terminal and in the CSV.
 */
#include "table.h"

#include <stdlib.h>

/* What is said of a cell. */
struct figures {
	double median, least, greatest; /* ns per pair                                                      */
	double mpairs_per_s;            /* millions, all threads together, at the median                    */
	double ratio;                   /* how many times faster than the mutex pool; 0 = that was left out */
};

/* ---- Cells ---- */

static void add(struct table *table, const struct options *options, struct work work)
{
	for (size_t t = 0; t < options->thread_counts; t++) {
		unsigned threads = (unsigned)options->threads[t];

		if (work.kind == HANDOFF && threads % 2)
			continue;
		for (size_t s = 0; s < SUBJECTS; s++) {
			if (!options->subjects[s] || !(subjects[s]->workloads & 1u << work.kind))
				continue;
			table->cells[table->count++] = (struct cell){
				.subject = subjects[s],
				.work = work,
				.threads = threads,
				.ns = must(calloc(options->repetitions, sizeof(double))),
			};
		}
	}
}

void table_make(struct table *table, const struct options *options)
{
	/* Every burst size is a workload of its own. */
	const size_t most = (WORKLOADS + options->burst_counts) * options->thread_counts * SUBJECTS;

	*table = (struct table){
		.cells = must(calloc(most, sizeof(struct cell))),
		.repetitions = options->repetitions,
	};
	if (options->workloads[PAIRS])
		add(table, options, (struct work){.kind = PAIRS});
	if (options->workloads[BURSTS])
		for (size_t b = 0; b < options->burst_counts; b++)
			add(table, options, (struct work){.kind = BURSTS, .burst = options->bursts[b]});
	if (options->workloads[HANDOFF])
		add(table, options, (struct work){.kind = HANDOFF});
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i].ns);
	free(table->cells);
}

/* ---- Figures ---- */

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void table_finish(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		qsort(table->cells[i].ns, table->repetitions, sizeof(double), compare);
}

static double median(const struct table *table, const struct cell *cell)
{
	size_t middle = table->repetitions / 2;

	return table->repetitions % 2 ? cell->ns[middle] : (cell->ns[middle - 1] + cell->ns[middle]) / 2;
}

/* Do both cells belong to one group of lines, in which subjects are compared? */
static bool same_group(const struct cell *a, const struct cell *b)
{
	return a->threads == b->threads && a->work.kind == b->work.kind && a->work.burst == b->work.burst;
}

static struct figures figures_of(const struct table *table, const struct cell *cell)
{
	struct figures figures = {
		.median = median(table, cell),
		.least = cell->ns[0],
		.greatest = cell->ns[table->repetitions - 1],
	};

	figures.mpairs_per_s = running(cell->threads) * 1e3 / figures.median;
	for (const struct cell *other = table->cells; other < table->cells + table->count; other++)
		if (other->subject == &subject_mutex && same_group(other, cell))
			figures.ratio = median(table, other) / figures.median;
	return figures;
}

/* ---- Printing ---- */

static void print_headline(const struct cell *cell)
{
	switch (cell->work.kind) {
	case PAIRS:
		printf("\npairs: acquire, write, release\n");
		break;
	case BURSTS:
		printf("\nbursts: acquire and write %zu, then release them\n", cell->work.burst);
		break;
	default:
		printf("\nhand-off: one thread acquires and writes, another reads and releases; ring included\n");
	}
	printf("  threads  subject            ns per pair      least   greatest   M pairs/s   x mutex\n");
}

void table_print(const struct table *table)
{
	const struct cell *before = NULL;

	for (const struct cell *cell = table->cells; cell < table->cells + table->count; before = cell++) {
		const struct figures figures = figures_of(table, cell);

		if (!before || before->work.kind != cell->work.kind || before->work.burst != cell->work.burst)
			print_headline(cell);
		else if (before->threads != cell->threads)
			printf("\n");
		printf("  %7u  %-18s %11.2f %10.2f %10.2f %11.1f", cell->threads, cell->subject->name, figures.median,
		       figures.least, figures.greatest, figures.mpairs_per_s);
		if (figures.ratio > 0)
			printf(" %9.1f\n", figures.ratio);
		else
			printf(" %9s\n", "-");
	}
}

static void write_workload(const struct cell *cell, FILE *file)
{
	switch (cell->work.kind) {
	case PAIRS:
		fprintf(file, "pairs");
		break;
	case BURSTS:
		fprintf(file, "bursts-%zu", cell->work.burst);
		break;
	default:
		fprintf(file, "handoff");
	}
}

bool table_write_csv(const struct table *table, FILE *file)
{
	fprintf(file, "workload,threads,subject,repetitions,median_ns,min_ns,max_ns,mpairs_per_s,ratio_to_mutex\n");
	for (const struct cell *cell = table->cells; cell < table->cells + table->count; cell++) {
		const struct figures figures = figures_of(table, cell);

		write_workload(cell, file);
		fprintf(file, ",%u,%s,%zu,%.3f,%.3f,%.3f,%.3f,", cell->threads, cell->subject->name, table->repetitions,
			figures.median, figures.least, figures.greatest, figures.mpairs_per_s);
		if (figures.ratio > 0)
			fprintf(file, "%.3f", figures.ratio);
		fprintf(file, "\n");
	}
	return fflush(file) == 0 && !ferror(file);
}
