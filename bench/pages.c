/* SPDX-License-Identifier: MIT */
/*
 * pages.c - lfpool-bench-pages: what LFPOOL_HUGE_PAGES and LFPOOL_PREFAULT gain, and with few large objects what
 *          LFPOOL_PLAIN_STRIDE costs.
 *
 * Idea         A pool of n objects, for each kind of pages.  It is created; all its objects are acquired
 *              and a word of each is written (their first touch, and its page faults); then words of them are read in
 *              random order, each read depending on the last, so that each waits for memory and for the TLB; then they
 *              are released and acquired in random order, which goes to the state words.  The least of several rounds
 *              is printed: the rest is disturbance.  One thread.
 * Usage        lfpool-bench-pages [OBJECTS [ROUNDS [BYTES]]]          BYTES of an object, 64 if not said
 */
#include "subject.h"

#include <lfpool/lfpool.h>

#include <sys/resource.h>

#define OBJECTS_MAX 100000000

static size_t count = 1000000, rounds = 5, object_bytes = 64;
/* What was read goes here, so that it must be. */
static volatile uint64_t sink;

static const struct kind {
	const char *name;
	uint32_t flags;
} kinds[] = {
	{"4 KiB", 0},
	{"4 KiB, plain stride", LFPOOL_PLAIN_STRIDE},
	{"4 KiB, prefaulted", LFPOOL_PREFAULT},
	{"huge", LFPOOL_HUGE_PAGES},
	{"huge, prefaulted", LFPOOL_HUGE_PAGES | LFPOOL_PREFAULT},
};

enum measure { CREATE, FIRST, READ, CYCLE, MEASURES };

/* Nanoseconds for each object, and page faults of the first touch. */
struct result {
	double ns[MEASURES];
	long faults;
};

static long faults_now(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

/* Each object, in this order, holds the address of the next. */
static void chain(void **objects)
{
	for (size_t i = 0; i < count; i++)
		*(void **)objects[i] = objects[(i + 1) % count];
}

static void lap(struct result *result, enum measure measure, uint64_t *since)
{
	const uint64_t now = now_ns();
	const double ns = (double)(now - *since) / (double)count;

	if (result->ns[measure] <= 0 || ns < result->ns[measure])
		result->ns[measure] = ns;
	*since = now_ns();
}

static void run(uint32_t flags, void **objects, struct result *result)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	struct random r = random_for(2026, 0);
	lfpool_t *pool;
	long faults;

	config.object_size = object_bytes;
	config.capacity = count;
	config.flags = flags;

	uint64_t since = now_ns();

	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		must(NULL);
	lap(result, CREATE, &since);
	faults = faults_now();
	for (size_t i = 0; i < count; i++) {
		objects[i] = must(lfpool_acquire(pool));
		*(uint64_t *)objects[i] = i;
	}
	lap(result, FIRST, &since);
	result->faults = faults_now() - faults;
	shuffle(objects, count, &r);
	chain(objects);
	since = now_ns();

	void **at = objects[0];

	for (size_t i = 0; i < count; i++)
		at = *at;
	sink = (uintptr_t)at;
	lap(result, READ, &since);
	for (size_t i = 0; i < count; i++)
		(void)lfpool_release(pool, objects[i]);
	for (size_t i = 0; i < count; i++)
		objects[i] = must(lfpool_acquire(pool));
	lap(result, CYCLE, &since);
	(void)lfpool_destroy(pool);
}

int main(int argc, char **argv)
{
	/* In the order of the arguments. */
	static const struct {
		size_t *value;
		unsigned long least, most;
	} arguments[] = {{&count, 100, OBJECTS_MAX}, {&rounds, 1, 1000}, {&object_bytes, sizeof(void *), 1 << 20}};
	size_t numbers;

	for (int i = 1; i < argc; i++) {
		unsigned long number = 0;

		if (i > 3 || !parse_numbers(argv[i], arguments[i - 1].least, arguments[i - 1].most, &number, 1, &numbers)) {
			fputs("usage: lfpool-bench-pages [OBJECTS [ROUNDS [BYTES]]]\n", stderr);
			return 2;
		}
		*arguments[i - 1].value = number;
	}

	void **objects = must(calloc(count, sizeof(*objects)));

	printf("%zu objects of %zu bytes; ns for each object, the least of %zu rounds\n\n", count, object_bytes, rounds);
	printf("| pages | create | acquire and first touch | page faults | dependent read, random order | release and "
	       "acquire, random order |\n|---|---|---|---|---|---|\n");
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		struct result result = {0};

		for (size_t i = 0; i < rounds; i++)
			run(kinds[k].flags, objects, &result);
		printf("| %s | %.1f | %.1f | %ld | %.1f | %.1f |\n", kinds[k].name, result.ns[CREATE], result.ns[FIRST],
		       result.faults, result.ns[READ], result.ns[CYCLE]);
	}
	free(objects);
	return 0;
}
