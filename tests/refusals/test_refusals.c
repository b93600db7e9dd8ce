/* SPDX-License-Identifier: MIT */
/*
 * test_refusals.c - whatever call of the library to the system is refused, with any error, at any occurrence: the
 * promises hold, and nothing is lost.
 *
 * Idea         Each life (lives.h) runs in a fresh child: once with one refusal, then without, which must succeed
 *              completely.  At the end the library holds exactly as much as after two lives without a refusal.  A
 *              first life without one counts the calls of each kind.  Refused are the first, the second, a middle and
 *              the last occurrence, alone or with all that follow; each error at the first.  With LFPOOL_DEEP=1 every
 *              error at each of up to 300. A constructor's requests are refused in executed children, through the
 *              environment.
 * Completeness Every function that docs/real-time.md lets enter the kernel is called in some life:
 *              tests/real_time/table.  The script `symbols` checks that every call that can fail can be refused here.
 */
#include "lives.h"

#include <linux/membarrier.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* With more occurrences than this, every second, third ... */
#define OCCURRENCES_MAX 300

struct trial {
	const struct life *life;
	enum refusal which;
	unsigned long nth; /* 0: nothing is refused */
	bool on;
	int error;
};

static bool hung;
static unsigned long trials, refused_somewhere, failures;

/* The library has one way out: the fence that it was promised is refused twice. */
static bool may_abort(const struct trial *t)
{
	return t->which == REFUSE_MEMBARRIER && t->nth && t->on;
}

/* A thread that was refused a table of its caches may still have none. */
static bool is_no_more(struct held h, struct held most)
{
	return h.mapped_bytes == most.mapped_bytes && h.heap_blocks <= most.heap_blocks && h.keys == most.keys &&
	       h.fork_handlers == most.fork_handlers;
}

static void say(const char *what, const struct trial *t, const char *detail)
{
	failures++;
	printf("%s: life \"%s\", %s call %lu%s, error %d: %s\n", what, t->life->name, refusal_kinds[t->which].name,
	       t->nth, t->on ? " and all after it" : "", t->error, detail);
}

/* Runs in a child. */
static _Noreturn void live(const struct trial *t)
{
	alarm(HANGS_AFTER_SECONDS);
	if (!freopen("/dev/null", "w", stderr))
		_exit(2);
	errno_mark();
	refuse(t->which, t->nth, t->on, t->error);
	t->life->live(t->life, !t->nth);

	const unsigned long made = refusals_made();

	if (!t->nth)
		for (int i = 0; i < REFUSALS; i++)
			shared->calls[i] = refusals_calls((enum refusal)i);
	refuse(REFUSE_MMAP, 0, false, 0);
	errno_mark();
	t->life->live(t->life, true);
	if (!t->nth) {
		shared->held = held_now();
	} else if (!is_no_more(held_now(), shared->held)) {
		const struct held h = held_now(), r = shared->held;

		snprintf(shared->failure, sizeof(shared->failure),
			 "holds %zu bytes, %zu blocks, %zu keys, %zu fork handlers, instead of %zu, %zu, %zu, %zu",
			 h.mapped_bytes, h.heap_blocks, h.keys, h.fork_handlers, r.mapped_bytes, r.heap_blocks, r.keys,
			 r.fork_handlers);
		_exit(4);
	}
	_exit(made ? 0 : 1);
}

static bool try(const struct trial *t)
{
	const unsigned long before = failures;
	int status = 0;

	if (hung)
		return false;

	trials++;
	shared->failure[0] = 0;
	fflush(stdout);

	const pid_t pid = fork();

	if (pid == 0)
		live(t);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		say("no child", t, strerror(errno));
	else if ((hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM))
		say("hung, and no more is tried", t, "");
	else if (WIFSIGNALED(status) && !(may_abort(t) && WTERMSIG(status) == SIGABRT))
		say("died", t, strsignal(WTERMSIG(status)));
	else if (WIFEXITED(status) && WEXITSTATUS(status) > 1)
		say("failed", t, shared->failure);
	else
		refused_somewhere += !WIFEXITED(status) || WEXITSTATUS(status) == 0;
	return failures == before;
}

/* ---- All refusals of a life ---- */

static void try_error(struct trial t, unsigned long calls, bool deep)
{
	const unsigned long some[] = {1, 2, calls / 2, calls};

	for (unsigned long i = 0, tried = 0; i < (deep ? calls : 4); i += deep ? 1 + calls / OCCURRENCES_MAX : 1) {
		t.nth = deep ? i + 1 : some[i];
		if (t.nth <= tried || t.nth > calls)
			continue;
		tried = t.nth;
		t.on = false;
		(void)try(&t);
		t.on = true;
		(void)try(&t);
	}
}

static void try_life(const struct life *life, bool deep)
{
	struct trial t = {.life = life};
	unsigned long calls[REFUSALS];

	if (!try(&t))
		return;
	memcpy(calls, shared->calls, sizeof(calls));
	for (int which = 0; which < REFUSALS; which++) {
		const int *errors = refusal_kinds[which].errors;

		t.which = (enum refusal)which;
		for (int i = 0; calls[which] && i < ERRORS_MAX && errors[i]; i++) {
			t.error = errors[i];
			if (i == 0 || deep) {
				try_error(t, calls[which], deep);
			} else {
				t.nth = 1;
				t.on = true;
				(void)try(&t);
			}
		}
	}
}

/* ---- A constructor's requests ---- */

/* An executed child lives without further refusals. */
static int live_executed(void)
{
	const struct trial t = {.life = &lives[0]};

	live(&t);
}

static void try_constructor(const char *program)
{
	const int *errors = refusal_kinds[REFUSE_MEMBARRIER].errors;
	struct trial t = {.life = &lives[0], .which = REFUSE_MEMBARRIER, .on = true};
	char plan[64];
	int status = 0;

	for (t.nth = 1; t.nth <= 3; t.nth++)
		for (int i = 0; errors[i]; i++) {
			t.error = errors[i];
			trials++;
			snprintf(plan, sizeof(plan), "%u %lu 1 %d", (unsigned)t.which, t.nth, t.error);
			fflush(stdout);

			const pid_t pid = fork();

			if (pid == 0) {
				setenv("REFUSE", plan, 1);
				execl(program, program, "--live", (char *)NULL);
				_exit(2);
			}
			/* Its life is strict, and nothing else is refused: it must have succeeded. */
			if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
				say("as the process begins", &t, "does not go on without membarrier(2)");
		}
}

/* ---- Is anything missing? ---- */

static bool has_membarrier(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0, 0, 0, 0) & MEMBARRIER_CMD_PRIVATE_EXPEDITED;
}

/* Some life must make every call of the table. */
static void require_all_calls(void)
{
	for (int which = 0; which < REFUSALS; which++) {
		if (atomic_load(&shared->made[which]) || (which == REFUSE_MEMBARRIER && !has_membarrier()))
			continue;
		failures++;
		printf("%s: no life makes this call\n", refusal_kinds[which].name);
	}
}

/* --calls: prints the functions that occur in some life, for tests/real_time/table. */
static int say_calls(void)
{
	for (size_t i = 0; i < life_count; i++)
		(void)try(&(struct trial){.life = &lives[i]});
	for (unsigned i = 0; i < atomic_load(&shared->functions); i++)
		printf("called: %s\n", shared->function[i]);
	return failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	const char *deep = getenv("LFPOOL_DEEP"), *life = getenv("LFPOOL_LIFE");

	shared = shared_memory(sizeof(*shared));
	if (!shared)
		return 2;
	if (argc > 1 && strcmp(argv[1], "--live") == 0)
		return live_executed();
	if (argc > 1 && strcmp(argv[1], "--calls") == 0)
		return say_calls();
	for (size_t i = 0; i < life_count; i++)
		if (!life || strcmp(life, lives[i].name) == 0)
			try_life(&lives[i], deep && *deep);
	if (!life) {
		try_constructor(argv[0]);
		require_all_calls();
	}
	printf("%lu children, %lu of them refused something; %lu failures\n", trials, refused_somewhere, failures);
	return failures ? 1 : 0;
}
