/* SPDX-License-Identifier: MIT */
/*
 * main.c - the sounds of a street, played with a few voices.  When all are in use, a new sound steals the quietest
 * voice, unless the new sound is even quieter.
 *
 *     voices [--seconds N] [--voices N] [--threads N] [--seed N] [FILE.wav]
 *
 * The rule is from the chapter on object pools in Nystrom's "Game Programming Patterns": a listener does not miss the
 * quietest sound when a louder one begins.  So the pool never refuses a loud sound, but a sound may lose its voice at
 * any time (lfpool/evict.h).  Start with sound.h, which describes a voice.  Then game.h starts sounds, and the mixer
 * below plays and ends them.
 *
 * Use --voices 32, 64, ... to find out how many voices are worth having: the program prints how many sounds were
 * stolen or refused, and how loud the loudest stolen one was (a shot next to the ear is 1).
 *
 * With --threads N, N threads play the game while the main thread mixes.  With 0 the main thread does both
 * alternately, and the file is the same, byte for byte, in every run.  With enough voices for all sounds, the number of
 * threads does not change the file either.  No sound card asks for the next block here, so a barrier ends each block:
 * while block n is mixed, the game prepares the next one.  The pool does not need the barrier.
 *
 * Exit status  0: each sound was refused, stolen, played to its end, stopped, or is still playing.  1: otherwise, or
 *              the file could not be written, or the pool not made.  2: wrong usage.  3: no thread, or no barrier.
 */
#include "command_line.h"
#include "game.h"

#include "lfpool/handle.h"
#include "lfpool/report.h"
#include "lfpool/walk.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define THREADS_MAX 16

/* ---- The mixer --------------------------------------------------------------------------------------------- */

/*
 * The mixer keeps no list of the playing voices: it walks over the active objects of the pool.  It pins each voice
 * while it renders the voice, so that no thread steals it.  As a voice fades, the mixer lowers its priority, so that
 * quiet voices are stolen first.  A voice that has faded away is released while it is pinned, and is free after the
 * unpin.
 *
 * Samples are added up as integers: the order of the voices in the walk does not change the sum.
 */
struct mixer {
	lfpool_t *voices;
	uint64_t block;
	int64_t sums[2 * BLOCK];
	uint64_t ended; /* sounds, since the beginning   */
	size_t peak;    /* voices in use at once         */
	bool wrong;     /* a call failed that cannot fail */
};

#define ONE (1 << 24) /* the value of a sample of 1 in the sums */
#define MASTER 0.5    /* leaves room for several shots at once */

/* Adds the samples to the sums.  Moves gradually from the last block's gains to this block's: a jump would click. */
static void add(struct mixer *mixer, struct voice *voice, const float samples[BLOCK])
{
	const struct gains to = voice->gains[mixer->block % 2], from = voice->last;

	for (unsigned i = 0; i < BLOCK; i++) {
		const float done = (float)(i + 1) / BLOCK;
		const float left = from.left + (to.left - from.left) * done;
		const float right = from.right + (to.right - from.right) * done;

		mixer->sums[2 * i] += lrintf(samples[i] * left * ONE);
		mixer->sums[2 * i + 1] += lrintf(samples[i] * right * ONE);
	}
	voice->last = to;
}

/* Adds one pinned voice to the block, and releases the voice if its sound is over. */
static void play(struct mixer *mixer, struct voice *voice, lfpool_handle_t handle)
{
	float samples[BLOCK];

	if (voice->begins > mixer->block) /* the game has published it during this walk */
		return;
	sound_render(voice, mixer->block, samples);
	add(mixer, voice, samples);
	if (sound_is_over(voice)) {
		/* The voice is free after the unpin. */
		mixer->ended++;
		mixer->wrong |= lfpool_release_handle(mixer->voices, handle) != LFPOOL_OK;
	} else if (sound_fades(voice->kind)) {
		const double loudness = sound_loudness(voice->kind, voice->last, voice->envelope);

		mixer->wrong |= lfpool_set_priority(mixer->voices, handle, lfpool_priority_of_double(loudness)) !=
				LFPOOL_OK;
	}
}

/* Called by the walk.  Before the pin, the voice may have been stolen and its slot may have a new voice. */
static bool visit(void *context, void *object)
{
	struct mixer *mixer = context;
	const lfpool_handle_t handle = lfpool_handle_of(mixer->voices, object);
	struct playing *playing = lfpool_pin(mixer->voices, handle);

	if (!playing)
		return true;
	/* acquire: reads the fields of the voice that start() wrote. */
	if (atomic_load_explicit(&playing->ready, memory_order_acquire))
		play(mixer, &playing->voice, handle);
	mixer->wrong |= lfpool_unpin(mixer->voices, handle) != LFPOOL_OK;
	return true;
}

/* Renders the next block.  Samples for left and right alternate. */
static void mixer_render(struct mixer *mixer, int16_t samples_out[2 * BLOCK])
{
	const size_t playing = lfpool_active_count(mixer->voices);

	mixer->peak = playing > mixer->peak ? playing : mixer->peak;
	memset(mixer->sums, 0, sizeof(mixer->sums));
	(void)lfpool_for_each_active(mixer->voices, visit, mixer);
	mixer->block++;
	for (unsigned i = 0; i < 2 * BLOCK; i++) {
		const double sample = MASTER * INT16_MAX / ONE * (double)mixer->sums[i];

		samples_out[i] = (int16_t)fmax(-INT16_MAX, fmin(sample, INT16_MAX));
	}
}

/* ---- The street -------------------------------------------------------------------------------------------- */

struct street {
	unsigned long seconds, voices, threads, seed;
	struct game game;
	struct mixer mixer;
	pthread_barrier_t barrier; /* the end of a block */
};

struct player {
	struct street *street;
	unsigned index;
	pthread_t thread;
};

/* ---- A sound file (WAV): 16 bits, stereo, little-endian on every machine --------------------------------------- */

static void put(FILE *file, uint32_t number, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		(void)putc((int)(number >> 8 * i & 0xff), file);
}

static void put_header(FILE *file, uint32_t frames)
{
	fputs("RIFF", file);
	put(file, 36 + 4 * frames, 4);
	fputs("WAVEfmt ", file);
	put(file, 16, 4); /* bytes from here to "data" */
	put(file, 1, 2);  /* uncompressed samples */
	put(file, 2, 2);  /* channels                                     */
	put(file, RATE, 4);
	put(file, 4 * RATE, 4);
	put(file, 4, 2);  /* bytes of a frame                             */
	put(file, 16, 2); /* bits of a sample                             */
	fputs("data", file);
	put(file, 4 * frames, 4);
}

/* ---- The performance --------------------------------------------------------------------------------------- */

static uint64_t blocks(const struct street *street)
{
	return (uint64_t)street->seconds * BLOCKS_PER_SECOND;
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
		play_block(street, player->index, (unsigned)street->threads, block);
		pthread_barrier_wait(&street->barrier);
	}
	return NULL;
}

/* The main thread's part: mixes each block, and writes it to the file if there is one. */
static void mix(struct street *street, FILE *file)
{
	for (uint64_t block = 0; block < blocks(street); block++) {
		int16_t samples[2 * BLOCK];

		mixer_render(&street->mixer, samples);
		for (unsigned i = 0; file && i < 2 * BLOCK; i++)
			put(file, (uint16_t)samples[i], 2);
		if (street->threads == 0)
			play_block(street, 0, 1, block);
		else
			pthread_barrier_wait(&street->barrier);
	}
}

static void perform(struct street *street, FILE *file)
{
	struct player players[THREADS_MAX];

	for (unsigned i = 0; i < street->threads; i++) {
		players[i] = (struct player){.street = street, .index = i};
		thread_start(&players[i].thread, play_game, &players[i]);
	}
	mix(street, file);
	for (unsigned i = 0; i < street->threads; i++)
		pthread_join(players[i].thread, NULL);
	for (unsigned i = 0; i < street->game.count; i++)
		game_end(&street->game, &street->game.actors[i]);
}

/* ---- The accounts ------------------------------------------------------------------------------------------ */

/* Do the counts of the actors, the thieves, the mixer and the pool agree?  Also destroys the pool. */
static bool settle(struct street *street)
{
	uint64_t asked = 0, refused = 0, stolen = 0, stopped = 0, hums_stolen = 0, found_stale = 0;
	const uint64_t ended = street->mixer.ended, playing = lfpool_active_count(street->mixer.voices);
	lfpool_stats_t stats;

	for (unsigned i = 0; i < street->game.count; i++) {
		const struct actor *actor = &street->game.actors[i];

		asked += actor->asked;
		refused += actor->refused;
		stolen += actor->stolen;
		stopped += actor->stopped;
		hums_stolen += actor->kind == HUM ? actor->stolen : 0;
		found_stale += actor->found_stale;
	}
	(void)lfpool_stats(street->mixer.voices, &stats);
	printf("sounds      %" PRIu64 " asked = %" PRIu64 " refused + %" PRIu64 " stolen + %" PRIu64 " ended + %" PRIu64
	       " stopped + %" PRIu64 " playing\n",
	       asked, refused, stolen, ended, stopped, playing);
	printf("stale       %" PRIu64 " hums stolen, %" PRIu64 " cars found their handle stale\n", hums_stolen,
	       found_stale);
	printf("pool        %zu voices, at most %zu in use; %" PRIu64 " acquired, %" PRIu64
	       " evicted, the loudest at %.4f; %" PRIu64 " refused\n",
	       lfpool_capacity(street->mixer.voices), street->mixer.peak, stats.acquires, stats.evicted,
	       stats.evicted ? lfpool_priority_to_double(street->game.loudest_stolen) : 0, stats.not_evicted);

	const bool ok = !street->mixer.wrong && asked == refused + stolen + ended + stopped + playing &&
			found_stale == hums_stolen && stats.acquires == asked - refused &&
			stats.not_evicted == refused && stats.evicted == stolen;

	return lfpool_destroy(street->mixer.voices) == playing && ok;
}

/* ---- The program ------------------------------------------------------------------------------------------- */

/* hooks.activate: the pool calls it for a new voice. */
static bool begin(void *game, void *object)
{
	(void)game;
	/* relaxed: the walk sees the voice only after the acquire that calls this hook. */
	atomic_store_explicit(&((struct playing *)object)->ready, false, memory_order_relaxed);
	return true;
}

static void street_open(struct street *street)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.name = "voices";
	config.object_size = sizeof(struct playing);
	config.object_alignment = _Alignof(struct playing);
	config.capacity = street->voices;
	config.evict = LFPOOL_EVICT_LESS;
	config.hooks.context = &street->game;
	config.hooks.activate = begin;
	config.hooks.evict = game_on_evict;
	const lfpool_status_t status = lfpool_create(&street->mixer.voices, &config);

	if (status != LFPOOL_OK) {
		fprintf(stderr, "voices: no pool: %s\n", lfpool_status_string(status));
		exit(1);
	}
	street->game.voices = street->mixer.voices;
	game_init(&street->game, street->seed);
	if (pthread_barrier_init(&street->barrier, NULL, (unsigned)street->threads + 1) != 0) {
		fputs("voices: no barrier\n", stderr);
		exit(3);
	}
}

int main(int argc, char **argv)
{
	static struct street street = {.seconds = 10, .voices = 32, .threads = 2, .seed = 1};
	const struct option_row rows[] = {OPTION_NUMBER("seconds", &street.seconds, 1, 3600),
					  OPTION_NUMBER("voices", &street.voices, 1, 65536),
					  OPTION_NUMBER("threads", &street.threads, 0, THREADS_MAX),
					  OPTION_NUMBER("seed", &street.seed, 0, UINT32_MAX), OPTIONS_END};
	const char *path = command_line("voices", rows, "FILE.wav", argc, argv);
	FILE *file = path ? fopen(path, "wb") : NULL;

	if (path && !file) {
		perror(path);
		return 1;
	}
	if (file)
		put_header(file, (uint32_t)street.seconds * RATE);
	street_open(&street);
	perform(&street, file);
	bool ok = settle(&street);

	pthread_barrier_destroy(&street.barrier);
	if (file && (ferror(file) | fclose(file))) {
		perror(path);
		ok = false;
	}
	puts(ok ? "every sound is accounted for" : "FAILED: the accounts do not agree, or the file is not complete");
	return ok ? 0 : 1;
}
