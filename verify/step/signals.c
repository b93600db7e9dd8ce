/* SPDX-License-Identifier: MIT */
/*
 * signals.c - a signal handler that has a cache of its own uses the pool before any instruction of any operation.
 *
 * Idea         There is one thread.  It runs each operation (table.c), and the handler of the trap before its n-th instruction is
 *              the signal handler: it calls all that docs/signals.md says may be called.  `empty`: it takes every
 *              object that is to be had, and gives all back, before instruction n alone, for every n.  `every`: it
 *              acquires and releases one before every instruction of one run, libc's too, up to a number: an
 *              operation that is lock-free need not end while it is disturbed without end.
 * Checks       No object that somebody holds; NULL only when at most those are missing that the interrupted call has in hand,
 *              as when a thread stands there; errno is what it was; nothing waits (SIGALRM); and at the end the pool is
 *              whole, each object once.
 * Control      `own`: the handler uses the cache, or is the thread, that it has interrupted.  That must be noticed.
 *
 *     verify_step_signals empty|every|own [--only TEXT]
 */
#include "hooks.h"
#include "peers.h"
#include "stepper.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STUCK_SECONDS 10
#define DISTURBED_MAX 20000 /* instructions of one run */
#define REPORTS_MAX 10
#define ERRNO_OURS 4242

enum mode { EMPTY, EVERY, OWN };

static struct stepper stepper;
static struct scene scene;
static const struct operation *operation;
static enum mode mode;
static const char *wrong;
static unsigned long interrupts;

/* ---- The signal handler ---- */

static bool has_no_caches(void)
{
	return operation->cache_capacity == LFPOOL_CACHE_NONE;
}

/* Where threads have no caches, the calls that need none as well. */
static lfpool_cache_t *cache_here(void)
{
	return mode == OWN ? scene.mine : has_no_caches() && interrupts % 2 ? NULL : scene.other;
}

static void *acquire_here(lfpool_cache_t *cache)
{
	return cache ? lfpool_cache_acquire(cache) : lfpool_acquire(scene.pool);
}

static void release_here(lfpool_cache_t *cache, void *object)
{
	if ((cache ? lfpool_cache_release(cache, object) : lfpool_release(scene.pool, object)) != LFPOOL_OK)
		wrong = "the handler's release was refused";
}

static void ask(void *object)
{
	const lfpool_handle_t handle = lfpool_handle_of(scene.pool, object);
	lfpool_stats_t stats = {.struct_size = sizeof(stats)};

	if (!lfpool_in_use(scene.pool, object))
		wrong = "what the handler acquired is not in use";
	if (lfpool_of(object) != scene.pool || lfpool_index_of(scene.pool, object) >= lfpool_max_capacity(scene.pool))
		wrong = "the handler's object is not the pool's";
	if (handle && lfpool_resolve(scene.pool, handle) != object)
		wrong = "the handler's object has a wrong handle";
	if (!lfpool_owns(scene.pool, object) || lfpool_available_count(scene.pool) > lfpool_capacity(scene.pool) ||
	    lfpool_misuse_count(scene.pool))
		wrong = "an object is not owned, a count is beyond the capacity, or there was misuse";
	if (lfpool_active_count(scene.pool) > lfpool_capacity(scene.pool) || lfpool_stats(scene.pool, &stats) != LFPOOL_OK ||
	    stats.active > stats.capacity)
		wrong = "a count is beyond the capacity";
}

static void take_one(void)
{
	lfpool_cache_t *cache = cache_here();
	void *object = NULL;

	/* The call for many, now and then. */
	if (!cache || interrupts % 3)
		object = acquire_here(cache);
	else
		(void)lfpool_cache_acquire_bulk(cache, &object, 1);
	if (!object)
		return;
	for (size_t i = 0; i < scene.held_count; i++)
		if (scene.held[i] == object)
			wrong = "the handler got an object that is held";
	ask(object);
	release_here(cache, object);
}

static void take_all(void)
{
	static struct holding h;
	lfpool_cache_t *cache = cache_here();
	const char *wrong_here = peer_drain(&scene, cache, &h);

	if (wrong_here)
		wrong = wrong_here;
	else if (lost(&scene, &h) < 0)
		wrong = "there are more objects than the pool has";
	else if (lost(&scene, &h) > lost_at_most(&scene, operation, &h))
		wrong = "the handler got NULL, and more objects are free than the call may have in hand";
	if (h.count)
		ask(h.objects[0]);
	if (cache && h.count % 2) {
		if (lfpool_cache_release_bulk(cache, h.objects, h.count) != h.count)
			wrong = "the handler's release of many was refused";
		return;
	}
	while (h.count)
		release_here(cache, h.objects[--h.count]);
}

static void handle_signal(void *nothing)
{
	const bool refused = hooks_refuse_me(false);

	(void)nothing;
	errno = ERRNO_OURS;
	/* Whoever waits is served by the handler. */
	while (scene.lent_count)
		release_here(scene.other, scene.lent[--scene.lent_count]);
	scene_await_caller(&scene);
	if (mode == EVERY)
		take_one();
	else
		take_all();
	if (errno != ERRNO_OURS)
		wrong = "errno was changed";
	(void)hooks_refuse_me(refused);
	if (++interrupts % DISTURBED_MAX == 0)
		stepper.everywhere = false;
}

/* ---- What is interrupted ---- */

static unsigned long failures;

static void on_stuck(int signal_number)
{
	static const char text[] = "FAILED: stuck\n";

	(void)signal_number;
	(void)write(STDOUT_FILENO, text, sizeof(text) - 1);
	_exit(1);
}

static void fail(const char *what)
{
	char place[640];

	where(place, sizeof(place), (uintptr_t)stepper.place);
	if (failures++ < REPORTS_MAX)
		printf("%s %s, interrupted before instruction %ld of %ld at %s: %s\n", mode == OWN ? "caught" : "FAILED",
		       operation->name, stepper.steps, stepper.length, place, what);
}

/* One run, as planned. */
static void run(void)
{
	struct holding h = {.count = 0};

	wrong = NULL;
	(void)alarm(STUCK_SECONDS);
	(void)hooks_wrong();
	scene_open(&scene, operation);
	operation->operate(&scene);
	if (!stepper.recording) {
		/* What the operation needs to end was done by the handler, or must be done now. */
		const char *refused = peer_return_lent(&scene);

		if (!wrong)
			wrong = refused ? refused : account(&scene, operation, &h);
		if (wrong)
			fail(wrong);
	}
	(void)scene_close(&scene);
	(void)alarm(0);
}

static void sweep(void)
{
	const unsigned long before = failures, interrupts_before = interrupts;

	/* Once for what happens only the first time. */
	stepper_plan_nothing(&stepper);
	run();
	stepper_plan_recording(&stepper);
	run();
	const long last = stepper.length;

	if (mode == EVERY) {
		interrupts = 0;
		stepper_plan_everywhere(&stepper);
		run();
	}
	for (long at = 0; mode != EVERY && at <= last && !(mode == OWN && failures); at++) {
		if (operation->special & IN_PROGRAM && !stepper_in_program(&stepper, at))
			continue;
		stepper_plan_stop(&stepper, at);
		run();
	}
	printf("%-30s %5ld instructions, %lu interrupts, %lu failures\n", operation->name, last,
	       mode == EVERY ? interrupts : interrupts - interrupts_before, failures - before);
	(void)fflush(stdout);
}

int main(int count, char **arguments)
{
	static const char *const modes[] = {"empty", "every", "own"};
	const char *only = count == 4 && strcmp(arguments[2], "--only") == 0 ? arguments[3] : "";
	unsigned passed = 0, failed = 0;

	while (count > 1 && mode <= OWN && strcmp(arguments[1], modes[mode]) != 0)
		mode++;
	if (count < 2 || mode > OWN || (count != 2 && !*only)) {
		fprintf(stderr, "usage: %s empty|every|own [--only TEXT]\n", arguments[0]);
		return 2;
	}
	if (mode == OWN)
		/* What is said about the pool's misuse is of no interest. */
		(void)freopen("/dev/null", "w", stderr);
	(void)signal(SIGALRM, on_stuck);
	stepper_open();
	stepper_attach(&stepper);
	stepper.interrupt = handle_signal;
	for (size_t i = 0; (operation = operation_at(i)); i++) {
		const unsigned long before = failures;

		if (!strstr(operation->name, only))
			continue;
		sweep();
		/* The control looks for what is wrong. */
		const bool good = (failures == before) == (mode != OWN);

		passed += good;
		failed += !good;
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
