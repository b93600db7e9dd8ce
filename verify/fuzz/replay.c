/* SPDX-License-Identifier: MIT */
/*
 * replay.c - runs sequences without a fuzzer: files, and random strings of bytes.
 *
 *     lfpool-replay FILE...                          each file is a sequence, for instance one that a fuzz run left
 *     lfpool-replay --random SEED FIRST COUNT        sequences FIRST .. FIRST + COUNT - 1 of the seed (0 = a new one)
 *
 * Each runs in a separate process, so that a failure is counted and the next one runs.
 */
#include "common/harness.h"
#include "model.h"
#include "sequence.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES_MAX 4096
#define HANG_SECONDS 120

static unsigned passed, failed;

static void run(const char *name, const uint8_t *bytes, size_t count)
{
	fflush(stdout);

	int status = 0;
	pid_t child = fork();

	REQUIRE(child >= 0);
	if (child == 0) {
		alarm(HANG_SECONDS);
		sequence_run(bytes, count);
		exit(0);
	}
	REQUIRE(waitpid(child, &status, 0) == child);
	if (status == 0) {
		passed++;
	} else {
		failed++;
		printf("failed: %s (wait status %d)\n", name, status);
	}
}

static void run_file(const char *path)
{
	static uint8_t bytes[BYTES_MAX];
	FILE *file = fopen(path, "rb");

	if (!file) {
		failed++;
		printf("failed: cannot open %s\n", path);
		return;
	}

	size_t count = fread(bytes, 1, sizeof(bytes), file);

	fclose(file);
	run(path, bytes, count);
}

static void run_random(uint64_t seed, unsigned first, unsigned count)
{
	seed = seed ? seed : now_ns();
	printf("replay: --random %llu %u %u\n", (unsigned long long)seed, first, count);
	for (unsigned i = first; i < first + count; i++) {
		uint8_t bytes[400];
		char name[64];
		struct random r = random_for(seed, i);

		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)random_below(&r, 256);
		snprintf(name, sizeof(name), "--random %llu %u 1", (unsigned long long)seed, i);
		run(name, bytes, sizeof(bytes));
	}
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "--random") == 0)
		run_random(strtoull(argv[2], NULL, 0), (unsigned)strtoul(argv[3], NULL, 0),
			   (unsigned)strtoul(argv[4], NULL, 0));
	else
		for (int i = 1; i < argc; i++)
			run_file(argv[i]);
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
