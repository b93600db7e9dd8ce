/* SPDX-License-Identifier: MIT */
/*
 * main.c - runs the rows of a covering array for one kind of library, each in separate processes.
 *
 *     lfpool-pairs-LIBRARY [--seed SEED] [--row N [--here N]] [--arrays N]
 *
 *   --seed    of the array and of everything random in its rows; 0 = a new one; default 1
 *   --row     only this row, and no refusals
 *   --here    only this sequence of the row, in this process: for a debugger
 *   --arrays  the number of arrays, each with the next seed
 *
 * Ends at the first failure.
 */
#include "row.h"

#include "common/command_line.h"
#include "verify/fuzz/sequence.h"

#include "lfpool/buffer.h"

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 400
#define BYTES_AFTER_CROWD 150
#define HANG_SECONDS 60
#define SEQUENCES 4 /* of each row, alternately with one thread and with four */

/* A key of the program, set in each thread, which the library must leave alone: the first key of all. */
static pthread_key_t bystander;
#define BYSTANDERS_WORD ((void *)5)

struct job {
	const struct row *row;
	uint64_t seed;
	bool crowd;
	lfpool_status_t status; /* the expected status of a refusal */
};

static unsigned passed, failed;

/* ---- One sequence ------------------------------------------------------------------------------------------ */

void row_thread(bool begins, void *context)
{
	(void)context;
	if (begins)
		REQUIRE(pthread_setspecific(bystander, BYSTANDERS_WORD) == 0);
	REQUIRE(pthread_getspecific(bystander) == BYSTANDERS_WORD);
}

static void open_pool(struct model *m, struct input *in, void *context)
{
	const struct job *job = context;
	const struct plan *plan = row_plan(job->row);

	(void)in;
	hooks_refuse(false);
	model_start(m, plan);
	hooks_refuse(plan->refuses);
}

static void begin(struct model *m, void *context)
{
	const struct job *job = context;

	if (!job->crowd)
		return;
	debts_run(m);
	crowd_run(m, job->seed);
}

/* A pool that exists, and was used, before the first of the row. */
static void before(unsigned which)
{
	static _Alignas(LFPOOL_BUFFER_ALIGNMENT) unsigned char memory[LFPOOL_BUFFER_BYTES(8, 0, 50)];
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.object_size = 8;
	config.capacity = 50;
	if (which == BEFORE_BUFFER)
		REQUIRE(lfpool_create_in(&pool, &config, memory, sizeof(memory)) == LFPOOL_OK);
	else
		REQUIRE(lfpool_create(&pool, &config) == LFPOOL_OK);
	/* One object stays active. */
	REQUIRE(lfpool_acquire(pool) && lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
}

static void run_sequence(const struct job *job)
{
	const struct sequence_kind kind = {open_pool, begin, row_thread, (void *)(uintptr_t)job};
	uint8_t bytes[BYTES];
	struct random r = random_for(job->seed, 0);

	REQUIRE(pthread_key_create(&bystander, NULL) == 0);
	row_thread(true, NULL);
	row_environment(job->row);
	if (job->row->value[of_before] != BEFORE_NOTHING)
		before(job->row->value[of_before]);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)random_below(&r, 256);
	sequence_run_kind(&kind, bytes, job->crowd ? BYTES_AFTER_CROWD : BYTES);
	hooks_require_gone();
	row_thread(false, NULL);
}

static void run_refusal(const struct job *job)
{
	row_environment(job->row);

	const lfpool_status_t status = row_try(job->row);

	if (status == job->status)
		return;
	fprintf(stderr, "refused with: %s; should be: %s\n", lfpool_status_string(status),
		lfpool_status_string(job->status));
	exit(1);
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

static void print_row(const struct row *row)
{
	for (unsigned d = 0; d < DIMENSION_COUNT; d++)
		printf("%s%s=%s", d ? ", " : "", dimension_names[d], value_names[d][row->value[d]]);
	printf("\n");
}

static bool run_alone(void (*run)(const struct job *job), const struct job *job)
{
	int status = 0;

	fflush(stdout);

	const pid_t child = fork();

	REQUIRE(child >= 0);
	if (child == 0) {
		alarm(HANG_SECONDS);
		run(job);
		exit(0);
	}
	REQUIRE(waitpid(child, &status, 0) == child);
	if (status == 0) {
		passed++;
		return true;
	}
	failed++;
	printf("failed (wait status %d): ", status);
	return false;
}

static struct job job_of(uint64_t seed, size_t number, const struct row *row, unsigned sequence)
{
	struct random r = random_for(seed, (unsigned)number * 1000 + sequence);

	return (struct job){.row = row, .seed = random_next(&r), .crowd = sequence % 2};
}

static void run_row(uint64_t seed, size_t number, const struct row *row)
{
	for (unsigned i = 0; i < SEQUENCES && !failed; i++) {
		const struct job job = job_of(seed, number, row, i);

		if (run_alone(run_sequence, &job))
			continue;
		printf("--seed %llu --row %zu --here %u, %s: ", (unsigned long long)seed, number, i,
		       job.crowd ? "four threads" : "one thread");
		print_row(row);
	}
}

/* Each pair that a rule names, once, in rows of this library. */
static void run_refusals(uint64_t seed)
{
	struct random r = random_for(seed, 0);

	for (unsigned a = 0; a < CHOICES; a++)
		for (unsigned b = a; b < CHOICES && !failed; b++) {
			const struct rule *rule = rule_against(a, b);

			if (!rule || rule->status == LFPOOL_OK)
				continue;

			struct row row = row_with(a, b, &r);
			const struct job job = {.row = &row, .status = rule->status};

			row.value[of_library] = LIBRARY;
			if (run_alone(run_refusal, &job))
				continue;
			printf("--seed %llu, expected to be refused: ", (unsigned long long)seed);
			print_row(&row);
		}
}

#define EVERY ULONG_MAX

struct options {
	unsigned long seed, row, here, arrays;
};

static void run_array(const struct options *o, uint64_t seed)
{
	const struct row *rows;
	size_t pairs, excluded_pairs, mine = 0;
	const size_t count = cover(seed, &rows, &pairs, &excluded_pairs);

	for (size_t i = 0; i < count && !failed; i++) {
		if (rows[i].value[of_library] != LIBRARY || (o->row != EVERY && i != o->row))
			continue;
		mine++;
		if (o->here != EVERY) {
			const struct job job = job_of(seed, i, &rows[i], (unsigned)o->here);

			run_sequence(&job);
			passed++;
		} else {
			run_row(seed, i, &rows[i]);
		}
	}
	printf("--seed %llu: %zu rows cover %zu pairs; %zu are excluded; %zu rows of library=%s\n",
	       (unsigned long long)seed, count, pairs, excluded_pairs, mine, value_names[of_library][LIBRARY]);
	if (o->row == EVERY)
		run_refusals(seed);
}

int main(int argc, char **argv)
{
	struct options o = {.seed = 1, .row = EVERY, .here = EVERY, .arrays = 1};
	const struct option_row rows[] = {OPTION_NUMBER("seed", &o.seed, 0, ULONG_MAX),
					  OPTION_NUMBER("row", &o.row, 0, EVERY),
					  OPTION_NUMBER("here", &o.here, 0, EVERY),
					  OPTION_NUMBER("arrays", &o.arrays, 1, ULONG_MAX), OPTIONS_END};

	(void)command_line(argv[0], rows, NULL, argc, argv);
	o.seed = o.seed ? o.seed : now_ns();
	for (uint64_t n = 0; n < o.arrays && !failed; n++)
		run_array(&o, o.seed + n);
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
