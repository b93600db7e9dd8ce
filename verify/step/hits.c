/* SPDX-License-Identifier: MIT */
/*
 * hits.c - the price of a hit, exact: instructions, and how many of them are locked.
 *
 * Idea         A hit is recorded instruction by instruction; call, return and the store of the result are counted with
 *              it.  No hit may contain a locked instruction, and none more instructions than is written down here: the
 *              most of gcc 12 and clang 14, -O2 and -O3, and a tenth, for compilers to come.  An instruction is no
 *              nanosecond, but the count is the same on every machine and on a busy one.  Of a handle's look-up, and
 *              of an address's among three pools, the same is asked.
 * Control      The release that checks for races must be found to have its one locked instruction.
 */
#include <stdio.h>
#include <string.h>

#include "freeze.h"

static const struct {
	const char *operation;
	long ceiling, locked;
} hits[] = {
	{"acquire hit, inlined", 24, 0},
	{"release hit, inlined", 32, 0},
	{"acquire hit, function", 33, 0},
	{"release hit, function", 50, 0},
	{"acquire hit, thread's cache", 47, 0},
	{"release hit, thread's cache", 58, 0},
	{"acquire hit, built before", 30, 0},
	{"release hit, built before", 40, 0},
	{"handle of", 70, 0},
	{"resolve", 65, 0},
	{"pool of", 101, 0},
	{"release, races checked", 190, 1},
};

int main(void)
{
	static struct victim victim;
	unsigned passed = 0, failed = 0;

	stepper_open();
	victim_start(&victim);
	const struct operation *o;

	for (size_t i = 0; (o = operation_at(i)); i++) {
		size_t k = 0;

		while (k < sizeof(hits) / sizeof(*hits) && strcmp(hits[k].operation, o->name) != 0)
			k++;
		if (k == sizeof(hits) / sizeof(*hits))
			continue;
		victim_record(&victim, o);
		bool good = victim.moved == o->moves && victim.sleeper.stepper.length <= hits[k].ceiling &&
			    victim.sleeper.stepper.locked == hits[k].locked;

		printf("%s%-28s %3ld instructions of at most %3ld, %ld locked of %ld\n", good ? "" : "FAILED ",
		       o->name, victim.sleeper.stepper.length, hits[k].ceiling, victim.sleeper.stepper.locked,
		       hits[k].locked);
		(void)scene_close(&victim.scene);
		passed += good;
		failed += !good;
	}
	sleeper_stop(&victim.sleeper);
	if (failed)
		printf("Without membarrier(2), by refusal or LFPOOL_MEMBARRIER=off, there are no hits.\n");
	failed += passed + failed != sizeof(hits) / sizeof(*hits);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
