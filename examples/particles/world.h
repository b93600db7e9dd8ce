/* SPDX-License-Identifier: MIT */
/*
 * world.h - what moves: particles in a pool, and the nozzles that they come from.
 *
 * Two things are done in a frame, each by all threads together, one after the other:
 *
 *     emit    nozzles put new particles into the world;
 *     update  the particles are walked, part by part: each is moved, or dies and is released under the walk.
 *
 * Why not both at once?  An object is active from the moment it is acquired, and a walk visits it from then on: also
 * while its fields are still being written by another thread.  A barrier orders the one before the other.
 *
 * Which particles there are, and where, does not depend on threads: each nozzle and each particle has random numbers of
 * its own, so that it matters neither which thread handles it nor when.  (That ends when the pool is exhausted: the
 * first to come gets the last object.)
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

/* What one thread needs. */
struct hand {
	particle_cache_t cache;
	/* Counted since the beginning. */
	uint64_t spawned, died, refused;
};

#define NOZZLES 20
void world_nozzles(struct nozzle nozzles_out[NOZZLES], uint64_t seed);

/* One nozzle's new particles.  One thread at a time for a nozzle. */
void world_emit(struct hand *hand, struct nozzle *nozzle);

/* One part of the walk. */
void world_update(struct hand *hand, lfpool_cursor_t *part);

#endif
