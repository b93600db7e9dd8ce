/* SPDX-License-Identifier: MIT */
/*
 * evict.c - as freeze.c, of an evicting pool: a thread that stands before any instruction of any operation holds up
 * nobody, takes nothing with it but what is in its hands, and hides nothing: what goes first goes first.
 *
 * Idea         For each operation (evict_operations.c) and each n = 0, 1, 2, ... : a fresh pool; the sleeper runs the
 *              operation up to its n-th instruction and stands there.  The driver acquires with the highest priority
 *              until that is refused: it must get every object but those that the sleeper's caller has pinned or not
 *              published, and at most the one that the sleeper has in its hands; and what it evicts must come in
 *              order, but for the one that the sleeper is changing.  A second thread finds nothing more.  What the
 *              driver has it publishes, and the second thread releases the least until there is none: in order again.
 *              Both use the pool at once, and the driver empties it once more.  Nothing of this may take 10 s.  Then,
 *              by `pass`, the sleeper goes on, or never does.
 *              Pass `meet`: they change but one thing or two (evict_meet.c), and it goes on.
 * At the end   Whatever the sleeper evicted when it went on was the least; the tree is in order; all objects are there,
 *              each once.
 * Controls     `--mutant N`, in a build with seeded bugs: bug N must be caught; in pass `control` by others who get
 *              stuck, and get on when the sleeper does.
 *
 *     verify_step_evict give-back|hold|never|fork|control|meet [--only TEXT] [--at N] [--mutant N]     (options.h)
 */
#include "evict.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "options.h"
#include "sleeper.h"

#define STUCK_SECONDS 10
#define CONTROL_SECONDS 1 /* then the sleeper goes on, and whoever was stuck must follow */
#define CONTROL_POINTS 3
#define REPORTS_MAX 10

enum order { FIND_NOTHING, RELEASE_ALL, CHURN };

static struct evict_scene scene;
static struct sleeper sleeper;
static struct worker worker;
static enum order order;
static struct list released; /* by the worker */
static unsigned rounds = 40;
static unsigned long failures;

/* ---- The threads ---- */

static void act(void *context)
{
	evict_scene_open(&scene, context);
	evict_scene_operate(&scene);
}

static const char *work(void *context)
{
	(void)context;
	if (order == CHURN)
		return others_churn(&scene, 2, rounds);
	return order == FIND_NOTHING ? others_find_nothing(&scene) : others_release_all_min(&scene, &released);
}

static void give_order(enum order next)
{
	order = next;
	worker_order(&worker);
}

static const char *obey(enum order next)
{
	give_order(next);
	return worker_answer(&worker);
}

static void fail(const char *pass, const char *wrong)
{
	char text[1024];

	sleeper_describe(&sleeper, text, sizeof(text));
	if (failures++ < REPORTS_MAX)
		printf("%s (%s) %s: %s\n", verify_mutant ? "caught" : "FAILED", pass, text, wrong);
}

/* ---- What the others do while it stands ---- */

/* The driver gets all that is to be had; of items, what is due. */
static const char *empty_pool(struct share *h, long *worst)
{
	struct list due = {.count = 0};
	static char text[128];
	const char *wrong;

	list_add_items(&due, &scene);
	list_sort(&due);
	if ((wrong = others_take_all(&scene, h)))
		return wrong;
	if (!list_is(&due, &h->evicted, &scene))
		return "objects were not evicted in the right order";

	const long lost = lost_of(&scene, h);

	if (lost < 0)
		return "there are more objects than the pool has";
	if (lost > scene.operation->lost) {
		(void)snprintf(text, sizeof(text), "%ld objects cannot be had; at most %ld may be in the call's hands",
			       lost, scene.operation->lost);
		return text;
	}
	if (lost > *worst)
		*worst = lost;
	return account_handles(&scene);
}

/* What the driver has is published, and released by `by`, the least first. */
static const char *release_in_order(struct share *h, const char *(*by)(void))
{
	struct list due = {.count = 0};
	const char *wrong = others_publish(&scene, h, false);

	list_add_share(&due, h);
	list_sort(&due);
	h->count = 0;
	if (wrong || (wrong = by()))
		return wrong;
	return list_is(&due, &released, &scene) ? NULL : "objects were not released in the right order";
}

static const char *worker_releases(void)
{
	return obey(RELEASE_ALL);
}

static const char *driver_releases(void)
{
	return others_release_all_min(&scene, &released);
}

/* Leaves the driver with everything in `h` if it returns NULL. */
static const char *live_on(struct share *h, long *worst)
{
	const char *wrong, *wrong_too;

	beat("one acquired everything");
	if ((wrong = empty_pool(h, worst)))
		return wrong;
	beat("another looked for more");
	if ((wrong = obey(FIND_NOTHING)))
		return wrong;
	beat("another released everything");
	if ((wrong = release_in_order(h, worker_releases)))
		return wrong;
	beat("both used the pool");
	give_order(CHURN);
	wrong = others_churn(&scene, 1, rounds);
	wrong_too = worker_answer(&worker);
	if (wrong || wrong_too)
		return wrong ? wrong : wrong_too;
	beat("one acquired everything again");
	if ((wrong = empty_pool(h, worst)))
		return wrong;
	return evict_hook_wrong() ? "on_evict was told something wrong, or of an object that was still active" : NULL;
}

/* In the child: its thread is the only one.  Exit status: the objects lost, or 99. */
static _Noreturn void live_on_as_child(struct share *h)
{
	const char *wrong;
	long worst = 0;

	(void)alarm(STUCK_SECONDS);
	(void)((wrong = release_in_order(h, driver_releases)) || (wrong = others_churn(&scene, 1, rounds)) ||
	       (wrong = empty_pool(h, &worst)));
	if (wrong)
		fail("fork, in the child", wrong);
	(void)fflush(stdout);
	_exit(wrong ? 99 : (int)worst);
}

static const char *fork_and_live_on(struct share *h, long *worst)
{
	int status;

	beat("a child used the pool");
	(void)fflush(stdout);
	const pid_t child = fork();

	if (child == 0)
		live_on_as_child(h);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return "no child";
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGALRM ? "the child was stuck" : "the child was killed";
	if (WEXITSTATUS(status) == 99)
		return "wrong in the child";
	if (WEXITSTATUS(status) > *worst)
		*worst = WEXITSTATUS(status);
	return NULL;
}

/* ---- What becomes of it ---- */

/* It goes on where only little has changed. */
static const char *meet(struct share *h)
{
	beat("another met it");
	/* The same again when it is replayed. */
	const long kind = sleeper.stepper.stop_at + (scene.operation - evict_operations);
	const char *wrong = others_meet(&scene, h, (unsigned)kind);

	beat("the sleeper finished");
	sleeper_resume(&sleeper);
	beat("all was counted");
	if (!wrong)
		wrong = account_at_rest(&scene, h);
	return !wrong && evict_hook_wrong() ? "on_evict was told something wrong" : wrong;
}

/* It goes on in a pool where others have published all that there is anew, or two thirds; or where they have it all. */
static const char *go_on(enum pass pass, struct share *h)
{
	const char *wrong = pass == PASS_HOLD ? others_keep(&scene, h)
					      : others_publish(&scene, h, sleeper.stepper.stop_at % 2);

	scene.seen = scene.evicted.count;
	beat("the sleeper finished");
	sleeper_resume(&sleeper);
	beat("all was counted");
	if (!wrong)
		wrong = account_at_rest(&scene, h);
	return !wrong && evict_hook_wrong() ? "on_evict was told something wrong" : wrong;
}

/* The sleeper stands; true if all is well afterwards. */
static bool visit(enum pass pass, const char *name, long *worst)
{
	struct share h = {.count = 0};
	const char *wrong = pass == PASS_MEET ? meet(&h) : live_on(&h, worst);

	if (watchdog_rescued()) {
		sleeper_resume(&sleeper);
		return false;
	}
	if (!wrong && pass == PASS_FORK) {
		wrong = fork_and_live_on(&h, worst);
	} else if (!wrong && pass == PASS_NEVER) {
		sleeper_abandon(&sleeper);
		/* The pool's life goes on as if that thread had never been. */
		if (!(wrong = others_give_back(&scene, &h)))
			wrong = live_on(&h, worst);
	} else if (!wrong && pass != PASS_MEET) {
		wrong = go_on(pass, &h);
	}
	if (wrong)
		fail(name, wrong);
	sleeper_abandon(&sleeper);
	return wrong == NULL;
}

/* Undisturbed: it must do what its name says, and all must be well. */
static void record(const struct evict_operation *o)
{
	struct share nothing = {.count = 0};

	sleeper.name = o->name;
	sleeper.context = (void *)(uintptr_t)o;
	/* Once for what happens only the first time, in libc and here; then for the recording. */
	sleeper_rehearse(&sleeper, false);
	evict_scene_close(&scene);
	sleeper_rehearse(&sleeper, true);
	scene.seen = scene.evicted.count;

	const char *wrong = account_at_rest(&scene, &nothing);

	if (!verify_mutant && scene.moved != o->moves) {
		printf("FAILED %s: it is meant to change %#x, and changes %#x\n", o->name, o->moves, scene.moved);
		failures++;
	}
	if (!verify_mutant && wrong) {
		printf("FAILED %s, undisturbed: %s\n", o->name, wrong);
		failures++;
	}
	evict_scene_close(&scene);
}

/* All points of one operation; true if all is well. */
static bool sweep(const struct evict_operation *o, const struct options *options)
{
	const unsigned long failures_before = failures;
	const long stride = options_stride(options->pass);
	long worst = 0, points = 0;

	record(o);

	const long only = options->at, last = only < 0 ? sleeper.stepper.length : only;

	/* With a stride, other places in each operation. */
	const long from = only < 0 ? (o - evict_operations) % stride : only;

	for (long at = from; at <= last && !(verify_mutant && failures); at += stride) {
		const bool stopped = sleeper_run(&sleeper, at);

		if (!stopped || sleeper.stepper.strayed) {
			if (stopped)
				sleeper_resume(&sleeper);
			fail(options->name, "it went another way than in the recording");
		} else {
			points++;
			(void)visit(options->pass, options->name, &worst);
		}
		evict_scene_close(&scene);
	}
	printf("%-42s %5ld instructions, %2ld locked; %5ld points, at most %ld lost; %lu failures\n", o->name,
	       sleeper.stepper.length, sleeper.stepper.locked, points, worst, failures - failures_before);
	(void)fflush(stdout);
	return failures == failures_before && points > 0;
}

/* Of a seeded bug: some points must be stuck, and each must get on when the sleeper does. */
static bool sweep_control(const struct evict_operation *o)
{
	long stuck = 0, points = 0, worst = 0;

	record(o);
	while (stuck < CONTROL_POINTS && points <= sleeper.stepper.length && sleeper_run(&sleeper, points)) {
		const unsigned long failures_before = failures;
		char text[1024];

		sleeper_describe(&sleeper, text, sizeof(text));
		if (!visit(PASS_GIVE_BACK, "control", &worst) && failures == failures_before) {
			stuck++;
			printf("caught: the others were stuck until it went on: %s\n", text);
		}
		evict_scene_close(&scene);
		points++;
	}
	printf("%-32s %ld of %ld points stuck (then stopped)\n", o->name, stuck, points);
	return stuck == CONTROL_POINTS;
}

int main(int count, char **arguments)
{
	const struct options options = options_parse(count, arguments, PASS_MEET);
	const bool control = options.pass == PASS_CONTROL;
	unsigned passed = 0, failed = 0;

	if (getenv("LFPOOL_DEEP"))
		rounds = 1000;
	/* Stopping it must be what brings a seeded bug to light, not the others' chance meetings. */
	if (verify_mutant)
		rounds = 1;
	stepper_open();
	sleeper.act = act;
	sleeper_start(&sleeper);
	worker.work = work;
	worker_start(&worker);
	watchdog_start(&sleeper, control ? CONTROL_SECONDS : STUCK_SECONDS, control);
	for (size_t i = 0; i < evict_operation_count; i++) {
		const struct evict_operation *o = &evict_operations[i];

		if (!strstr(o->name, options.only))
			continue;
		bool good = control ? sweep_control(o) : sweep(o, &options);

		/* The control looks for what is wrong anyway. */
		if (verify_mutant && !control)
			good = !good;
		passed += good;
		failed += !good;
		if (verify_mutant)
			break;
	}
	sleeper_stop(&sleeper);
	worker_stop(&worker);
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
