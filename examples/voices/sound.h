/* SPDX-License-Identifier: MIT */
/*
 * sound.h - what sounds: a voice, and the few kinds of sound that it can play.
 *
 * Idea         Time is counted in blocks of 5 ms, and nothing here knows of any other: while the mixer renders block n,
 *              the game decides what is heard from block n + 1 on.  So a voice begins at a block, and has its gains
 *              twice, for even and for odd blocks: the mixer reads the one while the game writes the other.  (A pin
 *              keeps a voice from being stolen, but it keeps no other thread away: what two threads reach must be
 *              ordered somehow.  Here by the end of the block, main.c; where there is no such thing, by atomics.)
 */
#ifndef EXAMPLE_SOUND_H
#define EXAMPLE_SOUND_H

#include "harness.h"
#include "lfpool/evict.h"

#define RATE 48000 /* frames per second: a frame is a sample for each ear */
#define BLOCK 240  /* frames */
#define BLOCKS_PER_SECOND (RATE / BLOCK)

#define SOUND_AUDIBLE 0.001 /* loudness; nobody hears what is less */

enum kind { STEP, SHOT, DROP, BELL, HUM, KINDS };

/* How loud something is in each ear: it depends on where it is. */
struct gains {
	float left, right;
};

struct voice {
	/* Filled before it is published, then read only. */
	enum kind kind;
	float pitch;     /* Hz */
	uint64_t begins; /* block */
	/* Of a kind that goes on until it is stopped the game writes gains[n % 2] in each block n - 1. */
	struct gains gains[2];
	/* The mixer's. */
	struct gains last; /* at the end of the last block; the next one goes on from there */
	float envelope;    /* 1 at first, then it fades */
	float low;         /* what is left of a noise when its heights are taken off */
	uint32_t age;      /* frames */
	struct random random;
};

/* Does it fade away by itself?  If not, it goes on until somebody stops it. */
bool sound_fades(enum kind kind);

/* How loud it is: 1 is as loud as a shot next to one's ear. */
double sound_loudness(enum kind kind, struct gains gains, float envelope);

/* A voice that its thread has just acquired. */
void sound_begin(struct voice *voice, enum kind kind, struct gains gains, uint64_t block, struct random random);

/* The next block of it, before gains. */
void sound_render(struct voice *voice, uint64_t block, float samples_out[BLOCK]);

/* A sound that fades has faded away. */
bool sound_is_over(const struct voice *voice);

#endif
