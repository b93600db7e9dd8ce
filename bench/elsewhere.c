/* SPDX-License-Identifier: MIT */
/*
 * elsewhere.c - see elsewhere.h.
 */
#include "elsewhere.h"

#include "subject.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* False when it did not work; it has said why. */
static bool run(char **arguments, double *figures, int count)
{
	posix_spawn_file_actions_t actions;
	int ends[2], status, got = 0;
	pid_t process;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	FILE *output = must(fdopen(ends[0], "r"));

	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	const bool started = posix_spawn(&process, "/proc/self/exe", &actions, NULL, arguments, environ) == 0;

	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(ends[1]);
	while (got < count && fscanf(output, "%lf", &figures[got]) == 1)
		got++;
	(void)fclose(output);
	return started && waitpid(process, &status, 0) == process && status == 0 && got == count;
}

bool elsewhere_run(gbench_state_t *state, const char *option, const char *subject, const char *what, double *figures, int count)
{
	char *arguments[] = {"lfpool-bench", (char *)(uintptr_t)option, (char *)(uintptr_t)subject, (char *)(uintptr_t)what,
			     NULL};
	const bool first = gbench_state_thread_index(state) == 0;
	uint64_t took_ns = 0;

	while (gbench_next(state, 1)) {
		const uint64_t start_ns = now_ns();

		if (first && !run(arguments, figures, count))
			give_up(subject, "the process that should measure it failed");
		took_ns = first ? now_ns() - start_ns : 0;
	}
	gbench_set_iteration_time(state, (double)took_ns / 1e9);
	return first;
}
