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
#define CONTROL_SECONDS 1 /* then the sleeper continues, and the stuck thread must follow */
#define CONTROL_POINTS 2
#define REPORTS_MAX 10
#define CHILD_WRONG 99 /* a child's exit status; otherwise the number of lost objects */

#define PASS(pass) (1u << (pass))

bool drive_mutant;
enum pass drive_pass;
unsigned drive_moved;

static const struct play *const play = &pool_play;
static struct part part;
static struct sleeper sleeper;
static unsigned long failures;
static long with_mutex; /* places of a part without a fork */

/* ---- Options ---- */

static const char *const pass_names[] = {"give-back", "hold",  "never", "fork",  "control",
					 "hits",      "heirs", "pairs", "empty", "own"};
static const char *only = "";
static long only_at = -1;

static _Noreturn void usage(const char *program)
{
	fprintf(stderr, "usage: %s PASS [--only TEXT] [--at N]\nPASS is", program);
	for (enum pass p = 0; p < PASSES; p++)
		fprintf(stderr, " %s", pass_names[p]);
	fprintf(stderr, "\n");
	exit(2);
}

static bool parse(int count, char **arguments)
{
	if (count < 2 || count % 2)
		return false;
	drive_mutant = getenv("LFPOOL_MUTANT") != NULL;
	while (drive_pass < PASSES && strcmp(arguments[1], pass_names[drive_pass]) != 0)
		drive_pass++;
	for (int i = 2; i < count; i += 2) {
		if (strcmp(arguments[i], "--only") == 0)
			only = arguments[i + 1];
		else if (strcmp(arguments[i], "--at") == 0)
			only_at = strtol(arguments[i + 1], NULL, 10);
		else
			return false;
	}
	return drive_pass < PASSES;
}

static bool is_pass(unsigned passes)
{
	return passes & PASS(drive_pass);
}

#define FORKS (PASS(PASS_FORK) | PASS(PASS_HEIRS))
#define SIGNALS (PASS(PASS_EMPTY) | PASS(PASS_OWN))

/* The pass visits one of this many places.  While the sleeper stands, the others do the same in every pass.  So one
 * pass visits every place, and the others every second one; where the process forks, which takes long, every fourth
 * or fifth. */
static long stride(void)
{
	if (is_pass(PASS(PASS_GIVE_BACK) | SIGNALS) || drive_mutant || getenv("LFPOOL_DEEP"))
		return 1;
	return is_pass(PASS(PASS_HEIRS)) ? 4 : is_pass(PASS(PASS_FORK)) ? 5 : 2;
}

unsigned drive_rounds(unsigned usual, unsigned deep)
{
	/* The stop must reveal a seeded bug, not a chance meeting of the others. */
	return drive_mutant ? 1 : getenv("LFPOOL_DEEP") ? deep : usual;
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
		(void)snprintf(text, sizeof(text), "%ld objects are missing; the call may hold at most %ld", lost,
			       at_most);
		return text;
	}
	if (lost > *worst)
		*worst = lost;
	return NULL;
}

unsigned drive_changes(const struct reading *before, const struct reading *after)
{
	unsigned moves = 0;

	for (unsigned i = 0; i < sizeof(before->word) / sizeof(*before->word); i++)
		moves |= (unsigned)(before->word[i] != after->word[i]) << i;
	return moves;
}

static void fail(const char *during, const char *wrong)
{
	char text[1024];

	sleeper_describe(&sleeper, text, sizeof(text));
	if (failures++ < REPORTS_MAX)
		printf("%s (%s) %s: %s\n", drive_mutant || drive_pass == PASS_OWN ? "caught" : "FAILED", during, text,
		       wrong);
}

static _Noreturn void live_on_as_child(void)
{
	long worst = 0;

	(void)alarm(STUCK_SECONDS);
	const char *wrong = play->inherit(&worst);

	if (wrong)
		fail("fork, in the child", wrong);
	(void)fflush(stdout);
	_exit(wrong ? CHILD_WRONG : (int)worst);
}

static const char *fork_and_live_on(long *worst)
{
	int status;

	beat("a child used the pool");
	(void)fflush(stdout);
	const pid_t child = fork();

	if (child == 0)
		live_on_as_child();
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

/* It does not have to finish; but if it may hold the registry's mutex, it would leave that locked. */
static void dismiss(void)
{
	if (part.locks)
		sleeper_resume(&sleeper);
	else
		sleeper_abandon(&sleeper);
}

/* Called while the sleeper stands; true if everything is right afterwards. */
static bool visit(long *worst)
{
	const char *wrong = play->live_on(worst);

	if (watchdog_rescued()) {
		sleeper_resume(&sleeper);
		return false;
	}
	if (!wrong && is_pass(FORKS)) {
		/* A fork waits for its mutex. */
		if (sleeper_has_mutex())
			with_mutex++;
		else
			wrong = fork_and_live_on(worst);
	} else if (!wrong && drive_pass == PASS_NEVER) {
		if (!part.locks)
			sleeper_abandon(&sleeper);
		/* The pool lives on as if that thread had never existed. */
		if (!(wrong = play->give_back()))
			wrong = play->live_on(worst);
	} else if (!wrong) {
		wrong = play->go_on();
	}
	if (wrong)
		fail(pass_names[drive_pass], wrong);
	dismiss();
	return wrong == NULL;
}

/* ---- All places of one operation ---- */

/* Undisturbed: it must do what its name says, without errors. */
static void record(void)
{
	/* First a run for one-time work, in libc and here; then the recording. */
	sleeper_rehearse(&sleeper, false);
	play->close();
	sleeper_rehearse(&sleeper, true);

	const char *wrong = play->check();

	play->close();
	if (drive_mutant)
		return;
	if (drive_moved != part.moves)
		printf("FAILED %s: it should change %#x, but changes %#x\n", part.name, part.moves, drive_moved);
	if (wrong)
		printf("FAILED %s, undisturbed: %s\n", part.name, wrong);
	if (drive_moved != part.moves || wrong)
		failures++;
}

/* To this place, where the operation is stopped, or interrupted by a signal. */
static void go_to(long at, long *points, long *worst)
{
	const bool stopped = sleeper_run(&sleeper, at);

	++*points;
	if (sleeper.stepper.strayed || stopped == is_pass(SIGNALS)) {
		if (stopped)
			sleeper_resume(&sleeper);
		fail(pass_names[drive_pass], "it took another path than in the recording");
	} else if (stopped) {
		(void)visit(worst);
	} else {
		beat("a signal handler used the pool");
		const char *wrong = signals_end();

		if (wrong)
			fail(pass_names[drive_pass], wrong);
	}
	play->close();
}

static bool is_place(long at)
{
	return at >= 0 && (!part.in_program || stepper_in_program(&sleeper.stepper, at));
}

/* True if everything is right.  With a stride, the places differ between operations. */
static bool sweep(size_t index)
{
	const unsigned long failures_before = failures;
	const bool once = drive_mutant || drive_pass == PASS_OWN;
	long worst = 0, points = 0;

	with_mutex = 0;
	record();
	const long from = only_at < 0 ? 0 : only_at;
	const long last = only_at < 0 ? sleeper.stepper.length : from;
	/* Places to skip first; the shortest calls have four. */
	long others = only_at < 0 ? (long)index % 4 % stride() : 0;

	sleeper.stepper.interrupt = is_pass(SIGNALS) ? signals_handle : NULL;
	for (long at = from; at <= last && !(once && failures > failures_before); at++) {
		if (!is_place(at) || (only_at < 0 && is_place(at - 1) && !stepper_is_another(&sleeper.stepper, at)) ||
		    others-- > 0)
			continue;
		others = only_at < 0 ? stride() - 1 : 0;
		go_to(at, &points, &worst);
	}
	printf("%-42s %5ld instructions, %2ld locked; %5ld points, at most %ld lost; %lu failures\n", part.name,
	       sleeper.stepper.length, sleeper.stepper.locked, points, worst, failures - failures_before);
	if (with_mutex)
		printf("%-42s %ld of these points hold a mutex, for which a fork waits\n", "", with_mutex);
	return failures == failures_before && points > with_mutex;
}

/* At some points the others must be stuck, and each must continue when the sleeper does. */
static bool sweep_control(void)
{
	/* Calls that spend their time in libc are long, and hold the mutex most of that time. */
	const long step = part.in_program ? 8 : 1;
	long stuck = 0, points = 0, worst = 0;

	record();
	while (stuck < CONTROL_POINTS && points <= sleeper.stepper.length && sleeper_run(&sleeper, points)) {
		const unsigned long failures_before = failures;
		char text[1024];

		sleeper_describe(&sleeper, text, sizeof(text));
		if (!visit(&worst) && failures == failures_before) {
			stuck++;
			printf("caught: the others were stuck until it continued: %s\n", text);
		}
		play->close();
		points += step;
	}
	printf("%-42s %ld of %ld points stuck (then stopped)\n", part.name, stuck, points);
	return stuck == CONTROL_POINTS;
}

/* ---- The cost ---- */

static const struct hit *hit_of(const char *name)
{
	for (size_t i = 0; i < HITS; i++)
		if (strcmp(play->hits[i].operation, name) == 0)
			return &play->hits[i];
	return NULL;
}

static bool price(const struct hit *hit)
{
	const struct stepper *recorded = &sleeper.stepper;
	const unsigned long failures_before = failures;

	record();
	const bool good = failures == failures_before && recorded->length <= hit->ceiling &&
			  recorded->locked == hit->locked;

	printf("%s%-28s %4ld instructions of at most %4ld, %ld locked of %ld\n", good ? "" : "FAILED ", part.name,
	       recorded->length, hit->ceiling, recorded->locked, hit->locked);
	return good;
}

/* ---- The program ---- */

static bool play_part(size_t index)
{
	bool good;

	sleeper.name = part.name;
	good = drive_pass == PASS_HITS      ? price(hit_of(part.name))
	       : drive_pass == PASS_CONTROL ? sweep_control()
					    : sweep(index);
	(void)fflush(stdout);
	/* The control must find an error. */
	return (drive_mutant && drive_pass != PASS_CONTROL) || drive_pass == PASS_OWN ? !good : good;
}

int main(int count, char **arguments)
{
	unsigned passed = 0, failed = 0;

	if (!parse(count, arguments))
		usage(arguments[0]);
	stepper_open();
	if (drive_pass == PASS_PAIRS) {
		const bool good = pairs_run(only);

		printf("%d passed, %d failed\n", good, !good);
		return !good;
	}
	if (drive_pass == PASS_OWN)
		/* The pool's misuse reports do not matter. */
		(void)freopen("/dev/null", "w", stderr);
	sleeper.act = play->act;
	sleeper_start(&sleeper);
	worker_start(play->worker);
	watchdog_start(&sleeper, drive_pass == PASS_CONTROL ? CONTROL_SECONDS : STUCK_SECONDS,
		       drive_pass == PASS_CONTROL);
	for (size_t i = 0; play->choose(i, &part) && !(drive_mutant && passed + failed); i++)
		if (strstr(part.name, only) && (drive_pass != PASS_HITS || hit_of(part.name)))
			play_part(i) ? passed++ : failed++;
	sleeper_stop(&sleeper);
	worker_stop(play->worker);
	if (drive_pass == PASS_HITS && failed)
		printf("Without membarrier(2), by refusal or LFPOOL_MEMBARRIER=off, there are no hits.\n");
	if (drive_pass == PASS_HITS && !*only)
		failed += passed + failed != HITS;
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
