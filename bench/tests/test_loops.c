/* SPDX-License-Identifier: MIT */
/*
 * test_loops.c - every loop of every workload around an acquire and a release that keep account, with threads, rings and
 * graphs made as in the benchmark.
 *
 * Idea         The account knows for each object whether it is in use and by which user; what must not happen ends the
 *              program at once.  Before the loops, after them and at the end, the sums must agree.
 * Invariants   A1  a loop returns as many pairs as it releases (exhausted: as many as were refused).
 *              A2  acquired - released grows by what the workers hold more than before.
 *              A3  in the end everything is released, each object as often as it was acquired.
 * Compiled twice: with TEST_BULK the subject has calls for many objects at once.
 */
#include "common/harness.h"
#include "common/test.h"

#include "common/latency.h"
#include "run_team.h"
#include "../objects.h"

struct account {
	pthread_mutex_t mutex; /* guards what follows `objects`, but `bulks` */
	struct objects objects;
	uint32_t *free; /* a stack of indices */
	size_t free_count;
	unsigned *user; /* which user acquired the object; 0: none */
	unsigned users; /* so far */
	size_t acquired, released, remote, refused, bulks;
};

struct user {
	struct account *account;
	unsigned number;
};

/* ---- The subject ---- */

static void *acquire(void *hand)
{
	struct user *user = hand;
	struct account *account = user->account;
	void *object = NULL;

	(void)pthread_mutex_lock(&account->mutex);
	if (account->free_count == 0) {
		account->refused++;
	} else {
		const uint32_t index = account->free[--account->free_count];

		REQUIRE(account->user[index] == 0);
		account->user[index] = user->number;
		account->acquired++;
		object = objects_at(&account->objects, index);
	}
	(void)pthread_mutex_unlock(&account->mutex);
	return object;
}

static void release(void *hand, void *object)
{
	struct user *user = hand;
	struct account *account = user->account;
	const size_t offset = (size_t)((char *)object - account->objects.memory);
	const size_t index = offset / account->objects.object_bytes;

	REQUIRE(offset % account->objects.object_bytes == 0 && index < account->objects.count);
	(void)pthread_mutex_lock(&account->mutex);
	REQUIRE(account->user[index] != 0);
	account->remote += account->user[index] != user->number;
	account->user[index] = 0;
	account->released++;
	account->free[account->free_count++] = (uint32_t)index;
	(void)pthread_mutex_unlock(&account->mutex);
}

#ifdef TEST_BULK
#define SUBJECT_HAS_BULK

static bool acquire_bulk(void *hand, void **objects, size_t count)
{
	const struct user *user = hand;

	(void)__atomic_add_fetch(&user->account->bulks, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < count; i++)
		objects[i] = acquire(hand);
	return true;
}

static void release_bulk(void *hand, void **objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		release(hand, objects[i]);
}
#endif

#include "../workloads.h"

static void *open_account(const struct plan *plan)
{
	struct account *account = must(calloc(1, sizeof(*account)));

	(void)pthread_mutex_init(&account->mutex, NULL);
	account->objects = objects_make(plan);
	account->free = must(calloc(plan->capacity, sizeof(*account->free)));
	account->user = must(calloc(plan->capacity, sizeof(*account->user)));
	while (account->free_count < plan->capacity) {
		account->free[account->free_count] = (uint32_t)account->free_count;
		account->free_count++;
	}
	return account;
}

/* A3. */
static void close_account(void *shared)
{
	struct account *account = shared;

	REQUIRE(account->acquired == account->released);
	REQUIRE(account->free_count == account->objects.count);
	for (size_t i = 0; i < account->objects.count; i++)
		REQUIRE(account->user[i] == 0);
	objects_free(&account->objects);
	free(account->free);
	free(account->user);
	(void)pthread_mutex_destroy(&account->mutex);
	free(account);
}

static void *join(void *shared)
{
	struct user *user = must(malloc(sizeof(*user)));

	user->account = shared;
	(void)pthread_mutex_lock(&user->account->mutex);
	user->number = ++user->account->users;
	(void)pthread_mutex_unlock(&user->account->mutex);
	return user;
}

static const struct subject accountant = {
	.name = "accountant",
	.traits = TRAIT_BOUNDED,
	FOR_EACH_THREAD(open_account, close_account, join, free, SUBJECT_LOOPS),
};

/* ---- A run ---- */

/* Sums at one moment, when no loop runs. */
struct sums {
	size_t acquired, released, remote, refused, bulks, held;
	size_t timed_acquires, timed_releases;
};

static struct run {
	size_t chunks; /* for each thread */
	struct sums before, after;
} run;

static struct sums sums_now(void)
{
	const struct account *account = team.shared;
	struct sums sums = {account->acquired, account->released, account->remote, account->refused, account->bulks, 0, 0, 0};

	for (unsigned i = 0; i < team.threads; i++) {
		const struct worker *worker = &team.members[i].worker;

		sums.held += worker->held;
		sums.timed_acquires += worker->acquire_times ? worker->acquire_times->count : 0;
		sums.timed_releases += worker->release_times ? worker->release_times->count : 0;
	}
	return sums;
}

static void *live(void *argument)
{
	struct member *member = argument;
	const unsigned index = (unsigned)(member - team.members);

	member_make(member, index);
	member_begin(member);
	turn_together();
	if (index == 0)
		run.before = sums_now();
	turn_together();
	for (size_t i = 0; i < run.chunks; i++)
		member->pairs += member_loop(member)(&member->worker, team.cell->workload->chunk);
	turn_together();
	if (index == 0)
		run.after = sums_now();
	turn_together();
	member_end(member);
	turn_together();
	member_unmake(member);
	return NULL;
}

/* What each workload promises beyond A1 and A2. */
static void check_particulars(const struct workload *workload, size_t pairs)
{
	const size_t released = run.after.released - run.before.released, remote = run.after.remote - run.before.remote;
	const size_t asked = run.chunks * workload->chunk;

	switch (workload->pattern) {
	case ALONE:
	case EXCHANGE:
		for (unsigned i = 0; i < team.threads; i++)
			assert_true(team.members[i].pairs >= asked);
		break;
	case ONE_TO_ONE:
	case ONE_TO_MANY:
	case MANY_TO_ONE:
		assert_int_equal(pairs, asked * team.ring_count);
		assert_int_equal(remote, released);
		break;
	case GRAPH:
		/* Whole trees.  Records that come back elsewhere: 0.50 with 2 workers, 0.64 with 3, 0.70 with 4. */
		assert_int_equal(pairs, run.chunks * team.threads * ((workload->chunk + TREE_JOBS - 1) / TREE_JOBS) * TREE_JOBS);
		assert_true(team.threads > 1 ? remote * 10 > released * 4 && remote * 10 < released * 8 : remote == 0);
		break;
	}
#ifdef TEST_BULK
	if (workload->loop == offsetof(struct loops, bulk))
		assert_int_equal((run.after.bulks - run.before.bulks) * workload->count, released);
#endif
	if (workload->timed) {
		assert_int_equal(run.after.timed_acquires, run.after.acquired - run.before.acquired);
		assert_int_equal(run.after.timed_releases, released);
	}
}

static void check_sums(void)
{
	const struct workload *workload = team.cell->workload;
	size_t pairs = 0;

	for (unsigned i = 0; i < team.threads; i++)
		pairs += team.members[i].pairs;
	assert_true(pairs > 0);
	/* A1. */
	assert_int_equal(pairs,
			 workload->emptied ? run.after.refused - run.before.refused : run.after.released - run.before.released);
	/* A2. */
	assert_int_equal(run.after.acquired - run.after.released - (run.before.acquired - run.before.released),
			 run.after.held - run.before.held);
	check_particulars(workload, pairs);
}

static void run_cell(const struct workload *workload, unsigned threads, size_t chunks)
{
	run.chunks = chunks;
	run_team((struct cell){.subject = &accountant, .workload = workload, .object_bytes = 16}, threads, live, check_sums);
}

/* ---- The tests ---- */

static void run_all(unsigned threads)
{
	size_t cells = 0, all = 0;

	for (size_t w = 0; w < WORKLOAD_COUNT; w++) {
		all += !workloads[w].evicts && !workloads[w].retires;
		if (!workload_fits(&workloads[w], &accountant, 16, threads))
			continue;
		run_cell(&workloads[w], threads, workloads[w].divided ? 1 : 3);
		cells++;
	}
	/* All but those of evicting pools (test_priority.c), of deferred release (test_retire.c), and the three hand-offs, which need a second thread. */
	assert_int_equal(cells, threads == 1 ? all - 3 : all);
}

TEST(one_thread)
{
	run_all(1);
}

TEST(two_threads)
{
	run_all(2);
}

TEST(four_threads)
{
	run_all(4);
}

/* Rounds that end and begin while neighbours are still in the last one. */
TEST(many_rounds_of_jobs)
{
	struct workload jobs = {.name = NULL};

	for (size_t w = 0; w < WORKLOAD_COUNT; w++)
		if (workloads[w].pattern == GRAPH)
			jobs = workloads[w];
	assert_non_null(jobs.name);
	jobs.chunk = 1;
	for (unsigned threads = 1; threads <= THREADS; threads++)
		run_cell(&jobs, threads, 200);
}

RUN_TESTS()
