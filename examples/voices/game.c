/* SPDX-License-Identifier: MIT */
/*
 * game.c - see game.h.
 */
#include "game.h"

#include "lfpool/handle.h"

#include <math.h>

#define PATIENCE 20 /* blocks until a refused hum is tried again */

/* The number of each kind, the distance at which they turn back (metres), their speed, and the time between sounds. */
static const struct {
	unsigned count;
	float far, speed;
	float pause, longest_pause; /* seconds */
} scene[KINDS] = {
	[STEP] = {12, 30, 1.4f, 0.42f, 0.5f}, [SHOT] = {4, 60, 0, 0.1f, 1.6f}, [DROP] = {3, 15, 0, 0.01f, 0.06f},
	[BELL] = {3, 50, 0, 0.9f, 1.6f},      [HUM] = {7, 160, 21, 0, 0},
};

/* The gains of a sound at this place: the farther, the quieter. */
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

/* Returns the voice's handle; 0: refused. */
static lfpool_handle_t start(struct game *game, struct actor *actor, struct gains gains, uint64_t block)
{
	/* No two steps sound the same; a hum that begins again sounds as before. */
	const struct random random = {sound_fades(actor->kind) ? random_next(&actor->random) : actor->random.state};
	lfpool_handle_t handle;
	struct playing *playing = lfpool_acquire_evicting(game->voices, priority_of(actor->kind, gains), &handle);

	actor->asked++;
	if (!playing) {
		actor->refused++;
		return 0;
	}
	/* The mixer skips a voice that is not ready, and no thread steals one before its first unpin. */
	playing->actor = actor;
	sound_begin(&playing->voice, actor->kind, gains, block + 1, random);
	/* release: publishes the two lines above. */
	atomic_store_explicit(&playing->ready, true, memory_order_release);
	(void)lfpool_unpin(game->voices, handle);
	return handle;
}

/* Runs in the thread that steals; another thread may play the victim's actor. */
void game_on_evict(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct game *game = context;
	struct actor *actor = ((struct playing *)object)->actor;
	/* relaxed, all: counters, read after the threads have ended. */
	uint64_t loudest = atomic_load_explicit(&game->loudest_stolen, memory_order_relaxed);

	(void)handle; /* stale */
	atomic_fetch_add_explicit(&actor->stolen, 1, memory_order_relaxed);
	while (priority > loudest && !atomic_compare_exchange_weak_explicit(&game->loudest_stolen, &loudest, priority,
									    memory_order_relaxed, memory_order_relaxed))
		;
}

/* ---- A hum, which its actor follows ------------------------------------------------------------------------ */

static void stop_hum(struct game *game, struct actor *car)
{
	/* The hum is stopped here, or was stolen before: never both. */
	if (lfpool_release_handle(game->voices, car->hum) == LFPOOL_OK)
		car->stopped++;
	else
		car->found_stale++;
	car->hum = 0;
}

static void follow_hum(struct game *game, struct actor *car, struct gains gains, uint64_t block)
{
	struct playing *playing = lfpool_pin(game->voices, car->hum);

	if (!playing) { /* stolen: the handle is stale */
		car->found_stale++;
		car->hum = 0;
		car->next = block + PATIENCE;
		return;
	}
	playing->voice.gains[(block + 1) % 2] = gains;
	(void)lfpool_set_priority(game->voices, car->hum, priority_of(HUM, gains));
	(void)lfpool_unpin(game->voices, car->hum);
}

static void drive(struct game *game, struct actor *car, uint64_t block)
{
	const struct gains gains = heard_from(car->x, car->y);
	const bool audible = sound_loudness(HUM, gains, 1) >= SOUND_AUDIBLE;

	if (!car->hum && audible && block >= car->next) {
		car->hum = start(game, car, gains, block);
		car->next = block + PATIENCE;
		car->quiet = 0;
		return;
	}
	if (car->hum)
		follow_hum(game, car, audible ? gains : (struct gains){0, 0}, block);
	car->quiet = audible ? 0 : car->quiet + 1;
	/* The first inaudible block makes the hum fade to nothing by the end of the second. */
	if (car->hum && car->quiet >= 3)
		stop_hum(game, car);
}

/* ---- All of them ------------------------------------------------------------------------------------------- */

static void place(struct actor *actor)
{
	const float far = scene[actor->kind].far;

	actor->x = random_between(&actor->random, -far, far);
	actor->y = random_between(&actor->random, -far, far);
}

void game_play(struct game *game, struct actor *actor, uint64_t block)
{
	actor->x += actor->speed_x / BLOCKS_PER_SECOND;
	actor->y += actor->speed_y / BLOCKS_PER_SECOND;
	if (hypotf(actor->x, actor->y) > scene[actor->kind].far &&
	    actor->x * actor->speed_x + actor->y * actor->speed_y > 0) {
		actor->speed_x = -actor->speed_x;
		actor->speed_y = -actor->speed_y;
	}
	if (actor->kind == HUM) {
		drive(game, actor, block);
	} else if (block >= actor->next) {
		/* The sound fades automatically: the handle is not kept. */
		(void)start(game, actor, heard_from(actor->x, actor->y), block);
		const float pause = random_between(&actor->random, scene[actor->kind].pause,
						   scene[actor->kind].longest_pause);

		actor->next = block + (uint64_t)(pause * BLOCKS_PER_SECOND);
		if (actor->kind == DROP)
			place(actor);
	}
}

void game_end(struct game *game, struct actor *actor)
{
	if (actor->hum)
		stop_hum(game, actor);
}

void game_init(struct game *game, uint64_t seed)
{
	game->count = 0;
	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned i = 0; i < scene[kind].count; i++) {
			struct actor *actor = &game->actors[game->count];

			*actor = (struct actor){.kind = (enum kind)kind, .random = random_for(seed, game->count)};
			game->count++;
			place(actor);
			/* Cars stay close to the street. */
			actor->y = kind == HUM ? actor->y / 10 : actor->y;
			const float to = kind == HUM ? 0 : random_between(&actor->random, 0, 6.2831853f);

			actor->speed_x = scene[kind].speed * cosf(to);
			actor->speed_y = scene[kind].speed * sinf(to);
			actor->next = random_below(&actor->random, BLOCKS_PER_SECOND);
		}
}
