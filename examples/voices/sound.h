/* SPDX-License-Identifier: MIT */
/*
 * sound.h - a voice, and the few kinds of sound that it can play.
 *
 * Idea         Time is counted in blocks of 5 ms, and nothing here uses any other time: while the mixer renders block
 *              n, the game decides what is heard from block n + 1 on.  So a voice begins at a block, and has its
 *              gains twice, for even and for odd blocks: the mixer reads one while the game writes the other.  (A pin
 *              keeps a voice from being stolen, but keeps no other thread away: shared data must be ordered.  The
 *              barrier at the end of a block does that (main.c); without blocks the data would have to be atomic.)
 */
#ifndef EXAMPLE_SOUND_H
#define EXAMPLE_SOUND_H

#include "harness.h"
#include "lfpool/evict.h"

#define RATE 48000 /* frames per second: a frame is a sample for each ear */
#define BLOCK 240  /* frames */
#define BLOCKS_PER_SECOND (RATE / BLOCK)

#define SOUND_AUDIBLE 0.001 /* loudness; quieter sounds are inaudible */

enum kind { STEP, SHOT, DROP, BELL, HUM, KINDS };

/* How loud something is in each ear, by its position. */
struct gains {
	float left, right;
};

struct voice {
	/* Written before the voice is published, then only read. */
	enum kind kind;
	float pitch;     /* Hz */
	uint64_t begins; /* block */
	/* For a kind that continues until it is stopped, the game writes gains[n % 2] in each block n - 1. */
	struct gains gains[2];
	/* Used by the mixer only. */
	struct gains last; /* at the end of the last block; the next one starts from there */
	float envelope;    /* 1 at first; fades */
	float low;         /* the rest of a noise after reducing its high frequencies */
	uint32_t age;      /* frames */
	struct random random;
};

/* Does it fade automatically?  If not, it continues until it is stopped. */
bool sound_fades(enum kind kind);

/* The loudness of a sound: 1 is a shot next to the ear. */
double sound_loudness(enum kind kind, struct gains gains, float envelope);

/* Starts a voice that its thread has just acquired. */
void sound_begin(struct voice *voice, enum kind kind, struct gains gains, uint64_t block, struct random random);

/* Renders the voice's next block, without its gains. */
void sound_render(struct voice *voice, uint64_t block, float samples_out[BLOCK]);

/* A sound that fades has faded away. */
bool sound_is_over(const struct voice *voice);

#endif
