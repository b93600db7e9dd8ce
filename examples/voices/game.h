/* SPDX-License-Identifier: MIT */
/*
 * game.h - who makes the sounds: people who walk, shoot and ring bells around the listener, cars that pass, and rain.
 *
 * Idea         Each of them is played by one thread, and has random numbers of its own: what it asks for does not
 *              depend on threads.  What it gets does, once voices are scarce.
 *
 *              To start a sound is to ask the pool for a voice, with the loudness as priority.  The thread that asks
 *              may be refused, since all that plays is louder, and that is fine: it would not be heard.  One that has a
 *              voice may lose it to a louder sound at any time.  Most do not care: they drop the handle, and the mixer
 *              releases the voice when the sound has faded away.  A car does care.  It keeps the handle of its hum, to
 *              make it louder and quieter as it passes; when the handle has gone stale, the hum was stolen, and the car
 *              tries to start it again a little later.
 */
#ifndef EXAMPLE_GAME_H
#define EXAMPLE_GAME_H

#include "sound.h"

#include <stdatomic.h>

#define ACTORS_MAX 64

struct actor {
	enum kind kind;
	float x, y, speed_x, speed_y; /* metres, and in a second; the listener is at 0, 0 */
	uint64_t next;                /* block in which it starts a sound                 */
	struct random random;
	lfpool_handle_t hum; /* 0: none, as far as we know         */
	unsigned quiet;      /* blocks since the hum was turned off */
	/* Counted since the beginning; by the thread that plays this actor. */
	uint64_t asked, refused, stopped, found_stale;
	/* By the thread that stole from it. */
	_Atomic(uint64_t) stolen;
};

/* An object of the pool. */
struct playing {
	struct voice voice;
	struct actor *actor; /* that made the sound                             */
	_Atomic(bool) ready; /* the rest is filled; false while the sound is new */
};

struct game {
	lfpool_t *voices;
	struct actor actors[ACTORS_MAX];
	unsigned count;
	_Atomic(uint64_t) loudest_stolen; /* priority */
};

void game_init(struct game *game, uint64_t seed);

/* While block `block` is rendered.  One thread at a time for an actor. */
void game_play(struct game *game, struct actor *actor, uint64_t block);

/* No thread plays it any more. */
void game_end(struct game *game, struct actor *actor);

/* hooks.evict, with the game as its context. */
void game_on_evict(void *game, void *playing, lfpool_handle_t handle, uint64_t priority);

#endif
