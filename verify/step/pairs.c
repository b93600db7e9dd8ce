/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - two threads stopped at once: one that robs a cache, and the user of that cache; each before every
 * instruction.
 *
 * Idea         The thief is stopped before its n-th instruction, then the user before his m-th.  A third empties the
 *              pool, and either gives it back or keeps it.  Then they go on, in either order.  Nobody may have what
 *              another has, and at the end everything must be there, each once.  A pop of the last object that loads
 *              top, and only then lets the thief's CAS happen, is met here and not by stopping one thread.
 * Extent       n is every instruction of the theft itself, and the four ways to go on take turns; with LFPOOL_DEEP=1
 *              every instruction of the thief's call, and all four ways at each.
 *
 *     verify_step_pairs [--mutant N]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "freeze.h"
#include "options.h"

#define LFPOOL_INLINE_KEEP_NAMES
#include "lfpool/inline.h"

#define STUCK_SECONDS 10
#define REPORTS_MAX 10


static struct victim thief, user;
static unsigned long failures;

static void prepare(struct scene *s, size_t give_back)
{
	while ((s->held[s->held_count] = lfpool_cache_acquire(s->other)))
		s->held_count++;
	while (give_back--)
		(void)lfpool_cache_release(s->other, s->held[--s->held_count]);
}

/* The user's current holds one object. */
static void prepare_last(struct scene *s)
{
	prepare(s, 1);
	s->wanted = 2;
}

/* It holds one, and one comes back. */
static void prepare_release(struct scene *s)
{
	prepare(s, 1);
	s->given[s->given_count++] = s->held[0];
	s->held[0] = s->held[--s->held_count];
	s->wanted = 1;
}

/* The user's current is empty, his previous full. */
static void prepare_previous(struct scene *s)
{
	prepare(s, 8);
	while (s->held_count < 4)
		s->held[s->held_count++] = lfpool_cache_acquire(s->other);
	s->wanted = 2;
}

static void steal(struct scene *s)
{
	STEP_BEGIN();
	s->got[0] = lfpool_cache_acquire_inline(s->mine);
	STEP_END();
}

static void user_acquires(struct scene *s)
{
	STEP_BEGIN();
	s->got[1] = lfpool_cache_acquire_inline(s->other);
	STEP_END();
}

static void user_releases(struct scene *s)
{
	STEP_BEGIN();
	s->released = lfpool_cache_release_inline(s->other, s->given[0]) == LFPOOL_OK;
	STEP_END();
}

static const struct pair {
	struct operation thief, user;
	long before, after; /* the theft: so many instructions before the thief's CAS, and behind it */
} pairs[] = {
	{{.name = "steal one", .capacity = 8, .cache_capacity = 8, .prepare = prepare_last, .operate = steal},
	 {.name = "acquire the last", .operate = user_acquires}, 60, 40},
	{{.name = "steal one", .capacity = 8, .cache_capacity = 8, .prepare = prepare_release, .operate = steal},
	 {.name = "release", .operate = user_releases}, 60, 40},
	{{.name = "rob previous", .capacity = 8, .cache_capacity = 8, .prepare = prepare_previous, .operate = steal},
	 {.name = "swap back", .operate = user_acquires}, 60, 40},
};

/* Everything is somebody's. */
static const char *gather(struct scene *s, struct holding *h)
{
	const char *wrong = s->released == s->given_count ? NULL : "a release was refused";

	for (size_t i = 0; !wrong && i < s->wanted; i++) {
		for (size_t k = 0; s->got[i] && k < h->count; k++)
			if (h->objects[k] == s->got[i])
				wrong = "one of the two got an object that the third holds";
		if (i && s->got[i] && s->got[i] == s->got[0])
			wrong = "both got the same object";
	}
	if (!wrong)
		wrong = peer_give_back(s->pool, h);
	for (size_t i = 0; i < s->wanted; i++)
		if (s->got[i])
			(void)lfpool_release(s->pool, s->got[i]);
	for (size_t i = 0; i < s->held_count; i++)
		(void)lfpool_release(s->pool, s->held[i]);
	s->held_count = s->wanted = 0;
	if (!wrong)
		wrong = peer_drain(s, NULL, h);
	if (!wrong && (h->count != lfpool_capacity(s->pool) || lfpool_misuse_count(s->pool)))
		wrong = "objects are missing at the end, or a release was refused on the way";
	return wrong ? wrong : scene_check(s);
}

/* Both stand.  way: bit 0, the user goes on first; bit 1, the third keeps what it got. */
static void visit(unsigned way)
{
	struct scene *s = &thief.scene;
	struct holding h = {.count = 0};
	char text[2][1024];

	beat("a third emptied the pool");
	const char *wrong = peer_drain(s, NULL, &h);

	if (!wrong && (lost(s, &h) < 0 || lost(s, &h) > 2))
		wrong = "more is lost than two calls can have in hand";
	if (!wrong && !(way & 2))
		wrong = peer_give_back(s->pool, &h);
	beat("the two finished");
	sleeper_resume(way & 1 ? &user.sleeper : &thief.sleeper);
	sleeper_resume(way & 1 ? &thief.sleeper : &user.sleeper);
	if (!wrong)
		wrong = gather(s, &h);
	if (!wrong || failures++ >= REPORTS_MAX)
		return;
	sleeper_describe(&thief.sleeper, text[0], sizeof(text[0]));
	sleeper_describe(&user.sleeper, text[1], sizeof(text[1]));
	printf("%s: %s\n  %s\n  %s\n  the %s first, the third %s\n", verify_mutant ? "caught" : "FAILED", wrong,
	       text[0], text[1], way & 1 ? "user" : "thief", way & 2 ? "keeps all" : "gives all back");
	(void)fflush(stdout);
}

/* The thief before instruction n; the user before all of his. */
static long sweep_user(const struct pair *p, long n)
{
	/* Of the four ways to go on one, at every other half of the places. */
	const unsigned step = getenv("LFPOOL_DEEP") ? 1 : 8;
	long points = 0, last = 1;

	/* With the thief standing there the user's way may be another: it is recorded anew. */
	for (long m = -1; m <= last && !(verify_mutant && failures); m++) {
		for (unsigned way = (unsigned)(m + n) % step; way < (m < 0 ? step : 4); way += step) {
			if (!sleeper_run(&thief.sleeper, n)) {
				(void)scene_close(&thief.scene);
				return points;
			}
			user.guest_of = &thief.scene;
			if (m < 0) {
				victim_record_guest(&user, &p->user);
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

int main(int count, char **arguments)
{
	unsigned passed = 0, failed = 0;

	if (count == 3 && strcmp(arguments[1], "--mutant") == 0)
		verify_mutant = (int)strtol(arguments[2], NULL, 10);
	stepper_open();
	victim_start(&thief);
	victim_start(&user);
	watchdog_start(&thief.sleeper, STUCK_SECONDS, false);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs) && !(verify_mutant && failures); i++) {
		const struct pair *p = &pairs[i];
		const unsigned long failures_before = failures;
		long points = 0;

		victim_record(&thief, &p->thief);
		(void)scene_close(&thief.scene);
		const bool deep = getenv("LFPOOL_DEEP") != NULL;
		const long first = deep ? 0 : thief.sleeper.stepper.locked_at - p->before;
		const long last = deep ? thief.sleeper.stepper.length : first + p->before + p->after;

		for (long n = first; n <= last && !(verify_mutant && failures); n++)
			points += sweep_user(p, n);
		printf("%s, %s: %ld points, %lu failures\n", p->thief.name, p->user.name, points,
		       failures - failures_before);
		if (!verify_mutant) {
			passed += failures == failures_before && points > 0;
			failed += failures != failures_before || points == 0;
		}
	}
	if (verify_mutant) {
		passed = failures > 0;
		failed = !passed;
	}
	sleeper_stop(&thief.sleeper);
	sleeper_stop(&user.sleeper);
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
