/* SPDX-License-Identifier: MIT */
/*
 * main.c - a street, heard with few voices: when all are in use, a new sound steals the quietest, if it is louder.
 *
 *     voices [--seconds N] [--voices N] [--threads N] [--seed N] [FILE.wav]
 *
 * The rule is the one that Nystrom's "Game Programming Patterns" gives in its chapter on object pools: nobody misses the
 * quietest sound when a louder one begins.  So the pool is never full, and a voice is lost at any time: lfpool/priority.h.
 * Start with sound.h (what a voice is), then game.h (who starts sounds), then mixer.h (who plays and ends them).
 *
 * With --voices 32, 64, ... one sees how many are worth having: how many sounds were stolen or refused, and how loud
 * the loudest was that was stolen.
 *
 * --threads N threads play the game, while the main one mixes.  With 0 it does both, in turn: then the file is the same,
 * byte for byte, each time.  It is also the same for every number of threads, if there are voices enough.  There is no
 * sound card here that asks for the next block, so the end of a block is a barrier: while block n is mixed, the game goes
 * on by one.  The pool does not need it.
 *
 * Exit status  0: each sound was refused, stolen, played to its end, stopped, or is still playing.  1: not so, or the
 *              file could not be written, or the pool not made.  2: wrong usage.  3: no thread, or no barrier.
 */
#include "command_line.h"
#include "game.h"
#include "mixer.h"
#include "wav.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define THREADS_MAX 16

struct options {
	unsigned long seconds, voices, threads, seed;
	const char *path; /* NULL: write nothing */
};

struct street {
	struct options options;
	struct game game;
	struct mixer mixer;
	pthread_barrier_t barrier; /* the end of a block */
};

struct player {
	struct street *street;
	unsigned index;
	pthread_t thread;
};

/* What became of the sounds of a kind, or of all. */
struct account {
	uint64_t asked, refused, stolen, ended, stopped, playing, found_stale;
};

/* ---- The performance --------------------------------------------------------------------------------------- */

static uint64_t blocks(const struct street *street)
{
	return (uint64_t)street->options.seconds * BLOCKS_PER_SECOND;
}

static void play_block(struct street *street, unsigned first, unsigned step, uint64_t block)
{
	for (unsigned i = first; i < street->game.count; i += step)
		game_play(&street->game, &street->game.actors[i], block);
}

static void *play_game(void *argument)
{
	const struct player *player = argument;
	struct street *street = player->street;

	for (uint64_t block = 0; block < blocks(street); block++) {
		play_block(street, player->index, (unsigned)street->options.threads, block);
		pthread_barrier_wait(&street->barrier);
	}
	return NULL;
}

/* In this thread. */
static void mix(struct street *street, FILE *file)
{
	for (uint64_t block = 0; block < blocks(street); block++) {
		int16_t samples[2 * BLOCK];

		mixer_render(&street->mixer, samples);
		if (file)
			wav_write(file, samples, 2 * BLOCK);
		if (street->options.threads == 0)
			play_block(street, 0, 1, block);
		else
			pthread_barrier_wait(&street->barrier);
	}
}

static void perform(struct street *street, FILE *file)
{
	struct player players[THREADS_MAX];

	for (unsigned i = 0; i < street->options.threads; i++) {
		players[i] = (struct player){.street = street, .index = i};
		thread_start(&players[i].thread, play_game, &players[i]);
	}
	mix(street, file);
	for (unsigned i = 0; i < street->options.threads; i++)
		pthread_join(players[i].thread, NULL);
	for (unsigned i = 0; i < street->game.count; i++)
		game_end(&street->game, &street->game.actors[i]);
}

/* ---- The accounts ------------------------------------------------------------------------------------------ */

static bool count_playing(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct account *kinds = context;

	(void)handle;
	(void)priority;
	kinds[((struct voice *)object)->kind].playing++;
	return true;
}

static void gather(struct street *street, struct account kinds[KINDS + 1])
{
	struct account *all = &kinds[KINDS];

	(void)lfpool_priority_for_each(street->mixer.voices, count_playing, kinds);
	for (unsigned i = 0; i < street->game.count; i++) {
		const struct actor *actor = &street->game.actors[i];
		struct account *kind = &kinds[actor->kind];

		kind->asked += actor->asked;
		kind->refused += actor->refused;
		/* relaxed: the threads have ended. */
		kind->stolen += atomic_load_explicit(&actor->stolen, memory_order_relaxed);
		kind->stopped += actor->stopped;
		kind->found_stale += actor->found_stale;
	}
	for (unsigned i = 0; i < KINDS; i++) {
		kinds[i].ended = street->mixer.ended[i];
		all->asked += kinds[i].asked;
		all->refused += kinds[i].refused;
		all->stolen += kinds[i].stolen;
		all->ended += kinds[i].ended;
		all->stopped += kinds[i].stopped;
		all->playing += kinds[i].playing;
		all->found_stale += kinds[i].found_stale;
	}
}

/* No sound had two fates, and none had none. */
static bool adds_up(const struct account *a)
{
	return a->asked == a->refused + a->stolen + a->ended + a->stopped + a->playing;
}

static void tell_kinds(const struct account kinds[KINDS + 1])
{
	printf("%-8s%9s%9s%9s%9s%9s%9s\n", "", "asked", "refused", "stolen", "ended", "stopped", "playing");
	for (unsigned i = 0; i <= KINDS; i++) {
		const struct account *a = &kinds[i];

		printf("%-8s%9" PRIu64 "%9" PRIu64 "%9" PRIu64 "%9" PRIu64 "%9" PRIu64 "%9" PRIu64 "\n",
		       i < KINDS ? sound_name((enum kind)i) : "all", a->asked, a->refused, a->stolen, a->ended, a->stopped,
		       a->playing);
	}
}

static double decibels(double loudness)
{
	return 20 * log10(loudness);
}

/* Are there enough voices? */
static void tell_pool(const struct street *street, const lfpool_priority_stats_t *stats)
{
	/* relaxed: the threads have ended. */
	const uint64_t loudest = atomic_load_explicit(&street->game.loudest_stolen, memory_order_relaxed);
	const uint64_t asked = stats->acquired + stats->refused;

	printf("pool        peak %zu of %zu; %" PRIu64 " acquired, %" PRIu64 " evicted, %" PRIu64 " refused", street->mixer.peak,
	       lfpool_priority_capacity(street->mixer.voices), stats->acquired, stats->evicted, stats->refused);
	if (asked)
		printf(": %.1f %% refused or cut short", 100 * (double)(stats->evicted + stats->refused) / (double)asked);
	if (stats->evicted)
		printf("; the loudest stolen at %.1f dB", decibels(lfpool_priority_to_double(loudest)));
	printf("\nsound       peak %.1f dB, %" PRIu64 " samples clipped\n",
	       decibels(street->mixer.loudest ? (double)street->mixer.loudest / INT16_MAX : 1e-6), street->mixer.clipped);
}

/* Every sound is accounted for: by those who made them, by those who stole them, by the mixer, by the pool. */
static bool settle(struct street *street)
{
	struct account kinds[KINDS + 1] = {{0}};
	const struct account *all = &kinds[KINDS], *hum = &kinds[HUM];
	lfpool_priority_stats_t stats;
	bool ok = !street->mixer.wrong;

	gather(street, kinds);
	lfpool_priority_stats(street->mixer.voices, &stats);
	tell_kinds(kinds);
	printf("stale       %" PRIu64 " hums stolen, %" PRIu64 " cars found their handle stale\n", hum->stolen, hum->found_stale);
	tell_pool(street, &stats);
	for (unsigned i = 0; i <= KINDS; i++)
		ok = adds_up(&kinds[i]) && ok;
	ok = hum->found_stale == hum->stolen && ok;
	ok = stats.acquired == all->asked - all->refused && stats.refused == all->refused && ok;
	ok = stats.evicted == all->stolen && ok;
	ok = lfpool_priority_count(street->mixer.voices) == all->playing && ok;
	return lfpool_priority_destroy(street->mixer.voices) == all->playing && ok;
}

/* ---- Options ----------------------------------------------------------------------------------------------- */

static struct options parse_options(int argc, char **argv)
{
	struct options options = {.seconds = 10, .voices = 32, .threads = 2, .seed = 1};
	const struct option_row rows[] = {OPTION_NUMBER("seconds", &options.seconds, 1, 3600),
					  OPTION_NUMBER("voices", &options.voices, 1, 65536),
					  OPTION_NUMBER("threads", &options.threads, 0, THREADS_MAX),
					  OPTION_NUMBER("seed", &options.seed, 0, UINT32_MAX), OPTIONS_END};

	options.path = command_line("voices", rows, "FILE.wav", argc, argv);
	return options;
}

/* ---- All of it --------------------------------------------------------------------------------------------- */

static void street_open(struct street *street)
{
	lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;

	config.name = "voices";
	config.object_size = sizeof(struct voice);
	config.object_alignment = _Alignof(struct voice);
	config.capacity = street->options.voices;
	config.context = &street->game;
	config.on_evict = game_on_evict;
	const lfpool_status_t status = lfpool_priority_create(&street->mixer.voices, &config);

	if (status != LFPOOL_OK) {
		fprintf(stderr, "voices: no pool: %s\n", lfpool_status_string(status));
		exit(1);
	}
	street->game.voices = street->mixer.voices;
	game_init(&street->game, street->options.seed);
	if (pthread_barrier_init(&street->barrier, NULL, (unsigned)street->options.threads + 1) != 0) {
		fputs("voices: no barrier\n", stderr);
		exit(3);
	}
}

int main(int argc, char **argv)
{
	static struct street street;
	FILE *file = NULL;

	street.options = parse_options(argc, argv);
	const char *path = street.options.path;

	if (path && !(file = wav_create(path, RATE, (uint32_t)street.options.seconds * RATE))) {
		perror(path);
		return 1;
	}
	street_open(&street);
	perform(&street, file);
	bool ok = settle(&street);

	pthread_barrier_destroy(&street.barrier);
	if (file && !wav_close(file)) {
		perror(path);
		ok = false;
	}
	puts(ok ? "every sound is accounted for" : "FAILED: the accounts do not agree, or the file is not complete");
	return ok ? 0 : 1;
}
