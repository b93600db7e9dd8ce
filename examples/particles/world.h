/* SPDX-License-Identifier: MIT */
/*
 * world.h - particles in a pool, and the nozzles that they come from.
 *
 * A frame has two phases, each done by all threads together:
 *
 *     emit    nozzles put new particles into the world;
 *     update  the particles are walked, part by part: each is moved, or dies and is released during the walk.
 *
 * Why not both at once?  An object is active from its acquire on, and a walk visits it from then on, even while
 * another thread is still writing its fields.  A barrier orders the phases.
 *
 * The particles do not depend on threads: each nozzle and each particle has its own random numbers, so it does not
 * matter which thread handles it, or when.  (That ends when the pool is exhausted: the first thread to ask gets the
 * last object.)
 */
#ifndef EXAMPLE_WORLD_H
#define EXAMPLE_WORLD_H

#include "harness.h"
#include "lfpool/inline.h"
#include "lfpool/typed.h"
#include "lfpool/walk.h"

#define FRAMES_PER_SECOND 30
#define GROUND 400.0f

/* Pixels and seconds; y grows downwards. */
struct particle {
	float x, y, speed_x, speed_y;
	float age, life;
	struct random random;
};

LFPOOL_DEFINE(particle, struct particle);

struct nozzle {
	float x;
	struct random random;
};

/* A thread's data. */
struct hand {
	particle_cache_t cache;
	/* Counted since the beginning. */
	uint64_t spawned, died, refused;
};

#define NOZZLES 20
void world_nozzles(struct nozzle nozzles_out[NOZZLES], uint64_t seed);

/* Emits one nozzle's new particles.  One thread at a time per nozzle. */
void world_emit(struct hand *hand, struct nozzle *nozzle);

/* One part of the walk. */
void world_update(struct hand *hand, lfpool_cursor_t *part);

#endif
