/* SPDX-License-Identifier: MIT */
/*
 * main.c - a particle system: several threads move the drops of some fountains.
 *
 *     particles [--frames N] [--threads N] [--capacity N] [--seed N] [--top MS] [--trace FILE]
 *
 * --top draws the counters of the pool as a table every MS milliseconds.  With or without it, kill -USR1 dumps the
 * pool (live.h).
 *
 * Start with world.h, which explains a frame and its two phases.  With any number of threads the particles move
 * identically, to the bit.
 *
 * Exit status  0: every particle that was spawned is accounted for, and the pool is intact.  1: otherwise, or the pool
 *              could not be made.  2: wrong usage.  3: no memory, or no thread.
 */
#include "command_line.h"
#include "live.h"
#include "world.h"

#include "lfpool/report.h"
#include "lfpool/walk.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS_MAX 64
/* More parts than threads: a slow thread leaves parts to the others. */
#define PARTS_PER_THREAD 8

struct show {
	unsigned long frames, threads, capacity, seed, top_ms;
	particle_pool_t particles;
	struct nozzle nozzles[NOZZLES];
	lfpool_cursor_t parts[THREADS_MAX * PARTS_PER_THREAD];
	struct hand hands[THREADS_MAX];
	pthread_barrier_t barrier;
	_Atomic(unsigned) next_nozzle, next_part; /* the next one that has no thread yet */
	size_t peak;
};

struct performer {
	struct show *show;
	unsigned index;
	pthread_t thread;
};

/* ---- A frame ----------------------------------------------------------------------------------------------- */

/* Waits until all threads are here. */
static void meet(struct show *show)
{
	pthread_barrier_wait(&show->barrier);
}

static unsigned take(_Atomic(unsigned) *next)
{
	/* relaxed: nozzles and parts are independent, and the barriers order their data. */
	return atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
}

/* Called by the first thread, while the other threads wait. */
static void before_update(struct show *show)
{
	const size_t active = lfpool_active_count(show->particles.untyped);

	show->peak = active > show->peak ? active : show->peak;
	particle_cursor_split(show->parts, show->threads * PARTS_PER_THREAD, show->particles);
	/* relaxed: the barriers order this store before the next frame. */
	atomic_store_explicit(&show->next_nozzle, 0, memory_order_relaxed);
}

static void perform_frame(struct show *show, struct hand *hand, bool first)
{
	for (unsigned i; (i = take(&show->next_nozzle)) < NOZZLES;)
		world_emit(hand, &show->nozzles[i]);
	meet(show);
	if (first)
		before_update(show);
	meet(show);
	for (unsigned i; (i = take(&show->next_part)) < show->threads * PARTS_PER_THREAD;)
		world_update(hand, &show->parts[i]);
	meet(show);
	/* relaxed: as in before_update(). */
	if (first)
		atomic_store_explicit(&show->next_part, 0, memory_order_relaxed);
	meet(show);
}

static void *perform(void *argument)
{
	struct performer *performer = argument;
	struct show *show = performer->show;

	for (unsigned frame = 0; frame < show->frames; frame++)
		perform_frame(show, &show->hands[performer->index], performer->index == 0);
	return NULL;
}

/* ---- Before and after -------------------------------------------------------------------------------------- */

static void show_open(struct show *show)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.name = "particles";
	config.capacity = show->capacity;
	lfpool_status_t status = particle_pool_create(&show->particles, &config);
	if (status != LFPOOL_OK) {
		fprintf(stderr, "particles: no pool: %s\n", lfpool_status_string(status));
		exit(1);
	}
	live_watch(show->particles.untyped, "particles", sizeof(struct particle));
	bool ok = pthread_barrier_init(&show->barrier, NULL, (unsigned)show->threads) == 0;

	for (unsigned i = 0; ok && i < show->threads; i++) {
		show->hands[i].cache = particle_cache_create(show->particles);
		ok = show->hands[i].cache.untyped != NULL;
	}
	if (!ok) {
		fputs("particles: no memory\n", stderr);
		exit(3);
	}
	world_nozzles(show->nozzles, show->seed);
}

static void show_run(struct show *show)
{
	struct performer performers[THREADS_MAX];

	for (unsigned i = 0; i < show->threads; i++) {
		performers[i] = (struct performer){.show = show, .index = i};
		if (i > 0)
			thread_start(&performers[i].thread, perform, &performers[i]);
	}
	perform(&performers[0]);
	for (unsigned i = 1; i < show->threads; i++)
		pthread_join(performers[i].thread, NULL);
}

struct census {
	uint64_t alive, where; /* `where`: a sum over all positions, independent of the order */
};

static bool count_one(void *census, struct particle *p)
{
	struct random mixed = {(uint64_t)(int64_t)(p->x * 1e3f) << 32 ^ (uint64_t)(int64_t)(p->y * 1e3f)};

	((struct census *)census)->alive++;
	((struct census *)census)->where += random_next(&mixed);
	return true;
}

/* Do the threads' own counters, a walk, the pool's counters and its check agree about every particle? */
static bool accounts_agree(const struct show *show)
{
	uint64_t spawned = 0, died = 0, refused = 0;
	struct census census = {0};
	lfpool_stats_t stats;
	const char *violated = lfpool_check(show->particles.untyped, NULL);

	for (unsigned i = 0; i < show->threads; i++) {
		spawned += show->hands[i].spawned;
		died += show->hands[i].died;
		refused += show->hands[i].refused;
	}
	particle_for_each_active(show->particles, count_one, &census);
	lfpool_stats(show->particles.untyped, &stats);
	printf("particles   %" PRIu64 " spawned = %" PRIu64 " died + %" PRIu64 " alive; %" PRIu64
	       " refused because the pool was empty; positions %016" PRIx64 "; peak %zu of %zu\n",
	       spawned, died, census.alive, refused, census.where, show->peak, stats.capacity);
	printf("pool        %zu active + %zu cached + %zu shared + %zu untouched = %zu; %" PRIu64 " refills, %" PRIu64
	       " drains, %" PRIu64 " steals\n",
	       stats.active, stats.cached, stats.shared, stats.untouched, stats.capacity, stats.refills, stats.drains,
	       stats.steals);
	printf("check       %s\n", violated ? violated : "all invariants hold");
	return !violated && spawned == died + census.alive && stats.active == census.alive &&
	       stats.acquires == spawned && stats.releases == died && stats.unaccounted == 0;
}

static bool show_close(struct show *show)
{
	bool ok = accounts_agree(show);
	const size_t alive = lfpool_active_count(show->particles.untyped);

	for (unsigned i = 0; i < show->threads; i++)
		particle_cache_destroy(show->hands[i].cache);
	live_forget(show->particles.untyped);
	ok = particle_release_all(show->particles) == alive && ok;
	ok = particle_pool_destroy(show->particles) == 0 && ok;
	pthread_barrier_destroy(&show->barrier);
	puts(ok ? "no particle was lost" : "FAILED: the accounts do not agree");
	return ok;
}

int main(int argc, char **argv)
{
	static struct show show = {.frames = 150, .threads = 1, .capacity = 100000, .seed = 1};
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	const char *traced = NULL;
	const struct option_row rows[] = {OPTION_NUMBER("frames", &show.frames, 1, 100000),
					  OPTION_NUMBER("threads", &show.threads, 1, THREADS_MAX),
					  OPTION_NUMBER("capacity", &show.capacity, 1, 100000000),
					  OPTION_NUMBER("seed", &show.seed, 0, UINT32_MAX),
					  OPTION_NUMBER("top", &show.top_ms, 1, 3600000),
					  OPTION_TEXT("trace", "FILE", &traced),
					  OPTIONS_END};

	if (processors > 1)
		show.threads = processors < THREADS_MAX ? (unsigned long)processors : THREADS_MAX;
	(void)command_line("particles", rows, NULL, argc, argv);
	if (traced && !live_trace(traced)) {
		perror(traced);
		return 3;
	}
	if (!live_start((unsigned)show.top_ms)) {
		fputs("particles: no thread\n", stderr);
		return 3;
	}
	show_open(&show);
	show_run(&show);
	live_stop();
	return show_close(&show) ? 0 : 1;
}
