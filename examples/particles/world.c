/* SPDX-License-Identifier: MIT */
/*
 * world.c - see world.h.
 */
#include "world.h"

#include "lfpool/walk.h"

#define STEP (1.0f / FRAMES_PER_SECOND) /* seconds */
#define FALL 200                        /* pixels per second and second */
#define PER_FRAME 45                    /* particles of a nozzle */

/* When all particles are in use there is one drop less, which is invisible. */
static void emit_one(struct hand *hand, struct nozzle *nozzle)
{
	struct particle *p = particle_cache_acquire(hand->cache);
	struct random random = {random_next(&nozzle->random)};

	hand->spawned += p != NULL;
	hand->refused += p == NULL;
	if (!p)
		return;
	*p = (struct particle){
		.x = nozzle->x + random_between(&random, -2, 2),
		.y = GROUND,
		.speed_x = random_between(&random, -60, 60),
		.speed_y = random_between(&random, -285, -235),
		.life = random_between(&random, 2.2f, 3.4f),
		.random = random,
	};
}

void world_emit(struct hand *hand, struct nozzle *nozzle)
{
	for (unsigned i = 0; i < PER_FRAME; i++)
		emit_one(hand, nozzle);
}

/* Moves a particle by one frame. */
static void move(struct particle *p)
{
	p->speed_y += FALL * STEP;
	p->x += p->speed_x * STEP;
	p->y += p->speed_y * STEP;
	p->age += STEP;
	if (p->y > GROUND && p->speed_y > 0) { /* splashes */
		p->y = GROUND;
		p->speed_y *= -random_between(&p->random, 0.05f, 0.3f);
		p->speed_x = p->speed_x * 0.5f + random_between(&p->random, -22, 22);
		p->life -= 0.5f;
	}
}

void world_update(struct hand *hand, lfpool_cursor_t *part)
{
	struct particle *p;

	while ((p = particle_cursor_next(part)) != NULL) {
		move(p);
		if (p->age < p->life)
			continue;
		/* Allowed during the walk; any thread may get the slot at once. */
		particle_cache_release(hand->cache, p);
		hand->died++;
	}
}

void world_nozzles(struct nozzle nozzles_out[NOZZLES], uint64_t seed)
{
	for (unsigned i = 0; i < NOZZLES; i++)
		nozzles_out[i] = (struct nozzle){.x = 40.0f * (float)i, .random = random_for(seed, i)};
}
