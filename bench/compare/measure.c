/* SPDX-License-Identifier: MIT */
/*
 * measure.c - a team of threads that starts together, and what comes out of it.
 */
#include "measure.h"

#include "ring.h"

#include "common/harness.h"

#include <string.h>
#include <unistd.h>

/* Before the clock: caches fill, pages are touched, the library makes its thread-local cache. */
#define WARM_UP_CHUNKS 4

struct team {
	const struct subject *subject;
	const struct work *work;
	void *shared;
	size_t exactly; /* pairs to run instead of looking at `stop`; 0 = look */
	pthread_barrier_t start; /* all members and the one who measures  */
	pthread_barrier_t end;   /* all members                           */
	atomic_bool stop;
};

struct member {
	struct team *team;
	struct worker worker;
	pthread_t thread;
	bool consumer;
	size_t pairs; /* of which this member saw the release */
	uint64_t start_ns, end_ns;
};

unsigned cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (unsigned)CPU_COUNT(&set);

	/* More CPUs than the set has room for. */
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	return online > 0 ? (unsigned)online : 1;
}

unsigned running(unsigned threads)
{
	unsigned available = cpus();

	return threads < available ? threads : available;
}

static loop_fn *loop_of(const struct member *member)
{
	const struct subject *subject = member->team->subject;

	switch (member->team->work->kind) {
	case PAIRS:
		return subject->pairs;
	case BURSTS:
		return subject->bursts;
	default:
		return member->consumer ? subject->consume : subject->produce;
	}
}

/* A consumer goes on until the producer's NULL, all others until they are told to stop, after one chunk at least. */
static size_t run_until_stopped(struct member *member, loop_fn *loop)
{
	size_t pairs = 0, done;

	if (member->consumer) {
		do {
			done = loop(&member->worker, CHUNK_PAIRS);
			pairs += done;
		} while (done == CHUNK_PAIRS);
		return pairs;
	}
	do {
		pairs += loop(&member->worker, CHUNK_PAIRS);
		/* relaxed: nothing travels with it; seen a little later, it does no harm. */
	} while (!atomic_load_explicit(&member->team->stop, memory_order_relaxed));
	if (!member->worker.ring)
		return pairs;
	ring_push(member->worker.ring, NULL);
	return 0; /* the consumer counts them */
}

static void *member_run(void *argument)
{
	struct member *member = argument;
	struct team *team = member->team;
	loop_fn *loop = loop_of(member);

	member->worker.hand = team->subject->join(team->shared);
	for (int i = 0; i < WARM_UP_CHUNKS; i++)
		(void)loop(&member->worker, CHUNK_PAIRS);
	(void)pthread_barrier_wait(&team->start);
	member->start_ns = now_ns();
	member->pairs = team->exactly ? loop(&member->worker, team->exactly) : run_until_stopped(member, loop);
	member->end_ns = now_ns();
	/* Nobody packs up while another is still being measured, or still reads what came from here. */
	(void)pthread_barrier_wait(&team->end);
	team->subject->leave(member->worker.hand);
	return NULL;
}

/* ---- The team's life ---- */

static void barrier_make(pthread_barrier_t *barrier, unsigned threads)
{
	if (pthread_barrier_init(barrier, NULL, threads)) {
		fprintf(stderr, "lfpool-compare: no barrier\n");
		exit(3);
	}
}

static struct ring *new_ring(void)
{
	struct ring *ring = must(aligned_alloc(_Alignof(struct ring), sizeof(*ring)));

	memset(ring, 0, sizeof(*ring));
	return ring;
}

static void members_start(struct team *team, struct member *members, unsigned threads)
{
	for (unsigned i = 0; i < threads; i++) {
		struct member *member = &members[i];

		*member = (struct member){.team = team};
		if (team->work->kind == HANDOFF) {
			member->consumer = i % 2;
			member->worker.ring = member->consumer ? members[i - 1].worker.ring : new_ring();
		}
		if (team->work->kind == BURSTS) {
			member->worker.burst = team->work->burst;
			member->worker.objects = must(calloc(team->work->burst, sizeof(void *)));
		}
	}
	/* Only now: a consumer's ring must be there before its thread. */
	for (unsigned i = 0; i < threads; i++)
		thread_start(&members[i].thread, member_run, &members[i]);
}

static void members_join(struct member *members, unsigned threads)
{
	for (unsigned i = 0; i < threads; i++)
		(void)pthread_join(members[i].thread, NULL);
	for (unsigned i = 0; i < threads; i++) {
		free(members[i].worker.objects);
		if (!members[i].consumer)
			free(members[i].worker.ring);
	}
}

/* The most objects that one thread has out at once: in a burst; or in a ring, and in the hands of its two ends. */
static size_t held_at_once(const struct work *work)
{
	switch (work->kind) {
	case PAIRS:
		return 1;
	case BURSTS:
		return work->burst;
	default:
		return RING_CAPACITY + 2;
	}
}

static void team_run(struct team *team, struct member *members, unsigned threads, uint64_t duration_ns)
{
	const uint64_t second = UINT64_C(1000000000);
	const struct timespec duration = {(time_t)(duration_ns / second), (long)(duration_ns % second)};

	team->shared = team->subject->open(threads, held_at_once(team->work));
	atomic_init(&team->stop, false);
	barrier_make(&team->start, threads + 1);
	barrier_make(&team->end, threads);
	members_start(team, members, threads);
	(void)pthread_barrier_wait(&team->start);
	(void)nanosleep(&duration, NULL);
	/* relaxed: nothing travels with it; what the members counted comes with the join. */
	atomic_store_explicit(&team->stop, true, memory_order_relaxed);
	members_join(members, threads);
	(void)pthread_barrier_destroy(&team->start);
	(void)pthread_barrier_destroy(&team->end);
	team->subject->close(team->shared);
}

double measure(const struct subject *subject, const struct work *work, unsigned threads, uint64_t duration_ns)
{
	struct team team = {.subject = subject, .work = work};
	struct member members[THREADS_MAX];
	uint64_t start_ns = UINT64_MAX, end_ns = 0;
	size_t pairs = 0;

	team_run(&team, members, threads, duration_ns);
	for (unsigned i = 0; i < threads; i++) {
		pairs += members[i].pairs;
		start_ns = members[i].start_ns < start_ns ? members[i].start_ns : start_ns;
		end_ns = members[i].end_ns > end_ns ? members[i].end_ns : end_ns;
	}
	return (double)(end_ns - start_ns) * running(threads) / (double)pairs;
}

void run_exactly(const struct subject *subject, const struct work *work, size_t pairs)
{
	struct team team = {.subject = subject, .work = work, .exactly = pairs};
	struct member member;

	team_run(&team, &member, 1, 0);
}
