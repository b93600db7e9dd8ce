/* SPDX-License-Identifier: MIT */
/*
 * create.c - see create.h.
 */
#include "create.h"

#include "common/resident.h"
#include "subjects.h"

#include <string.h>

/* What the objects of a pool may take. */
#define BYTES_MAX ((size_t)1 << 30)
/* More than that, which only address space is needed for if a pool touches nothing before it is used. */
#define LARGEST 100000000
#define LARGEST_FOR "lfpool-inlined"

#define WARM_UP_CAPACITY 64

#define TIMES_MAX 101

#define CREATION(n, times) {"create-" #n, "making and taking down a pool for " #n " objects, unused", n, times}

const struct creation creations[CREATE_COUNT] = {
	CREATION(1000, TIMES_MAX),
	CREATION(100000, 31),
	CREATION(10000000, 5),
	CREATION(100000000, 31),
};

/* What each time took. */
struct series {
	uint64_t create_ns[TIMES_MAX], destroy_ns[TIMES_MAX];
	unsigned times;
	double resident_bytes;
};

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(uint64_t *values, unsigned count)
{
	qsort(values, count, sizeof(*values), by_value);
	return ((double)values[(count - 1) / 2] + (double)values[count / 2]) / 2;
}

static struct plan plan_for(size_t capacity)
{
	return (struct plan){.object_bytes = CREATE_BYTES, .capacity = capacity, .held = capacity, .threads = 1};
}

/* The code of the subject and of the look at the memory is in RAM afterwards. */
static void warm_up(const struct subject *subject)
{
	const struct plan plan = plan_for(WARM_UP_CAPACITY);

	(void)resident_bytes();
	subject->close(subject->open(&plan));
}

static void once(struct series *series, const struct cell *cell)
{
	const struct plan plan = plan_for(cell->creation->capacity);
	const double before = resident_bytes();
	uint64_t start_ns = now_ns();
	void *shared = cell->subject->open(&plan);

	series->create_ns[series->times] = now_ns() - start_ns;

	const double grown = resident_bytes() - before;

	if (grown > series->resident_bytes)
		series->resident_bytes = grown;
	start_ns = now_ns();
	cell->subject->close(shared);
	series->destroy_ns[series->times++] = now_ns() - start_ns;
}

static void create_run(gbench_state_t *state, void *context)
{
	const struct cell *cell = context;
	struct series series = {.times = 0};
	uint64_t sum_ns = 0;

	warm_up(cell->subject);
	while (gbench_next(state, 1))
		once(&series, cell);
	for (unsigned i = 0; i < series.times; i++)
		sum_ns += series.create_ns[i] + series.destroy_ns[i];
	gbench_set_iteration_time(state, (double)sum_ns / 1e9);
	gbench_counter(state, "create_ns", median(series.create_ns, series.times));
	gbench_counter(state, "destroy_ns", median(series.destroy_ns, series.times));
	gbench_counter(state, "create_resident_bytes", series.resident_bytes);
}

bool create_fits(const struct creation *creation, const struct subject *subject)
{
	if (!(subject->traits & TRAIT_POOL) || (subject->most_objects && creation->capacity > subject->most_objects))
		return false;
	if (creation->capacity == LARGEST)
		return strcmp(subject->name, LARGEST_FOR) == 0;
	return creation->capacity * CREATE_BYTES <= BYTES_MAX;
}

void create_register(struct cell *cell)
{
	gbench_t *benchmark = gbench_register(create_run, cell, "%s/%d/%s", cell->creation->name, CREATE_BYTES,
					      cell->subject->name);

	gbench_iterations(benchmark, cell->creation->times);
	gbench_threads(benchmark, 1);
}
