/* SPDX-License-Identifier: MIT */
/*
 * scenario.c - see scenario.h.
 */
#include "scenario.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 60 /* seconds */

void check_that(bool right, const char *what, const char *file, int line)
{
	if (right)
		return;
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	/* Not exit(): other threads are running. */
	_exit(1);
}

size_t run_rows(const char *flag)
{
	static char name[] = "test", time[] = "--benchmark_min_time=0.002", copy[256];
	char *arguments[] = {name, time, NULL, NULL};
	int count = 2;

	if (flag) {
		(void)snprintf(copy, sizeof copy, "%s", flag);
		arguments[count++] = copy;
	}
	gbench_initialize(&count, arguments);
	CHECK(!gbench_report_unknown(count, arguments));

	size_t rows = gbench_run();

	gbench_shutdown();
	return rows;
}

/* What the child said on stderr, also passed on to ours. */
static void read_back(FILE *file, char *text, size_t bytes)
{
	rewind(file);

	size_t count = fread(text, 1, bytes - 1, file);

	text[count] = '\0';
	fputs(text, stderr);
}

static bool run_child(const struct scenario *scenario)
{
	static char said[65536];
	FILE *file = tmpfile();
	int status;

	if (!file) {
		perror("tmpfile");
		return false;
	}
	(void)fflush(NULL);

	pid_t child = fork();

	if (child == 0) {
		(void)dup2(fileno(file), STDERR_FILENO);
		(void)alarm(PATIENCE);
		scenario->run();
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child) {
		perror("fork, waitpid");
		(void)fclose(file);
		return false;
	}
	read_back(file, said, sizeof said);
	(void)fclose(file);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		fprintf(stderr, "no end after %d s\n", PATIENCE);
	if (!scenario->dies)
		return WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (!strstr(said, scenario->dies))
		fprintf(stderr, "not said: %s\n", scenario->dies);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(said, scenario->dies);
}

int scenarios_main(int argc, char **argv, const struct scenario *scenarios, size_t count)
{
	size_t ran = 0, failed = 0;

	for (size_t i = 0; i < count; i++) {
		bool wanted = argc == 1;

		for (int a = 1; a < argc; a++)
			wanted |= strcmp(argv[a], scenarios[i].name) == 0;
		if (!wanted)
			continue;
		ran++;
		if (run_child(&scenarios[i]))
			continue;
		fprintf(stderr, "FAILED: %s\n", scenarios[i].name);
		failed++;
	}
	printf("%zu scenarios, %zu failed\n", ran, failed);
	return ran == 0 || failed > 0;
}
