/* SPDX-License-Identifier: MIT */
/*
 * test_retire.c - the subjects of bench/retire: does each really defer, and the loops what they say?
 *
 * Idea         A reader stays in its section, having looked at every node of the table; others update meanwhile until each
 *              entry has changed many times.  Then every node that it saw must be as it was.  A subject that releases at once
 *              must be found out, or this test would see nothing.
 * Invariants   T1  what a section found is as it was until the section ends.
 *              T2  what is deferred meanwhile is in flight, all of it; and when all has settled, nothing is.
 *              T3  the loops do as much as they were asked for, and every node that was made is deferred once.
 *              T4  a thread that finds a pool empty waits, and gets what comes back.
 *              T5  a reader looks whether nodes are whole.
 */
#include "common/harness.h"
#include "common/test.h"

#include "run_team.h"
#include "../retire/retiring.h"

#include <sched.h>
#include <string.h>

/* Odd: a thread that polls every so often has not just done so. */
#define UPDATES (20 * RETIRE_TABLE + 1)

extern const struct subject subject_released_at_once;
#if defined(BENCH_HAS_RETIRE_RCU)
extern const struct subject subject_retire_rcu, subject_retire_rcu_mutex, subject_retire_rcu_malloc, subject_retire_qsbr,
	subject_call_rcu_malloc, subject_call_rcu_mutex, subject_call_rcu_lfpool, subject_synchronize_rcu;
#endif
#if defined(BENCH_HAS_RETIRE_CK)
extern const struct subject subject_retire_epoch, subject_ck_epoch_malloc;
#endif

static const struct subject *const tested[] = {
	&subject_released_at_once,
#if defined(BENCH_HAS_RETIRE_RCU)
	&subject_retire_rcu,       &subject_retire_rcu_mutex, &subject_retire_rcu_malloc, &subject_retire_qsbr,
	&subject_call_rcu_malloc,  &subject_call_rcu_mutex,   &subject_call_rcu_lfpool,   &subject_synchronize_rcu,
#endif
#if defined(BENCH_HAS_RETIRE_CK)
	&subject_retire_epoch,     &subject_ck_epoch_malloc,
#endif
};

#define TESTED (sizeof(tested) / sizeof(*tested))

static bool waits_itself(const struct subject *subject)
{
	return strcmp(subject->name, "synchronize-rcu") == 0;
}

static bool defers(const struct subject *subject)
{
	return subject != &subject_released_at_once;
}

/* Not NULL: it is expected, in this thread. */
static jmp_buf *giving_up;

void give_up(const char *subject, const char *why)
{
	if (giving_up)
		longjmp(*giving_up, 1);
	fprintf(stderr, "%s: %s\n", subject, why);
	abort();
}

/* ---- A table, and the threads that come to it ---- */

struct scene {
	const struct subject *subject;
	void *shared;
	void *table[RETIRE_TABLE];
	pthread_barrier_t turn;
	size_t changed; /* nodes that were not as the section found them */
	size_t deferred, in_flight;
	bool updated; /* atomic */
};

static void turn(struct scene *scene)
{
	(void)pthread_barrier_wait(&scene->turn);
}

static void scene_open(struct scene *scene, const struct subject *subject, size_t capacity, unsigned threads)
{
	const struct plan plan = {.object_bytes = RETIRE_BYTES, .capacity = capacity, .held = RETIRE_TABLE, .threads = threads};

	*scene = (struct scene){.subject = subject, .shared = subject->open(&plan)};
	(void)pthread_barrier_init(&scene->turn, NULL, threads);
}

static void scene_close(struct scene *scene)
{
	(void)pthread_barrier_destroy(&scene->turn);
	scene->subject->close(scene->shared);
}

/* The first one fills the table. */
static void come(struct scene *scene, struct worker *worker, struct retiring *retiring, unsigned index, uint64_t seed)
{
	*retiring = (struct retiring){.table = scene->table, .stamp = (uint64_t)index << 48};
	*worker = (struct worker){
		.subject = scene->subject,
		.shared = scene->shared,
		.index = index,
		.threads = 2,
		.random = random_for(seed, index),
		.retiring = retiring,
		.hand = scene->subject->join(scene->shared),
	};
	if (index == 0)
		(void)scene->subject->loops.fill(worker, RETIRE_TABLE);
}

/* In a thread of its own: `life` joins, and leaves. */
static void play_alone(const struct subject *subject, size_t capacity, void *(*life)(void *))
{
	struct scene *scene = must(malloc(sizeof(*scene)));
	pthread_t thread;

	scene_open(scene, subject, capacity, 1);
	thread_start(&thread, life, scene);
	(void)pthread_join(thread, NULL);
	scene_close(scene);
	free(scene);
}

/* The table becomes empty, and all that was deferred free. */
static void give_up_table(struct scene *scene, struct worker *worker)
{
	const struct loops *loops = &scene->subject->loops;

	(void)loops->drain(worker, RETIRE_TABLE);
	loops->deferring->settle(worker->hand, true);
	REQUIRE(loops->deferring->in_flight(scene->shared, worker->retiring->updates) == 0);
}

/* ---- T1, T2 ---- */

/* Stays in its section until the other has updated, or waits in an update for us. */
static void *stay_in_section(void *argument)
{
	struct scene *scene = argument;
	const struct retiring_calls *calls = scene->subject->loops.deferring;
	const struct node *found[RETIRE_TABLE];
	uint64_t stamps[RETIRE_TABLE];
	struct retiring retiring;
	struct worker worker;

	come(scene, &worker, &retiring, 1, 0);
	turn(scene); /* the table is full */
	calls->go_online(worker.hand);
	calls->section_begin(worker.hand);
	for (size_t i = 0; i < RETIRE_TABLE; i++) {
		found[i] = __atomic_load_n(&scene->table[i], __ATOMIC_ACQUIRE);
		stamps[i] = __atomic_load_n(&found[i]->stamp, __ATOMIC_RELAXED);
	}
	turn(scene); /* we are in the section */
	if (!waits_itself(scene->subject)) {
		turn(scene); /* they have updated */
	} else {
		/* One that waits for us has taken its node out, and does not come back for as long as we give it time to. */
		bool taken = false;

		for (int patience = 2000; patience > 0; patience -= taken) {
			for (size_t i = 0; !taken && i < RETIRE_TABLE; i++)
				taken = __atomic_load_n(&scene->table[i], __ATOMIC_RELAXED) != found[i];
			REQUIRE(!__atomic_load_n(&scene->updated, __ATOMIC_ACQUIRE));
			(void)sched_yield();
		}
	}
	for (size_t i = 0; i < RETIRE_TABLE; i++)
		scene->changed += !node_is_whole(found[i]) || __atomic_load_n(&found[i]->stamp, __ATOMIC_RELAXED) != stamps[i];
	calls->section_end(worker.hand);
	calls->go_offline(worker.hand);
	turn(scene); /* the section has ended */
	calls->settle(worker.hand, false);
	turn(scene);
	scene->subject->leave(worker.hand);
	return NULL;
}

static void *update_meanwhile(void *argument)
{
	struct scene *scene = argument;
	const struct loops *loops = &scene->subject->loops;
	struct retiring retiring;
	struct worker worker;

	come(scene, &worker, &retiring, 0, UINT64_C(0x5eed));
	turn(scene); /* the table is full */
	turn(scene); /* a thread is in a section */
	(void)loops->retire(&worker, UPDATES);
	__atomic_store_n(&scene->updated, true, __ATOMIC_RELEASE);
	scene->deferred = retiring.updates;
	scene->in_flight = loops->deferring->in_flight(scene->shared, retiring.updates);
	if (!waits_itself(scene->subject))
		turn(scene); /* they have updated */
	turn(scene);         /* the section has ended */
	give_up_table(scene, &worker);
	turn(scene);
	scene->subject->leave(worker.hand);
	return NULL;
}

TEST(a_section_holds_what_it_found)
{
	for (size_t s = 0; s < TESTED; s++) {
		struct scene *scene = must(malloc(sizeof(*scene)));
		pthread_t reader, updater;

		printf("%s\n", tested[s]->name);
		scene_open(scene, tested[s], 2 * RETIRE_TABLE + UPDATES, 2);
		thread_start(&reader, stay_in_section, scene);
		thread_start(&updater, update_meanwhile, scene);
		(void)pthread_join(reader, NULL);
		(void)pthread_join(updater, NULL);
		if (!defers(tested[s])) {
			assert_true(scene->changed > RETIRE_TABLE / 2);
		} else {
			assert_int_equal(scene->changed, 0);
			if (!waits_itself(tested[s]))
				assert_int_equal(scene->in_flight, scene->deferred);
		}
		scene_close(scene);
		free(scene);
	}
}

/* ---- T4 ---- */

/* A node more than the table and what caches may keep; all others are in flight most of the time. */
static void *update_in_need(void *argument)
{
	struct scene *scene = argument;
	const struct loops *loops = &scene->subject->loops;
	struct retiring retiring;
	struct worker worker;

	come(scene, &worker, &retiring, 0, UINT64_C(0x5eed));
	for (int i = 0; retiring.waits < 3; i++) {
		REQUIRE(loops->retire(&worker, 64) == 64);
		REQUIRE(i < 1000);
	}
	give_up_table(scene, &worker);
	scene->subject->leave(worker.hand);
	return NULL;
}

TEST(a_thread_that_finds_none_waits)
{
	for (size_t s = 0; s < TESTED; s++) {
		/* A scheme that is asked gives them back to a thread that finds none. */
		if (!defers(tested[s]) || !(tested[s]->traits & TRAIT_BOUNDED) || strcmp(tested[s]->name, "lfpool-epoch") == 0)
			continue;
		play_alone(tested[s], RETIRE_TABLE + 100, update_in_need);
	}
}

/* ---- T5 ---- */

static void *read_broken(void *argument)
{
	struct scene *scene = argument;
	const struct loops *loops = &scene->subject->loops;
	struct retiring retiring;
	struct worker worker;
	jmp_buf here;

	come(scene, &worker, &retiring, 0, UINT64_C(0x5eed));
	REQUIRE(loops->read(&worker, 10 * RETIRE_TABLE) == 0);
	REQUIRE(retiring.sections == 10 * RETIRE_TABLE);

	struct node *node = scene->table[RETIRE_TABLE / 2];

	__atomic_store_n(&node->check, node->stamp, __ATOMIC_RELAXED);
	giving_up = &here;
	if (setjmp(here) == 0) {
		(void)loops->read(&worker, 10 * RETIRE_TABLE);
		REQUIRE(!defers(scene->subject));
	} else {
		REQUIRE(defers(scene->subject));
	}
	giving_up = NULL;
	give_up_table(scene, &worker);
	scene->subject->leave(worker.hand);
	return NULL;
}

TEST(a_reader_looks)
{
	for (size_t s = 0; s < TESTED; s++)
		play_alone(tested[s], 4 * RETIRE_TABLE, read_broken);
}

/* ---- T3: as in the benchmark ---- */

#define CHUNKS 3

/* Each node has a stamp of its own: as many as were made were deferred. */
static void *live(void *argument)
{
	struct member *member = argument;
	const unsigned index = (unsigned)(member - team.members);
	static uint64_t made, deferred;

	live_until_the_end(member, CHUNKS);
	REQUIRE((member->pairs == 0) == member_reads(member));
	REQUIRE(member->worker.retiring->updates == member->pairs);
	REQUIRE(member->worker.retiring->sections == (member_reads(member) ? CHUNKS * team.cell->workload->chunk : 0));
	if (index == 0)
		made = deferred = 0;
	turn_together();
	/* Gives up if something is in flight when all has settled. */
	member_end(member);
	(void)__atomic_add_fetch(&made, member->worker.retiring->stamp - ((uint64_t)index << 48), __ATOMIC_RELAXED);
	(void)__atomic_add_fetch(&deferred, member->worker.retiring->updates, __ATOMIC_RELAXED);
	turn_together();
	REQUIRE(made == deferred && made >= RETIRE_TABLE);
	member_unmake(member);
	return NULL;
}

TEST(the_loops)
{
	size_t cells = 0;

	for (size_t s = 0; s < TESTED; s++) {
		for (size_t w = 0; w < WORKLOAD_COUNT; w++) {
			for (unsigned threads = 1; threads <= THREADS; threads *= 2) {
				if (!workload_fits(&workloads[w], tested[s], RETIRE_BYTES, threads))
					continue;
				const struct cell cell = {
					.subject = tested[s], .workload = &workloads[w], .object_bytes = RETIRE_BYTES};

				run_team(cell, threads, live, NULL);
				cells++;
			}
		}
	}
	/* Updates only with 1, 2, 4 threads, half of them reading with 2 and 4. */
	assert_int_equal(cells, 5 * TESTED);
}

int main(void)
{
	/* The floor reads what was released, and AddressSanitizer would say so. */
	assert_int_equal(setenv("LFPOOL_DEBUG", "no-tools", 1), 0);
	return tests_run(NULL, NULL);
}
