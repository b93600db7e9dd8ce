/* SPDX-License-Identifier: MIT */
/*
 * main.c - a particle system: fires, a fountain and fireworks, updated and drawn by several threads.
 *
 *     particles [--frames N] [--threads N] [--capacity N] [--seed N] [--out DIR] [--top MS]
 *
 * With --out each frame is written as DIR/frame_0000.ppm and so on; ffmpeg makes a film of them:
 *
 *     ffmpeg -framerate 30 -i DIR/frame_%04d.ppm particles.mp4
 *
 * With --top its pool is drawn as a table, each time so many milliseconds have gone by; kill -USR1 has it dumped, with or
 * without (live.h).
 *
 * Without --out nothing is drawn, and the times are those of the particles alone.  Start with world.h: it says what a
 * frame is and why it has two phases.  The frames are the same, byte for byte, however many threads there are.
 *
 * Exit status  0: every particle that came is either there or gone, and the pool is intact.  1: not so, or a file
 *              could not be written, or a pool not made.  2: wrong usage.  3: no memory, or no thread.
 */
#include "command_line.h"
#include "live.h"
#include "world.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 800
#define HEIGHT 450
#define THREADS_MAX 64
/* More parts than threads: one that is slow leaves parts to the others. */
#define PARTS_PER_THREAD 8

struct options {
	unsigned long frames, threads, capacity, seed, top_ms;
	const char *out; /* NULL: draw nothing */
};

/* What a phase has to do, piece by piece: a thread that is free takes the next. */
struct pieces {
	_Atomic(unsigned) next;
	unsigned count;
};

struct show {
	struct options options;
	particle_pool_t particles;
	struct nozzle nozzles[NOZZLES_MAX];
	lfpool_cursor_t parts[THREADS_MAX * PARTS_PER_THREAD];
	struct hand hands[THREADS_MAX];
	struct layer *layers[THREADS_MAX];
	struct picture picture;
	pthread_barrier_t barrier;
	struct pieces emit, update, gather, develop;
	size_t peak;
	uint64_t emit_ns, update_ns, picture_ns;
	bool written;
};

struct performer {
	struct show *show;
	unsigned index;
	pthread_t thread;
};

/* ---- A frame ----------------------------------------------------------------------------------------------- */

/* The next piece, or one >= count. */
static unsigned take(struct pieces *pieces)
{
	/* relaxed: pieces are independent; what they work on is ordered by the barriers. */
	return atomic_fetch_add_explicit(&pieces->next, 1, memory_order_relaxed);
}

/* All wait for all. */
static void meet(struct show *show)
{
	pthread_barrier_wait(&show->barrier);
}

/* By the first thread, while the others wait. */
static void before_update(struct show *show, uint64_t *clock)
{
	size_t active = lfpool_active_count(show->particles.untyped);
	uint64_t now = now_ns();

	show->emit_ns += now - *clock;
	*clock = now;
	show->peak = active > show->peak ? active : show->peak;
	particle_cursor_split(show->parts, show->update.count, show->particles);
}

static void draw_picture(struct show *show, unsigned frame)
{
	for (unsigned row; (row = take(&show->gather)) < show->gather.count;)
		picture_gather(&show->picture, show->layers, (unsigned)show->options.threads, row);
	meet(show);
	for (unsigned row; (row = take(&show->develop)) < show->develop.count;)
		picture_develop(&show->picture, row, frame);
	meet(show);
}

static void write_picture(struct show *show, unsigned frame)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/frame_%04u.ppm", show->options.out, frame);
	if (!picture_write(&show->picture, path)) {
		perror(path);
		show->written = false;
	}
}

static void perform_frame(struct show *show, struct hand *hand, unsigned frame, bool first)
{
	uint64_t clock = now_ns();

	for (unsigned i; (i = take(&show->emit)) < show->emit.count;)
		world_emit(hand, &show->nozzles[i]);
	world_burst(hand);
	meet(show);
	if (first)
		before_update(show, &clock);
	meet(show);
	for (unsigned i; (i = take(&show->update)) < show->update.count;)
		world_update(hand, &show->parts[i], (float)show->picture.horizon);
	meet(show);
	if (first)
		show->update_ns += now_ns() - clock;
	if (show->options.out)
		draw_picture(show, frame);
	if (first) {
		if (show->options.out)
			write_picture(show, frame);
		/* relaxed, all: the barrier below orders them before the others' next take(). */
		atomic_store_explicit(&show->emit.next, 0, memory_order_relaxed);
		atomic_store_explicit(&show->update.next, 0, memory_order_relaxed);
		atomic_store_explicit(&show->gather.next, 0, memory_order_relaxed);
		atomic_store_explicit(&show->develop.next, 0, memory_order_relaxed);
		show->picture_ns += now_ns() - clock;
	}
	meet(show);
}

static void *perform(void *argument)
{
	struct performer *performer = argument;
	struct show *show = performer->show;

	for (unsigned frame = 0; frame < show->options.frames; frame++)
		perform_frame(show, &show->hands[performer->index], frame, performer->index == 0);
	return NULL;
}

/* ---- Before and after -------------------------------------------------------------------------------------- */

static void show_open(struct show *show)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	unsigned threads = (unsigned)show->options.threads;

	config.name = "particles";
	config.capacity = show->options.capacity;
	lfpool_status_t status = particle_pool_create(&show->particles, &config);
	if (status != LFPOOL_OK) {
		fprintf(stderr, "particles: no pool: %s\n", lfpool_status_string(status));
		exit(1);
	}
	live_watch(show->particles.untyped, "particles", sizeof(struct particle));
	bool ok = picture_init(&show->picture, WIDTH, HEIGHT) && pthread_barrier_init(&show->barrier, NULL, threads) == 0;

	for (unsigned i = 0; ok && i < threads; i++) {
		struct hand *hand = &show->hands[i];

		hand->cache = particle_cache_create(show->particles);
		ok = hand->cache.untyped && (!show->options.out || layer_init(&hand->layer, &show->picture));
		show->layers[i] = &hand->layer;
	}
	if (!ok) {
		fputs("particles: no memory\n", stderr);
		exit(3);
	}
	show->emit.count = (unsigned)world_nozzles(show->nozzles, WIDTH, (float)show->picture.horizon, show->options.seed);
	show->update.count = threads * PARTS_PER_THREAD;
	show->gather.count = show->develop.count = HEIGHT;
	show->written = true;
}

static void show_run(struct show *show)
{
	struct performer performers[THREADS_MAX];

	for (unsigned i = 0; i < show->options.threads; i++) {
		performers[i] = (struct performer){.show = show, .index = i};
		if (i > 0)
			thread_start(&performers[i].thread, perform, &performers[i]);
	}
	perform(&performers[0]);
	for (unsigned i = 1; i < show->options.threads; i++)
		pthread_join(performers[i].thread, NULL);
}

static bool count_one(void *count, struct particle *particle)
{
	(void)particle;
	++*(uint64_t *)count;
	return true;
}

/* Every particle is accounted for: by the threads' own counters, by a walk, by the pool's counters, by its check. */
static bool accounts_agree(const struct show *show)
{
	uint64_t spawned = 0, died = 0, refused = 0, alive = 0;
	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	const char *violated = lfpool_check(show->particles.untyped, NULL);

	for (unsigned i = 0; i < show->options.threads; i++) {
		spawned += show->hands[i].spawned;
		died += show->hands[i].died;
		refused += show->hands[i].refused;
	}
	particle_for_each_active(show->particles, count_one, &alive);
	lfpool_stats(show->particles.untyped, &stats);
	printf("particles   %" PRIu64 " spawned = %" PRIu64 " died + %" PRIu64 " alive; %" PRIu64
	       " refused for want of room; peak %zu of %zu\n",
	       spawned, died, alive, refused, show->peak, stats.capacity);
	printf("pool        %zu active + %zu cached + %zu shared + %zu untouched = %zu; %" PRIu64 " refills, %" PRIu64
	       " drains, %" PRIu64 " steals\n",
	       stats.active, stats.cached, stats.shared, stats.untouched, stats.capacity, stats.refills, stats.drains,
	       stats.steals);
	printf("check       %s\n", violated ? violated : "all invariants hold");
	return !violated && spawned == died + alive && stats.active == alive && stats.acquires == spawned &&
	       stats.releases == died && stats.unaccounted == 0;
}

static bool show_close(struct show *show)
{
	double frames = 1e6 * (double)show->options.frames;

	printf("%lu frames, %lu threads: ms per frame: %.2f emit, %.2f update%s", show->options.frames, show->options.threads,
	       (double)show->emit_ns / frames, (double)show->update_ns / frames, show->options.out ? " and draw" : "\n");
	if (show->options.out)
		printf(", %.2f all, with picture and file\n", (double)(show->picture_ns + show->emit_ns) / frames);
	bool ok = accounts_agree(show) && show->written;
	size_t alive = lfpool_active_count(show->particles.untyped);

	for (unsigned i = 0; i < show->options.threads; i++) {
		particle_cache_destroy(show->hands[i].cache);
		layer_free(&show->hands[i].layer);
		free(show->hands[i].bursts);
	}
	live_forget(show->particles.untyped);
	ok = particle_release_all(show->particles) == alive && ok;
	ok = particle_pool_destroy(show->particles) == 0 && ok;
	picture_free(&show->picture);
	pthread_barrier_destroy(&show->barrier);
	puts(ok ? "no particle was lost" : "FAILED: the accounts do not agree, or a file is missing");
	return ok;
}

/* ---- Options ----------------------------------------------------------------------------------------------- */

static struct options parse_options(int argc, char **argv)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct options options = {.frames = 150, .threads = 1, .capacity = 100000, .seed = 1};
	const struct option_row rows[] = {OPTION_NUMBER("frames", &options.frames, 1, 100000),
					  OPTION_NUMBER("threads", &options.threads, 1, THREADS_MAX),
					  OPTION_NUMBER("capacity", &options.capacity, 1, 100000000),
					  OPTION_NUMBER("seed", &options.seed, 0, UINT32_MAX),
					  OPTION_TEXT("out", "DIR", &options.out),
					  OPTION_NUMBER("top", &options.top_ms, 1, 3600000),
					  OPTIONS_END};

	if (processors > 1)
		options.threads = processors < THREADS_MAX ? (unsigned long)processors : THREADS_MAX;
	(void)command_line("particles", rows, NULL, argc, argv);
	return options;
}

int main(int argc, char **argv)
{
	static struct show show;

	show.options = parse_options(argc, argv);
	if (!live_start((unsigned)show.options.top_ms)) {
		fputs("particles: no thread\n", stderr);
		return 3;
	}
	show_open(&show);
	show_run(&show);
	live_stop();
	return show_close(&show) ? 0 : 1;
}
