/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - two threads stopped at once, each before every instruction: one that robs a cache, and the user of that
 * cache.
 *
 * Idea         The thief is stopped before its n-th instruction, then the user before its m-th.  A third thread
 *              empties the pool, and either releases everything or keeps it.  Then they continue, in either order.
 *              None may have another's object, and at the end every object must be there once.  A pop of the last
 *              object that loads top, and only then lets the thief's CAS happen, is found here, but not by stopping
 *              one thread.
 * Extent       n is every instruction of the theft itself, and the four ways to continue alternate; with
 *              LFPOOL_DEEP=1 every instruction of the thief's call, and all four ways at each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "scene.h"

#define LFPOOL_INLINE_KEEP_NAMES_
#include "lfpool/inline.h"

#define STUCK_SECONDS 10
#define REPORTS_MAX 10
#define BEFORE 60 /* the theft: this many instructions before the thief's CAS, and after it */
#define AFTER 40

static struct victim {
	struct sleeper sleeper;
	const struct operation *operation;
	struct scene scene;
} thief, user;
static unsigned long failures;

/* The thief makes the scene; the user joins it. */
static void act_thief(void)
{
	scene_open(&thief.scene, thief.operation);
	thief.operation->operate(&thief.scene);
}

static void act_user(void)
{
	user.operation->operate(&thief.scene);
}

static void record(struct victim *v, const struct operation *o)
{
	v->operation = o;
	v->sleeper.name = o->name;
	sleeper_rehearse(&v->sleeper, true);
}

static void steal(struct scene *s)
{
	s->got[0] = STEP(lfpool_cache_acquire_inline_(s->mine));
}

static void user_acquires(struct scene *s)
{
	s->got[1] = STEP(lfpool_cache_acquire_inline_(s->other));
}

static void user_releases(struct scene *s)
{
	s->released = STEP(lfpool_cache_release_inline_(s->other, s->given[0])) == LFPOOL_OK;
}

#define OF_EIGHT(text) .capacity = 8, .cache_capacity = 8, .setup = (text), .operate = steal

static const struct pair {
	struct operation thief, user;
} pairs[] = {
	/* The user's current holds one object; the same, and one is released; it is empty, and its stack has a full
	 * one. */
	{{.name = "steal one", OF_EIGHT("other all -1 want 2")},
	 {.name = "acquire the last", .operate = user_acquires}},
	{{.name = "steal one", OF_EIGHT("other all -1 older want 1")}, {.name = "release", .operate = user_releases}},
	{{.name = "rob a magazine", OF_EIGHT("other all -8 +4 want 2")},
	 {.name = "refill own", .operate = user_acquires}},
};

/* Both are stopped. way: bit 0, the user continues first; bit 1, the third keeps its objects. */
static void visit(unsigned way)
{
	struct scene *s = &thief.scene;
	struct holding h = {.count = 0};
	char text[2][1024];

	beat("a third emptied the pool");
	const char *wrong = peer_drain(s, NULL, &h);

	if (!wrong && (lost(s, &h) < 0 || lost(s, &h) > 2))
		wrong = "more objects are lost than two calls can hold";
	if (!wrong && !(way & 2))
		wrong = peer_give_back(s->pool, &h);
	beat("the two finished");
	sleeper_resume(way & 1 ? &user.sleeper : &thief.sleeper);
	sleeper_resume(way & 1 ? &thief.sleeper : &user.sleeper);
	if (!wrong)
		wrong = account(s, thief.operation, &h);
	if (!wrong || failures++ >= REPORTS_MAX)
		return;
	sleeper_describe(&thief.sleeper, text[0], sizeof(text[0]));
	sleeper_describe(&user.sleeper, text[1], sizeof(text[1]));
	printf("%s: %s\n  %s\n  %s\n  the %s first, the third %s\n", drive_mutant ? "caught" : "FAILED", wrong, text[0],
	       text[1], way & 1 ? "user" : "thief", way & 2 ? "keeps all" : "gives all back");
	(void)fflush(stdout);
}

/* The thief before instruction n; the user before each of its instructions. */
static long sweep_user(const struct pair *p, long n)
{
	/* Two of the four ways to continue. */
	const unsigned step = getenv("LFPOOL_DEEP") || drive_mutant ? 1 : 2;
	long points = 0, last = 1;

	/* With the thief there the user may take another path, so it is recorded again. */
	for (long m = -1; m <= last && !(drive_mutant && failures); m++) {
		if (m > 0 && !stepper_is_another(&user.sleeper.stepper, m))
			continue;
		for (unsigned way = (unsigned)(m + n) % step; way < (m < 0 ? step : 4); way += step) {
			if (!sleeper_run(&thief.sleeper, n)) {
				(void)scene_close(&thief.scene);
				return points;
			}
			if (m < 0) {
				record(&user, &p->user);
				last = user.sleeper.stepper.length;
				sleeper_abandon(&thief.sleeper);
			} else if (sleeper_run(&user.sleeper, m)) {
				visit(way);
				points++;
			} else {
				sleeper_abandon(&thief.sleeper);
			}
			(void)scene_close(&thief.scene);
		}
	}
	return points;
}

/* All places of one pair. */
static bool sweep(const struct pair *p)
{
	const unsigned long failures_before = failures;
	const bool deep = getenv("LFPOOL_DEEP") != NULL;
	long points = 0;

	/* First a run for one-time work. */
	for (int i = 0; i < 2; i++) {
		record(&thief, &p->thief);
		(void)scene_close(&thief.scene);
	}

	const long first = deep ? 0 : thief.sleeper.stepper.locked_at - BEFORE;
	const long last = deep ? thief.sleeper.stepper.length : first + BEFORE + AFTER;

	for (long n = first; n <= last && !(drive_mutant && failures); n++)
		if (n == first || stepper_is_another(&thief.sleeper.stepper, n))
			points += sweep_user(p, n);
	printf("%s, %s: %ld points, %lu failures\n", p->thief.name, p->user.name, points, failures - failures_before);
	(void)fflush(stdout);
	return failures == failures_before && points > 0;
}

bool pairs_run(const char *only)
{
	bool good = true;

	thief.sleeper.act = act_thief;
	user.sleeper.act = act_user;
	sleeper_start(&thief.sleeper);
	sleeper_start(&user.sleeper);
	watchdog_start(&thief.sleeper, STUCK_SECONDS, false);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs) && !(drive_mutant && failures); i++)
		if (strstr(pairs[i].thief.name, only))
			good &= sweep(&pairs[i]);
	sleeper_stop(&thief.sleeper);
	sleeper_stop(&user.sleeper);
	return drive_mutant ? failures > 0 : good;
}
