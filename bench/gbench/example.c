/* SPDX-License-Identifier: MIT */
/*
 * example.c - gbench in use: the cost of its own loop, then a mutex between threads.
 *
 *     example [--benchmark_filter=REGEX] [--benchmark_min_time=SECONDS] [--benchmark_out=FILE] ...; --help lists all
 *
 * What the table says about the loop: next/empty minus batch/empty is what one call of gbench_next() costs.  Whatever
 * takes nanoseconds wants gbench_next_batch().
 */
#include "gbench/gbench.h"

#include <pthread.h>

#define BATCH 1024 /* iterations */

/* ---- The loop itself ---- */

static void next_empty(gbench_state_t *state, void *context)
{
	(void)context;
	while (gbench_next(state))
		gbench_clobber();
}

static void batch_empty(gbench_state_t *state, void *context)
{
	(void)context;
	while (gbench_next_batch(state, BATCH))
		for (size_t i = 0; i < BATCH; i++)
			gbench_clobber();
}

/* ---- A mutex: fixture, arguments, threads, counters ---- */

struct account {
	pthread_mutex_t mutex;
	int64_t balance; /* under the mutex */
};

static void open_account(gbench_state_t *state, void *context)
{
	struct account *account = context;

	account->balance = 0;
	if (pthread_mutex_init(&account->mutex, NULL) != 0)
		gbench_skip(state, "no mutex");
}

static void close_account(gbench_state_t *state, void *context)
{
	struct account *account = context;

	/* Only the last run is reported. */
	gbench_counter(state, "balance", (double)account->balance, GBENCH_COUNTER_PLAIN);
	if (!gbench_skipped(state))
		(void)pthread_mutex_destroy(&account->mutex);
}

static void deposit(gbench_state_t *state, void *context)
{
	struct account *account = context;
	const int64_t amount = gbench_state_arg(state, 0);

	while (gbench_next_batch(state, BATCH)) {
		for (size_t i = 0; i < BATCH; i++) {
			(void)pthread_mutex_lock(&account->mutex);
			account->balance += amount;
			(void)pthread_mutex_unlock(&account->mutex);
		}
	}
	gbench_set_items(state, gbench_state_iterations(state));
}

int main(int argc, char **argv)
{
	static struct account account;
	static const char *const names[] = {"amount"};

	gbench_register("next/empty", next_empty, NULL);
	gbench_register("batch/empty", batch_empty, NULL);

	gbench_t *deposits = gbench_register("deposit", deposit, &account);

	gbench_fixture(deposits, open_account, close_account);
	gbench_arg(deposits, 1);
	gbench_arg_names(deposits, names, 1);
	gbench_thread_range(deposits, 1, 4);
	gbench_use_real_time(deposits);

	gbench_add_context("batch", "1024 iterations");
	return gbench_main(argc, argv);
}
