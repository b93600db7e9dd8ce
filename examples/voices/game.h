/* SPDX-License-Identifier: MIT */
/*
 * game.h - the sources of sounds: people who walk, shoot and ring bells around the listener, passing cars, and rain.
 *
 * Idea         One thread plays each source.  Each source has its own random numbers, so its requests do not depend
 *              on threads.  The pool's answers do, once voices are scarce.
 *              To start a sound is to ask the pool for a voice, with the loudness as priority.  The request may be
 *              refused if everything that plays is louder, which is fine: nobody would hear it.  A voice may be lost
 *              to a louder sound at any time.  Most sounds do not care: they drop the handle, and the mixer releases
 *              the voice when the sound has faded away.  A car does care.  It keeps the handle of its hum, to make it
 *              louder and quieter as it passes.  When the handle is stale, the hum was stolen, and the car tries to
 *              start it again a little later.
 */
#ifndef EXAMPLE_GAME_H
#define EXAMPLE_GAME_H

#include "sound.h"

#include <stdatomic.h>

#define ACTORS_MAX 64

struct actor {
	enum kind kind;
	float x, y, speed_x, speed_y; /* metres, and metres per second; the listener is at 0, 0 */
	uint64_t next;                /* block in which it starts its next sound */
	struct random random;
	lfpool_handle_t hum; /* 0: none, as far as the car knows */
	unsigned quiet;      /* blocks since the hum was audible */
	/* Counts since the beginning; written by the thread that plays this actor. */
	uint64_t asked, refused, stopped, found_stale;
	/* Written by the threads that steal this actor's voices. */
	_Atomic(uint64_t) stolen;
};

/* An object of the pool. */
struct playing {
	struct voice voice;
	struct actor *actor; /* the source of the sound */
	_Atomic(bool) ready; /* the other fields are filled; false while the sound is new */
};

struct game {
	lfpool_t *voices;
	struct actor actors[ACTORS_MAX];
	unsigned count;
	_Atomic(uint64_t) loudest_stolen; /* priority */
};

void game_init(struct game *game, uint64_t seed);

/* Called while block `block` is rendered, by one thread at a time per actor. */
void game_play(struct game *game, struct actor *actor, uint64_t block);

/* Called after all threads have finished playing the actor. */
void game_end(struct game *game, struct actor *actor);

/* hooks.evict, with the game as its context. */
void game_on_evict(void *game, void *playing, lfpool_handle_t handle, uint64_t priority);

#endif
