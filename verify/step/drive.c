/* SPDX-License-Identifier: MIT */
/*
 * drive.c - see drive.h.
 */
#include "drive.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define STUCK_SECONDS 10
#define CONTROL_SECONDS 1 /* then the sleeper goes on, and whoever was stuck must follow */
#define CONTROL_POINTS 3
#define REPORTS_MAX 10
#define CHILD_WRONG 99 /* a child's exit status; else the objects that are lost */

int verify_mutant;
unsigned drive_moved;

static const struct play *play;
static struct part part;
static struct sleeper sleeper;
static unsigned long failures;

/* ---- What we are told ---- */

static const char *const pass_names[] = {"give-back", "hold", "never", "fork", "heirs", "meet", "control", "hits"};
static enum pass pass;
static const char *only = "";
static long only_at = -1;

static _Noreturn void usage(const char *program)
{
	fprintf(stderr, "usage: %s PASS [--only TEXT] [--at N] [--mutant N]\nPASS is", program);
	for (enum pass p = PASS_GIVE_BACK; p <= PASS_HITS; p++)
		if (p != play->lacks)
			fprintf(stderr, " %s", pass_names[p]);
	fprintf(stderr, "\n");
	exit(2);
}

static void parse(int count, char **arguments)
{
	bool good = count >= 2 && count % 2 == 0;

	while (good && pass <= PASS_HITS && strcmp(arguments[1], pass_names[pass]) != 0)
		pass++;
	for (int i = 2; good && i < count; i += 2) {
		if (strcmp(arguments[i], "--only") == 0)
			only = arguments[i + 1];
		else if (strcmp(arguments[i], "--at") == 0)
			only_at = strtol(arguments[i + 1], NULL, 10);
		else if (strcmp(arguments[i], "--mutant") == 0)
			verify_mutant = (int)strtol(arguments[i + 1], NULL, 10);
		else
			good = false;
	}
	if (!good || pass > PASS_HITS || pass == play->lacks)
		usage(arguments[0]);
}

/*
 * Of how many places the pass visits one.  What the others find while it stands is the same in every pass but `meet`: one of
 * these goes to every place, the rest to every third, and to every ninth where the process forks, which takes long.
 */
static long stride(void)
{
	if (pass == PASS_GIVE_BACK || pass == PASS_MEET || verify_mutant || getenv("LFPOOL_DEEP"))
		return 1;
	return pass == PASS_FORK || pass == PASS_HEIRS ? 9 : 3;
}

unsigned drive_rounds(unsigned usual, unsigned deep)
{
	/* Stopping it must be what brings a seeded bug to light, not the others' chance meetings. */
	return verify_mutant ? 1 : getenv("LFPOOL_DEEP") ? deep : usual;
}

/* ---- One place ---- */

void drive_resume(void)
{
	beat("the sleeper finished");
	sleeper_resume(&sleeper);
	beat("all was counted");
}

long drive_place(void)
{
	return sleeper.stepper.stop_at;
}

const char *drive_lost(long lost, long at_most, long *worst)
{
	static char text[128];

	if (lost < 0)
		return "there are more objects than the pool has";
	if (lost > at_most) {
		(void)snprintf(text, sizeof(text), "%ld objects cannot be had; at most %ld may be in the call's hands", lost,
			       at_most);
		return text;
	}
	if (lost > *worst)
		*worst = lost;
	return NULL;
}

static void fail(const char *during, const char *wrong)
{
	char text[1024];

	sleeper_describe(&sleeper, text, sizeof(text));
	if (failures++ < REPORTS_MAX)
		printf("%s (%s) %s: %s\n", verify_mutant ? "caught" : "FAILED", during, text, wrong);
}

static _Noreturn void live_on_as_child(enum pass how)
{
	long worst = 0;

	(void)alarm(STUCK_SECONDS);
	const char *wrong = play->inherit(how, &worst);

	if (wrong)
		fail("fork, in the child", wrong);
	(void)fflush(stdout);
	_exit(wrong ? CHILD_WRONG : (int)worst);
}

static const char *fork_and_live_on(enum pass how, long *worst)
{
	int status;

	beat("a child used the pool");
	(void)fflush(stdout);
	const pid_t child = fork();

	if (child == 0)
		live_on_as_child(how);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return "no child";
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGALRM ? "the child was stuck" : "the child was killed";
	if (WEXITSTATUS(status) == CHILD_WRONG)
		return "wrong in the child";
	if (WEXITSTATUS(status) > *worst)
		*worst = WEXITSTATUS(status);
	return NULL;
}

/* It need not finish; but who may stand in the registry's mutex would leave it locked. */
static void dismiss(void)
{
	if (part.locks)
		sleeper_resume(&sleeper);
	else
		sleeper_abandon(&sleeper);
}

/* The sleeper stands; true if all is well afterwards. */
static bool visit(enum pass how, long *worst)
{
	const char *wrong = play->live_on(how, worst);

	if (watchdog_rescued()) {
		sleeper_resume(&sleeper);
		return false;
	}
	if (!wrong && (how == PASS_FORK || how == PASS_HEIRS)) {
		wrong = fork_and_live_on(how, worst);
	} else if (!wrong && how == PASS_NEVER) {
		if (!part.locks)
			sleeper_abandon(&sleeper);
		/* The pool's life goes on as if that thread had never been. */
		if (!(wrong = play->give_back()))
			wrong = play->live_on(how, worst);
	} else if (!wrong && how != PASS_MEET) {
		wrong = play->go_on(how);
	}
	if (wrong)
		fail(pass_names[pass], wrong);
	dismiss();
	return wrong == NULL;
}

/* ---- All places of one operation ---- */

/* Undisturbed: it must do what its name says, and all must be well. */
static void record(void)
{
	/* Once for what happens only the first time, in libc and here; then for the recording. */
	sleeper_rehearse(&sleeper, false);
	play->close();
	sleeper_rehearse(&sleeper, true);

	const char *wrong = play->check();

	play->close();
	if (verify_mutant)
		return;
	if (drive_moved != part.moves)
		printf("FAILED %s: it is meant to change %#x, and changes %#x\n", part.name, part.moves, drive_moved);
	if (wrong)
		printf("FAILED %s, undisturbed: %s\n", part.name, wrong);
	if (drive_moved != part.moves || wrong)
		failures++;
}

/* True if all is well.  With a stride, other places in each operation. */
static bool sweep(size_t index)
{
	const unsigned long failures_before = failures;
	long worst = 0, points = 0;

	if ((pass == PASS_FORK || pass == PASS_HEIRS) && part.locks) {
		printf("%-42s fork waits for it: no part of this\n", part.name);
		return true;
	}
	record();
	const long from = only_at < 0 ? (long)index % stride() : only_at;
	const long last = only_at < 0 ? sleeper.stepper.length : only_at;

	for (long at = from; at <= last && !(verify_mutant && failures); at += stride()) {
		if (part.in_program && !stepper_in_program(&sleeper.stepper, at))
			continue;
		const bool stopped = sleeper_run(&sleeper, at);

		if (!stopped || sleeper.stepper.strayed) {
			if (stopped)
				sleeper_resume(&sleeper);
			fail(pass_names[pass], "it went another way than in the recording");
		} else {
			points++;
			(void)visit(pass, &worst);
		}
		play->close();
	}
	printf("%-42s %5ld instructions, %2ld locked; %5ld points, at most %ld lost; %lu failures\n", part.name,
	       sleeper.stepper.length, sleeper.stepper.locked, points, worst, failures - failures_before);
	return failures == failures_before && points > 0;
}

/* Some points must be stuck, and each must get on when the sleeper does. */
static bool sweep_control(void)
{
	long stuck = 0, points = 0, worst = 0;

	record();
	while (stuck < CONTROL_POINTS && points <= sleeper.stepper.length && sleeper_run(&sleeper, points)) {
		const unsigned long failures_before = failures;
		char text[1024];

		sleeper_describe(&sleeper, text, sizeof(text));
		if (!visit(PASS_GIVE_BACK, &worst) && failures == failures_before) {
			stuck++;
			printf("caught: the others were stuck until it went on: %s\n", text);
		}
		play->close();
		points++;
	}
	printf("%-42s %ld of %ld points stuck (then stopped)\n", part.name, stuck, points);
	return stuck == CONTROL_POINTS;
}

/* ---- What it costs ---- */

static const struct hit *hit_of(const char *name)
{
	for (size_t i = 0; i < play->hit_count; i++)
		if (strcmp(play->hits[i].operation, name) == 0)
			return &play->hits[i];
	return NULL;
}

static bool price(const struct hit *hit)
{
	const struct stepper *recorded = &sleeper.stepper;
	const unsigned long failures_before = failures;

	record();
	const bool good = failures == failures_before && recorded->length <= hit->ceiling && recorded->locked == hit->locked;

	printf("%s%-28s %4ld instructions of at most %4ld, %ld locked of %ld\n", good ? "" : "FAILED ", part.name,
	       recorded->length, hit->ceiling, recorded->locked, hit->locked);
	return good;
}

/* ---- The program ---- */

int drive_main(const struct play *p, struct worker *worker, int count, char **arguments)
{
	unsigned passed = 0, failed = 0;

	play = p;
	parse(count, arguments);
	stepper_open();
	sleeper.act = play->act;
	sleeper_start(&sleeper);
	worker_start(worker);
	watchdog_start(&sleeper, pass == PASS_CONTROL ? CONTROL_SECONDS : STUCK_SECONDS, pass == PASS_CONTROL);
	for (size_t i = 0; play->choose(i, &part) && !(verify_mutant && passed + failed); i++) {
		const struct hit *hit = hit_of(part.name);

		if (!strstr(part.name, only) || (pass == PASS_HITS && !hit))
			continue;
		sleeper.name = part.name;
		bool good = pass == PASS_HITS ? price(hit) : pass == PASS_CONTROL ? sweep_control() : sweep(i);

		/* The control looks for what is wrong anyway. */
		if (verify_mutant && pass != PASS_CONTROL)
			good = !good;
		passed += good;
		failed += !good;
		(void)fflush(stdout);
	}
	sleeper_stop(&sleeper);
	worker_stop(worker);
	if (pass == PASS_HITS && failed)
		printf("Without membarrier(2), by refusal or LFPOOL_MEMBARRIER=off, there are no hits.\n");
	if (pass == PASS_HITS && !*only)
		failed += passed + failed != play->hit_count;
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
