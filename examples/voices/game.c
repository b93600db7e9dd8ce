/* SPDX-License-Identifier: MIT */
/*
 * game.c - see game.h.
 */
#include "game.h"

#include <math.h>

#define STEP_SECONDS (1.0f / BLOCKS_PER_SECOND)
#define WORLD 160   /* metres from the listener to where a car turns */
#define PATIENCE 20 /* blocks until a hum is tried again */

/* low .. high. */
static float between(struct random *random, float low, float high)
{
	return low + (high - low) * (float)(random_next(random) >> 40) * (1.0f / (1 << 24));
}

static uint64_t blocks(float seconds)
{
	return (uint64_t)(seconds * BLOCKS_PER_SECOND);
}

/* The farther, the quieter; from the left or from the right. */
static struct gains heard_from(float x, float y)
{
	const float distance = hypotf(x, y), side = x / (distance + 1);
	const float gain = 1 / (1 + distance * distance / 150);

	return (struct gains){gain * sqrtf((1 - side) / 2), gain * sqrtf((1 + side) / 2)};
}

static uint64_t priority_of(enum kind kind, struct gains gains)
{
	return lfpool_priority_of_double(sound_loudness(kind, gains, 1));
}

/* ---- Sounds ------------------------------------------------------------------------------------------------ */

/* Its handle; 0: refused. */
static lfpool_handle_t start(struct game *game, struct actor *actor, struct gains gains, uint64_t block)
{
	/* No two steps are the same; a hum that begins again is. */
	const struct random random = {sound_fades(actor->kind) ? random_next(&actor->random) : actor->random.state};
	lfpool_handle_t handle;
	struct voice *voice = lfpool_priority_acquire(game->voices, priority_of(actor->kind, gains), actor, &handle);

	actor->asked++;
	if (!voice) {
		actor->refused++;
		return 0;
	}
	/* Until it is published the mixer does not see it, and no thread steals it. */
	sound_begin(voice, actor->kind, gains, block + 1, random);
	/* No other thread has the handle: it cannot fail. */
	(void)lfpool_priority_publish(game->voices, handle);
	return handle;
}

/* This runs in the thread that steals; the victim's actor may be playing in another. */
void game_on_evict(void *context, const lfpool_evicted_t *evicted)
{
	struct game *game = context;
	struct actor *actor = evicted->owner;
	/* relaxed, all: counters, which are read when the threads have ended. */
	uint64_t loudest = atomic_load_explicit(&game->loudest_stolen, memory_order_relaxed);

	atomic_fetch_add_explicit(&actor->stolen, 1, memory_order_relaxed);
	while (evicted->priority > loudest &&
	       !atomic_compare_exchange_weak_explicit(&game->loudest_stolen, &loudest, evicted->priority, memory_order_relaxed,
						      memory_order_relaxed))
		;
}

/* ---- A hum, which is followed ------------------------------------------------------------------------------ */

static void stop_hum(struct game *game, struct actor *car)
{
	/* Stolen in time, or stopped: never both. */
	if (lfpool_priority_release(game->voices, car->hum) == LFPOOL_OK)
		car->stopped++;
	else
		car->found_stale++;
	car->hum = 0;
}

static void follow_hum(struct game *game, struct actor *car, struct gains gains, uint64_t block)
{
	struct voice *voice = lfpool_priority_pin(game->voices, car->hum);

	if (!voice) { /* stolen; what is at its place is another's */
		car->found_stale++;
		car->hum = 0;
		car->next = block + PATIENCE;
		return;
	}
	voice->gains[(block + 1) % 2] = gains;
	(void)lfpool_priority_update(game->voices, car->hum, priority_of(HUM, gains));
	(void)lfpool_priority_unpin(game->voices, car->hum);
}

static void drive(struct game *game, struct actor *car, uint64_t block)
{
	const struct gains gains = heard_from(car->x, car->y);
	const bool audible = sound_loudness(HUM, gains, 1) >= SOUND_AUDIBLE;

	if (fabsf(car->x) > WORLD && car->x * car->speed_x > 0)
		car->speed_x = -car->speed_x;
	if (!car->hum && audible && block >= car->next) {
		car->hum = start(game, car, gains, block);
		car->next = block + PATIENCE;
		car->quiet = 0;
		return;
	}
	if (car->hum)
		follow_hum(game, car, audible ? gains : (struct gains){0, 0}, block);
	car->quiet = audible ? 0 : car->quiet + 1;
	/* The first block has brought it down to nothing by the end of the second. */
	if (car->hum && car->quiet >= 3)
		stop_hum(game, car);
}

/* ---- Sounds that fade by themselves ------------------------------------------------------------------------ */

static void walk(struct game *game, struct actor *actor, uint64_t block)
{
	(void)start(game, actor, heard_from(actor->x, actor->y), block);
	actor->next = block + blocks(between(&actor->random, 0.42f, 0.5f));
	if (hypotf(actor->x, actor->y) > 30) { /* and back */
		actor->speed_x = -actor->x * 0.05f;
		actor->speed_y = -actor->y * 0.05f;
	}
}

static void shoot(struct game *game, struct actor *actor, uint64_t block)
{
	(void)start(game, actor, heard_from(actor->x, actor->y), block);
	if (actor->volley == 0)
		actor->volley = 2 + random_below(&actor->random, 5);
	actor->volley--;
	actor->next = block + blocks(actor->volley ? 0.11f : between(&actor->random, 0.8f, 3));
}

/* Anywhere. */
static void rain(struct game *game, struct actor *actor, uint64_t block)
{
	const float x = between(&actor->random, -15, 15);

	(void)start(game, actor, heard_from(x, between(&actor->random, -15, 15)), block);
	actor->next = block + 1 + blocks(between(&actor->random, 0, 0.05f));
}

static void ring(struct game *game, struct actor *actor, uint64_t block)
{
	(void)start(game, actor, heard_from(actor->x, actor->y), block);
	actor->next = block + blocks(between(&actor->random, 0.9f, 1.6f));
}

void game_play(struct game *game, struct actor *actor, uint64_t block)
{
	static void (*const sounds[KINDS])(struct game *, struct actor *,
					   uint64_t) = {[STEP] = walk, [SHOT] = shoot, [DROP] = rain, [BELL] = ring};

	actor->x += actor->speed_x * STEP_SECONDS;
	actor->y += actor->speed_y * STEP_SECONDS;
	if (actor->kind == HUM)
		drive(game, actor, block);
	else if (block >= actor->next)
		sounds[actor->kind](game, actor, block);
}

void game_end(struct game *game, struct actor *actor)
{
	if (actor->hum)
		stop_hum(game, actor);
}

/* ---- The scene --------------------------------------------------------------------------------------------- */

void game_init(struct game *game, uint64_t seed)
{
	static const struct {
		enum kind kind;
		unsigned count;
		float near, far, speed;
	} scene[] = {{STEP, 12, 2, 30, 1.4f}, {SHOT, 4, 5, 60, 0}, {DROP, 3, 0, 1, 0}, {BELL, 3, 15, 50, 0}};

	game->count = 0;
	for (unsigned i = 0; i < sizeof(scene) / sizeof(*scene); i++)
		for (unsigned j = 0; j < scene[i].count; j++) {
			struct random random = random_for(seed, game->count);
			const float where = between(&random, 0, 6.2831853f), to = between(&random, 0, 6.2831853f);
			const float far = between(&random, scene[i].near, scene[i].far);

			game->actors[game->count++] = (struct actor){.kind = scene[i].kind,
								     .x = far * cosf(where),
								     .y = far * sinf(where),
								     .speed_x = scene[i].speed * cosf(to),
								     .speed_y = scene[i].speed * sinf(to),
								     .next = random_below(&random, BLOCKS_PER_SECOND),
								     .random = random};
		}
	for (unsigned i = 0; i < 7; i++) {
		struct random random = random_for(seed, game->count);
		const float side = i % 2 ? 1 : -1;

		game->actors[game->count++] = (struct actor){.kind = HUM,
							     .x = between(&random, -WORLD, WORLD),
							     .y = side * between(&random, 4, 20),
							     .speed_x = side * between(&random, 12, 30),
							     .random = random};
	}
}
