/* SPDX-License-Identifier: MIT */
/*
 * world.c - see world.h.
 */
#include "world.h"

#include <math.h>

#define STEP (1.0f / FRAMES_PER_SECOND) /* seconds */
#define GRAVITY 200.0f                  /* pixels per second and second */
#define SPARKS_PER_BURST 2200

/* low .. high. */
static float between(struct random *random, float low, float high)
{
	return low + (high - low) * (float)(random_next(random) >> 40) * (1.0f / (1 << 24));
}

/* ---- New particles ----------------------------------------------------------------------------------------- */

/* NULL when all particles are in use: then there is one sparkle less, which is not seen. */
static struct particle *spawn(struct hand *hand, enum kind kind, struct random *parent)
{
	struct particle *p = particle_cache_acquire(hand->cache);

	if (!p) {
		(void)random_next(parent);
		hand->refused++;
		return NULL;
	}
	hand->spawned++;
	*p = (struct particle){.kind = kind, .random = {random_next(parent)}};
	return p;
}

static void emit_fire(struct hand *hand, struct nozzle *nozzle)
{
	struct particle *p = spawn(hand, FIRE, &nozzle->random);

	if (!p)
		return;
	float off = between(&p->random, -12, 12) + between(&p->random, -12, 12);

	p->x = nozzle->x + off;
	p->y = nozzle->y + between(&p->random, -3, 3);
	p->speed_x = between(&p->random, -14, 14) - off;
	p->speed_y = between(&p->random, -95, -30);
	p->life = between(&p->random, 0.5f, 1.0f) + between(&p->random, 0, 0.9f) * between(&p->random, 0, 1);
	p->light = (struct light){0.55f, 0.5f, 0.5f};
}

static void emit_water(struct hand *hand, struct nozzle *nozzle)
{
	struct particle *p = spawn(hand, WATER, &nozzle->random);

	if (!p)
		return;
	float angle = between(&p->random, -0.13f, 0.13f) + between(&p->random, -0.13f, 0.13f);
	float speed = between(&p->random, 235, 285), early = between(&p->random, 0, STEP);

	p->speed_x = speed * sinf(angle);
	p->speed_y = -speed * cosf(angle);
	/* Not all at the same moment of the frame. */
	p->x = nozzle->x + between(&p->random, -2, 2) + early * p->speed_x;
	p->y = nozzle->y + early * p->speed_y;
	p->life = between(&p->random, 2.2f, 3.4f);
	p->light = (struct light){0.06f, 0.15f, 0.28f};
}

static void emit_rocket(struct hand *hand, struct nozzle *nozzle)
{
	if (random_below(&nozzle->random, nozzle->per_frame) != 0)
		return;
	struct particle *p = spawn(hand, ROCKET, &nozzle->random);

	if (!p)
		return;
	p->x = nozzle->x + between(&p->random, -60, 60);
	p->y = nozzle->y;
	p->speed_x = between(&p->random, -38, 38);
	p->speed_y = between(&p->random, -365, -300);
	p->life = between(&p->random, 1.35f, 1.6f);
	p->light = (struct light){1.6f, 1.1f, 0.5f};
}

void world_emit(struct hand *hand, struct nozzle *nozzle)
{
	switch (nozzle->kind) {
	case ROCKET: emit_rocket(hand, nozzle); break;
	case FIRE:
		for (unsigned i = 0; i < nozzle->per_frame; i++)
			emit_fire(hand, nozzle);
		break;
	default:
		for (unsigned i = 0; i < nozzle->per_frame; i++)
			emit_water(hand, nozzle);
	}
}

/* A bright colour: one third of the way round the colour circle is one light to the next. */
static struct light bright(struct random *random)
{
	float turn = between(random, 0, 6.2831853f);

	return (struct light){0.55f + 0.5f * cosf(turn), 0.5f + 0.45f * cosf(turn - 2.0944f), 0.6f + 0.5f * cosf(turn + 2.0944f)};
}

static void emit_spark(struct hand *hand, struct burst *burst, struct light light)
{
	struct particle *p = spawn(hand, SPARK, &burst->random);

	if (!p)
		return;
	/* Evenly over a sphere's surface, seen from the side; most sparks with the same speed make it a shell. */
	float z = between(&p->random, -1, 1), turn = between(&p->random, 0, 6.2831853f);
	float speed = 185 * (1 - 0.5f * between(&p->random, 0, 1) * between(&p->random, 0, 1));
	float side = sqrtf(1 - z * z);

	p->x = burst->x;
	p->y = burst->y;
	p->speed_x = burst->speed_x + speed * side * cosf(turn);
	p->speed_y = burst->speed_y + speed * z;
	p->life = between(&p->random, 1.1f, 2.3f);
	p->light = light;
}

void world_burst(struct hand *hand)
{
	for (size_t i = 0; i < hand->burst_count; i++) {
		struct burst *burst = &hand->bursts[i];
		struct light outer = bright(&burst->random), inner = bright(&burst->random);

		for (unsigned j = 0; j < SPARKS_PER_BURST; j++)
			emit_spark(hand, burst, j % 4 ? outer : inner);
	}
	hand->burst_count = 0;
}

/* ---- A frame in the life of a particle --------------------------------------------------------------------- */

static void remember_burst(struct hand *hand, const struct particle *p)
{
	if (hand->burst_count == hand->burst_room) {
		hand->burst_room = 2 * hand->burst_room + 8;
		hand->bursts = realloc(hand->bursts, hand->burst_room * sizeof(*hand->bursts));
		if (!hand->bursts) {
			fputs("particles: no memory\n", stderr);
			exit(3);
		}
	}
	hand->bursts[hand->burst_count++] = (struct burst){p->x, p->y, p->speed_x, p->speed_y, p->random};
}

static void move(struct particle *p, float ground)
{
	float drag = 1, fall = GRAVITY;

	switch (p->kind) {
	case FIRE: /* rises, and is torn about */
		drag = 0.96f;
		fall = -70;
		p->speed_x += between(&p->random, -16, 16);
		break;
	case SPARK: /* is soon slowed down by the air */
		drag = 0.94f;
		fall = 60;
		break;
	default: break;
	}
	p->speed_x *= drag;
	p->speed_y = p->speed_y * drag + fall * STEP;
	p->x += p->speed_x * STEP;
	p->y += p->speed_y * STEP;
	p->age += STEP;
	if (p->y > ground && p->speed_y > 0) { /* splashes */
		p->y = ground;
		p->speed_y *= -between(&p->random, 0.05f, 0.3f);
		p->speed_x = p->speed_x * 0.5f + between(&p->random, -22, 22);
		p->life -= 0.5f;
	}
}

static void draw(struct layer *layer, struct particle *p)
{
	float left = 1 - p->age / p->life, glow;

	switch (p->kind) {
	case FIRE: /* white, yellow, red, gone */
		glow = left * left;
		layer_add(layer, p->x, p->y, 1.6f + 3.2f * (1 - left),
			  (struct light){p->light.red * left * 0.62f, p->light.green * glow * 0.48f,
					 p->light.blue * glow * glow * 0.3f});
		break;
	case WATER: layer_add(layer, p->x, p->y, 1.7f, light_times(p->light, left < 0.3f ? left / 0.3f : 1)); break;
	case ROCKET:
		for (float back = 0; back < STEP; back += STEP / 6)
			layer_add(layer, p->x - back * p->speed_x, p->y - back * p->speed_y, 1.8f, p->light);
		break;
	case SPARK: /* twinkles towards the end */
		glow = left < 0.45f && random_below(&p->random, 3) == 0 ? 2.6f : 1.2f;
		layer_add(layer, p->x, p->y, 1.5f, light_times(p->light, glow * left));
		break;
	}
}

void world_update(struct hand *hand, lfpool_cursor_t *part, float ground)
{
	struct particle *p;

	while ((p = particle_cursor_next(part)) != NULL) {
		move(p, ground);
		if (p->age < p->life) {
			if (hand->layer.pixels)
				draw(&hand->layer, p);
			continue;
		}
		if (p->kind == ROCKET)
			remember_burst(hand, p);
		/* Under the walk; any thread may get the slot at once. */
		particle_cache_release(hand->cache, p);
		hand->died++;
	}
}

/* ---- The scene --------------------------------------------------------------------------------------------- */

size_t world_nozzles(struct nozzle nozzles_out[NOZZLES_MAX], float width, float ground, uint64_t seed)
{
	size_t count = 0;

	for (unsigned i = 0; i < 8; i++)
		nozzles_out[count++] = (struct nozzle){.kind = WATER, .x = 0.5f, .per_frame = 48};
	for (unsigned i = 0; i < 10; i++)
		nozzles_out[count++] = (struct nozzle){.kind = FIRE, .x = i % 2 ? 0.14f : 0.86f, .per_frame = 90};
	for (unsigned i = 0; i < 2; i++)
		nozzles_out[count++] = (struct nozzle){.kind = ROCKET, .x = i % 2 ? 0.32f : 0.68f, .per_frame = 13};
	for (unsigned i = 0; i < count; i++) {
		nozzles_out[i].x *= width;
		nozzles_out[i].y = ground;
		nozzles_out[i].random = random_for(seed, i);
	}
	return count;
}
