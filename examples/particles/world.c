/* SPDX-License-Identifier: MIT */
/*
 * world.c - see world.h.
 */
#include "world.h"

#include <math.h>

#define STEP (1.0f / FRAMES_PER_SECOND) /* seconds */
#define TURN 6.2831853f
#define SPARKS_PER_BURST 2200

/* How each kind moves: what is left of its speed after a frame, and what it falls (pixels per second and second). */
static const struct {
	float drag, fall;
} kinds[] = {[FIRE] = {0.96f, -70}, [WATER] = {1, 200}, [ROCKET] = {1, 200}, [SPARK] = {0.94f, 60}};

/* ---- New particles ----------------------------------------------------------------------------------------- */

/* NULL when all particles are in use: then there is one sparkle less, which is not seen. */
static struct particle *spawn(struct hand *hand, enum kind kind, struct random *parent)
{
	struct particle *p = particle_cache_acquire(hand->cache);
	const uint64_t seed = random_next(parent);

	hand->spawned += p != NULL;
	hand->refused += p == NULL;
	if (p)
		*p = (struct particle){.kind = kind, .random = {seed}};
	return p;
}

static void emit_one(struct hand *hand, struct nozzle *nozzle)
{
	struct particle *p = spawn(hand, nozzle->kind, &nozzle->random);

	if (!p)
		return;
	struct random *random = &p->random;

	p->y = GROUND;
	switch (nozzle->kind) {
	case FIRE:
		p->x = random_between(random, -20, 20);
		p->speed_x = random_between(random, -14, 14) - p->x;
		p->speed_y = random_between(random, -95, -30);
		p->life = random_between(random, 0.5f, 1.5f);
		break;
	case WATER:
		p->speed_x = random_between(random, -60, 60);
		p->speed_y = random_between(random, -285, -235);
		p->x = random_between(random, -2, 2);
		p->life = random_between(random, 2.2f, 3.4f);
		break;
	default:
		p->x = random_between(random, -60, 60);
		p->speed_x = random_between(random, -38, 38);
		p->speed_y = random_between(random, -365, -300);
		p->life = random_between(random, 1.35f, 1.6f);
	}
	p->x += nozzle->x;
}

void world_emit(struct hand *hand, struct nozzle *nozzle)
{
	if (nozzle->kind == ROCKET) {
		if (random_below(&nozzle->random, nozzle->per_frame) == 0)
			emit_one(hand, nozzle);
		return;
	}
	for (unsigned i = 0; i < nozzle->per_frame; i++)
		emit_one(hand, nozzle);
}

/* Evenly over a sphere's surface, seen from the side. */
static void emit_spark(struct hand *hand, struct particle *rocket)
{
	struct particle *p = spawn(hand, SPARK, &rocket->random);

	if (!p)
		return;
	const float z = random_between(&p->random, -1, 1), turn = random_between(&p->random, 0, TURN);
	const float speed = random_between(&p->random, 120, 185);

	p->x = rocket->x;
	p->y = rocket->y;
	p->speed_x = rocket->speed_x + speed * sqrtf(1 - z * z) * cosf(turn);
	p->speed_y = rocket->speed_y + speed * z;
	p->life = random_between(&p->random, 1.1f, 2.3f);
}

void world_burst(struct hand *hand)
{
	for (size_t i = 0; i < hand->burst_count; i++)
		for (unsigned j = 0; j < SPARKS_PER_BURST; j++)
			emit_spark(hand, &hand->bursts[i]);
	hand->burst_count = 0;
}

/* ---- A frame in the life of a particle --------------------------------------------------------------------- */

static void move(struct particle *p)
{
	p->speed_x *= kinds[p->kind].drag;
	p->speed_y = p->speed_y * kinds[p->kind].drag + kinds[p->kind].fall * STEP;
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

static void remember_burst(struct hand *hand, const struct particle *rocket)
{
	hand->bursts = realloc(hand->bursts, (hand->burst_count + 1) * sizeof(*hand->bursts));
	if (!hand->bursts) {
		fputs("particles: no memory\n", stderr);
		exit(3);
	}
	hand->bursts[hand->burst_count++] = *rocket;
}

void world_update(struct hand *hand, lfpool_cursor_t *part)
{
	struct particle *p;

	while ((p = particle_cursor_next(part)) != NULL) {
		move(p);
		if (p->age < p->life)
			continue;
		if (p->kind == ROCKET)
			remember_burst(hand, p);
		/* Under the walk; any thread may get the slot at once. */
		particle_cache_release(hand->cache, p);
		hand->died++;
	}
}

/* ---- The scene --------------------------------------------------------------------------------------------- */

void world_nozzles(struct nozzle nozzles_out[NOZZLES], uint64_t seed)
{
	for (unsigned i = 0; i < NOZZLES; i++) {
		struct nozzle *nozzle = &nozzles_out[i];

		if (i < 8)
			*nozzle = (struct nozzle){.kind = WATER, .x = WIDTH * 0.5f, .per_frame = 48};
		else if (i < 18)
			*nozzle = (struct nozzle){.kind = FIRE, .x = WIDTH * (i % 2 ? 0.14f : 0.86f), .per_frame = 90};
		else
			*nozzle = (struct nozzle){.kind = ROCKET, .x = WIDTH * (i % 2 ? 0.32f : 0.68f), .per_frame = 13};
		nozzle->random = random_for(seed, i);
	}
}
