/* SPDX-License-Identifier: MIT */
/*
 * leak_hunt - a small game loop with a planted mistake, for trying out the debug modes.
 *
 *     leak_hunt none|leak|late_write|double_release
 *
 * Ships are spawned, fire at each other, and explode.  Each argument plants one mistake of the kind that causes a
 * crash an hour later, in another module.  The program alone reports nothing; with
 *
 *     LFPOOL_DEBUG=poison,owner,quarantine=64,backtrace=1/1 leak_hunt late_write
 *
 * the library names the object, the byte, and the thread that released it.  docs/debugging.md goes through the three
 * mistakes.
 */
#include <stdio.h>
#include <string.h>

#include "lfpool/debug.h"
#include "lfpool/lfpool.h"

#define SHIPS 200
#define FRAMES 100

struct ship {
	int health;
	int ammunition;
	struct ship *target;
	char name[32];
};

static lfpool_t *pool;
static struct ship *fleet[SHIPS];
static const char *mistake;

static bool planted(const char *name)
{
	return strcmp(mistake, name) == 0;
}

/* Not static: a backtrace shows their names. */
struct ship *spawn_ship(int number);
void explode(int number);

struct ship *spawn_ship(int number)
{
	struct ship *ship = lfpool_acquire(pool);

	if (!ship)
		return NULL;
	lfpool_label(pool, ship, number % 10 ? "fleet" : "flagship");
	ship->health = 3;
	ship->ammunition = 10;
	ship->target = NULL;
	snprintf(ship->name, sizeof(ship->name), "ship %d", number);
	return ship;
}

void explode(int number)
{
	struct ship *ship = fleet[number];

	fleet[number] = NULL;
	/* A boarded ship explodes without being released: the program has lost it. */
	if (planted("leak") && ship->ammunition == 0)
		return;
	(void)lfpool_release(pool, ship);
	/* A second "cleanup" at the end of the same function. */
	if (planted("double_release") && number == 7)
		(void)lfpool_release(pool, ship);
}

static void fire(int number)
{
	struct ship *ship = fleet[number];

	if (ship->target) {
		/* The target may have exploded since: handles (lfpool/handle.h) solve this. */
		bool there = false;

		for (int i = 0; i < SHIPS; i++)
			there |= fleet[i] == ship->target;
		if (there || planted("late_write"))
			ship->target->health--;
		ship->target = NULL;
	} else {
		ship->target = fleet[(number + 1) % SHIPS];
	}
}

static void run_frame(int frame)
{
	for (int i = 0; i < SHIPS; i++)
		if (!fleet[i] && (i + frame) % 3 == 0)
			fleet[i] = spawn_ship(i);
	for (int i = 0; i < SHIPS; i++) {
		if (!fleet[i])
			continue;
		if ((i + frame) % 4 == 0 && i % 25 == 3)
			fleet[i]->ammunition = 0; /* it is boarded */
		if ((i * 7 + frame) % 13 == 0)
			explode(i);
		else
			fire(i);
	}
}

int main(int argc, char **argv)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	mistake = argc == 2 ? argv[1] : "none";
	config.name = "ships";
	config.object_size = sizeof(struct ship);
	config.capacity = 2000;
	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		return 1;
	for (int frame = 0; frame < FRAMES; frame++)
		run_frame(frame);
	for (int i = 0; i < SHIPS; i++)
		if (fleet[i])
			explode(i);
	printf("%d frames, %zu ships left over\n", FRAMES, lfpool_destroy(pool));
	return 0;
}
