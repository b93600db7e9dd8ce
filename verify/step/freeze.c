/* SPDX-License-Identifier: MIT */
/*
 * freeze.c - a thread that stands before any instruction of any operation holds up nobody, and takes nothing with it
 * but what is in its hands.
 *
 * Idea         For each operation (operations.c) and each n = 0, 1, 2, ... : a fresh pool, the victim runs the
 *              operation up to its n-th instruction and stands there.  The driver empties the pool, the peer hears that
 *              it is empty; all goes back; both use the pool at once; the peer empties it, and the driver again.
 *              Nothing of this may take 10 s, and they must get every object but those that the victim's caller holds,
 *              and at most the one that is on its way.  Then, by `pass`, the victim goes on, or never does.
 * At the end   The objects of all hands together are the pool's, each once, and each magazine is in one place.
 * Controls     `control`: with LFPOOL_BACKEND=mutex in the environment the others must get stuck, and must get on when
 *              the victim does.  `--mutant N`, in a build with seeded bugs: bug N must be caught.
 *
 *     verify_step_freeze give-back|hold|never|fork|heirs|control [--only TEXT] [--at N] [--mutant N]     (options.h)
 */
#include "freeze.h"

#include "account.h"
#include "heirs.h"
#include "hooks.h"
#include "options.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define STUCK_SECONDS 10
#define CONTROL_SECONDS 1 /* then the victim goes on, and whoever was stuck must follow */
#define CONTROL_POINTS 3
#define REPORTS_MAX 10
#define STAMP (UINT64_C(1) << 32)

static struct victim victim;
static struct peer peer;
static unsigned rounds = 128;
static unsigned long failures;

static bool fail(const char *pass, const char *wrong)
{
	char text[1024];

	sleeper_describe(&victim.sleeper, text, sizeof(text));
	if (failures++ < REPORTS_MAX)
		printf("%s (%s) %s: %s\n", verify_mutant ? "caught" : "FAILED", pass, text, wrong);
	return false;
}

/* Empties the pool through `cache` into `h`; NULL, or what is wrong with what there was. */
static const char *drain(lfpool_cache_t *cache, struct holding *h, long *worst)
{
	const struct scene *s = &victim.scene;
	const char *wrong = peer_drain(s, cache, h);
	static char text[128];

	if (wrong)
		return wrong;
	if (lost(s, h) < 0)
		return "there are more objects than the pool has";
	if (lost(s, h) > lost_at_most(s, victim.operation, h)) {
		(void)snprintf(text, sizeof(text), "%ld objects cannot be had; at most %ld may be in the call's hands",
			       lost(s, h), lost_at_most(s, victim.operation, h));
		return text;
	}
	if (lost(s, h) > *worst)
		*worst = lost(s, h);
	return NULL;
}

/* The peer empties the pool; if the others hold `held` besides, `missing` objects must be nobody's then. */
static const char *peer_finds(size_t held, long missing, const char *wrong_count)
{
	const char *wrong;

	peer_order(&peer, &victim.scene, 0);
	wrong = worker_answer(&peer.worker);
	return wrong || lost(&victim.scene, &peer.holding) - (long)held == missing ? wrong : wrong_count;
}

/* The others release what they hold, and whoever sleeps for an object must get one by that. */
static const char *return_lent(struct scene *s)
{
	while (s->lent_count)
		if (lfpool_release(s->pool, s->lent[--s->lent_count]) != LFPOOL_OK)
			return "a peer's release was refused";
	beat("a call that waits was served");
	scene_await_caller(s);
	return NULL;
}

/* What the others do while the victim stands.  Leaves the driver with everything in `h` if it returns NULL. */
static const char *live_on(struct holding *h, long *worst)
{
	struct scene *s = &victim.scene;
	const char *wrong, *wrong_too;
	long missing;

	if (victim.operation->special & AMONG_POOLS) {
		beat("pools were created and destroyed");
		if ((wrong = peer_make_pools(s)))
			return wrong;
	}
	if ((wrong = return_lent(s)))
		return wrong;
	/* First of all, as the user of the cache that the victim may be about to rob. */
	beat("one emptied the pool");
	if ((wrong = drain(s->other, h, worst)))
		return wrong;
	missing = lost(s, h);
	if ((wrong = peer_finds(h->count, missing, "a peer got an object when the driver had been told that there is none")))
		return wrong;
	beat("both used the pool");
	if ((wrong = peer_give_back(s->pool, h)))
		return wrong;
	peer_order(&peer, s, rounds);
	wrong = peer_churn(s->pool, STAMP, rounds);
	wrong_too = worker_answer(&peer.worker);
	if (wrong || wrong_too)
		return wrong ? wrong : wrong_too;
	beat("the other emptied the pool");
	if ((wrong = peer_finds(0, missing, "the second peer got another number of objects than the first")))
		return wrong;
	beat("one emptied the pool again");
	if ((wrong = peer_give_back(s->pool, &peer.holding)) || (wrong = drain(NULL, h, worst)))
		return wrong;
	return hooks_wrong() ? "a hook was called out of turn" : NULL;
}

/* In the child: its thread is the only one.  Exit status: the objects lost, or 99. */
static _Noreturn void live_on_as_child(enum pass pass, struct holding *h)
{
	struct scene *s = &victim.scene;
	long worst = 0;
	const char *wrong;

	(void)alarm(STUCK_SECONDS);
	if (pass == PASS_HEIRS) {
		wrong = heirs_inherit(s, victim.operation, h, &worst);
	} else {
		wrong = peer_give_back(s->pool, h);
		if (!wrong)
			wrong = peer_churn(s->pool, STAMP, rounds);
		if (!wrong)
			wrong = drain(NULL, h, &worst);
	}
	if (wrong)
		(void)fail("fork, in the child", wrong);
	(void)fflush(stdout);
	_exit(wrong ? 99 : (int)worst);
}

static const char *fork_and_live_on(enum pass pass, struct holding *h, long *worst)
{
	int status;

	beat("a child emptied the pool");
	(void)fflush(stdout);
	pid_t child = fork();

	if (child == 0)
		live_on_as_child(pass, h);
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

/* It need not finish; but who may stand in the registry's mutex would leave it locked. */
static void dismiss(void)
{
	if (victim.operation->special & LOCKS)
		sleeper_resume(&victim.sleeper);
	else
		sleeper_abandon(&victim.sleeper);
}

/* The victim stands; true if all is well afterwards. */
static bool visit(enum pass pass, const char *name, long *worst)
{
	struct holding h = {.count = 0};
	const char *wrong = NULL;

	if (pass == PASS_HEIRS) {
		if (!(wrong = return_lent(&victim.scene)))
			wrong = heirs_prepare(&victim.scene, victim.operation, &h);
	} else {
		wrong = live_on(&h, worst);
	}

	if (watchdog_rescued()) {
		sleeper_resume(&victim.sleeper);
		return false;
	}
	if (wrong) {
		(void)fail(name, wrong);
		dismiss();
		return false;
	}
	if (pass == PASS_FORK || pass == PASS_HEIRS) {
		if ((wrong = fork_and_live_on(pass, &h, worst)))
			(void)fail(name, wrong);
	} else if (pass == PASS_NEVER) {
		if (!(victim.operation->special & LOCKS))
			sleeper_abandon(&victim.sleeper);
		/* The pool's life goes on as if that thread had never been. */
		if ((wrong = peer_give_back(victim.scene.pool, &h)) || (wrong = live_on(&h, worst)))
			(void)fail(name, wrong);
	} else if (pass == PASS_GIVE_BACK || pass == PASS_HOLD) {
		if (pass == PASS_GIVE_BACK)
			wrong = peer_give_back(victim.scene.pool, &h);
		beat("the victim finished");
		sleeper_resume(&victim.sleeper);
		if (!wrong)
			wrong = account(&victim.scene, victim.operation, &h);
		if (wrong)
			(void)fail(name, wrong);
	}
	dismiss();
	return wrong == NULL;
}

/* All points of one operation; true if all is well. */
static bool sweep(const struct operation *o, enum pass pass, const char *name, long only)
{
	long worst = 0, points = 0;
	const unsigned long failures_before = failures;

	if ((pass == PASS_FORK || pass == PASS_HEIRS) && o->special & LOCKS) {
		printf("%-30s fork waits for it: no part of this\n", o->name);
		return true;
	}
	victim_record(&victim, o);
	if (victim.moved != o->moves && !verify_mutant) {
		printf("FAILED %s: it is meant to change %#x, and changes %#x\n", o->name, o->moves, victim.moved);
		failures++;
	}
	if (victim.scene.wrong) {
		printf("FAILED %s, undisturbed: %s\n", o->name, victim.scene.wrong);
		failures++;
	}
	(void)scene_close(&victim.scene);
	const long last = victim.sleeper.stepper.length;

	const long stride = options_stride(pass);
	static long shift;

	for (long at = only < 0 ? shift++ % stride : only; at <= (only < 0 ? last : only) && !(verify_mutant && failures);
	     at += stride) {
		if (o->special & IN_PROGRAM && !stepper_in_program(&victim.sleeper.stepper, at))
			continue;
		(void)hooks_wrong();

		bool stopped = sleeper_run(&victim.sleeper, at);

		if (!stopped || victim.sleeper.stepper.strayed) {
			if (stopped)
				sleeper_resume(&victim.sleeper);
			(void)fail(name, "it went another way than in the recording");
		} else {
			points++;
			(void)visit(pass, name, &worst);
		}
		(void)scene_close(&victim.scene);
	}
	printf("%-30s %5ld instructions, %ld locked; %5ld points, at most %ld lost; %lu failures\n", o->name, last,
	       victim.sleeper.stepper.locked, points, worst, failures - failures_before);
	(void)fflush(stdout);
	return failures == failures_before && points > 0;
}

/* A blocking pool: some points must be stuck, and each must get on when the victim does. */
static bool sweep_control(const struct operation *o)
{
	long stuck = 0, points = 0, worst = 0;

	victim_record(&victim, o);
	(void)scene_close(&victim.scene);
	while (stuck < CONTROL_POINTS && points <= victim.sleeper.stepper.length && sleeper_run(&victim.sleeper, points)) {
		char text[1024];

		sleeper_describe(&victim.sleeper, text, sizeof(text));
		const unsigned long failures_before = failures;

		if (!visit(PASS_GIVE_BACK, "control", &worst) && failures == failures_before) {
			stuck++;
			printf("caught: the others were stuck until it went on: %s\n", text);
		}
		(void)scene_close(&victim.scene);
		points++;
	}
	printf("%-32s %ld of %ld points stuck (then stopped)\n", o->name, stuck, points);
	return stuck == CONTROL_POINTS;
}

int main(int count, char **arguments)
{
	const struct options options = options_parse(count, arguments, PASS_CONTROL);
	const bool control = options.pass == PASS_CONTROL;
	unsigned passed = 0, failed = 0;

	if (getenv("LFPOOL_DEEP"))
		rounds = 10000;
	/* Stopping it must be what brings a seeded bug to light, not the others' chance meetings. */
	if (verify_mutant)
		rounds = 1;
	stepper_open();
	victim_start(&victim);
	peer_start(&peer);
	watchdog_start(&victim.sleeper, control ? CONTROL_SECONDS : STUCK_SECONDS, control);
	const struct operation *o;

	for (size_t i = 0; (o = operation_at(i)); i++) {
		if (!strstr(o->name, options.only))
			continue;
		bool good = control ? sweep_control(o) : sweep(o, options.pass, options.name, options.at);

		/* The control looks for what is wrong anyway. */
		if (verify_mutant && !control)
			good = !good;
		passed += good;
		failed += !good;
		if (verify_mutant)
			break;
	}
	sleeper_stop(&victim.sleeper);
	worker_stop(&peer.worker);
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
