/* SPDX-License-Identifier: MIT */
/*
 * evict_hits.c - as hits.c, of an evicting pool of two levels that nobody else uses: what its calls cost.
 *
 * Idea         How many locked instructions a call makes is part of the design: a pin, and an unpin or a publish that
 *              climbs nowhere, make one; an update two (the spare record, the state); each node that is written two more;
 *              a question none.  The ceilings are the most of gcc 12 and clang 14, -O2 and -O3, and a tenth.
 */
#include <stdio.h>
#include <string.h>

#include "evict.h"
#include "sleeper.h"

static const struct {
	const char *operation;
	long ceiling, locked;
} hits[] = {
	{"acquire, a free slot", 119, 2},
	{"publish, climbs nowhere", 375, 1},
	{"publish, climbs to the root", 952, 5},
	{"update, climbs nowhere", 450, 2},
	{"update, becomes the least", 1026, 6},
	{"pin, another", 184, 1},
	{"unpin, climbs nowhere", 387, 1},
	{"release, another", 212, 2},
	{"see the least", 128, 0},
	{"is active", 83, 0},
	{"look", 91, 0},
	{"get", 92, 0},
};

static struct evict_scene scene;

static void act(void *context)
{
	evict_scene_open(&scene, context);
	evict_scene_operate(&scene);
}

int main(void)
{
	static struct sleeper sleeper = {.act = act};
	const struct stepper *recorded = &sleeper.stepper;
	unsigned passed = 0, failed = 0;

	stepper_open();
	sleeper_start(&sleeper);
	for (size_t i = 0; i < evict_operation_count; i++) {
		const struct evict_operation *o = &evict_operations[i];
		size_t k = 0;

		while (k < sizeof(hits) / sizeof(*hits) && strcmp(hits[k].operation, o->name) != 0)
			k++;
		if (k == sizeof(hits) / sizeof(*hits))
			continue;
		sleeper.context = (void *)(uintptr_t)o;
		sleeper_rehearse(&sleeper, true);

		const bool good = scene.moved == o->moves && recorded->length <= hits[k].ceiling &&
				  recorded->locked == hits[k].locked;

		printf("%s%-28s %4ld instructions of at most %4ld, %ld locked of %ld\n", good ? "" : "FAILED ", o->name,
		       recorded->length, hits[k].ceiling, recorded->locked, hits[k].locked);
		evict_scene_close(&scene);
		passed += good;
		failed += !good;
	}
	sleeper_stop(&sleeper);
	failed += passed + failed != sizeof(hits) / sizeof(*hits);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
