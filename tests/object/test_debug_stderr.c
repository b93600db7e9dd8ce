/* SPDX-License-Identifier: MIT */
/* test: debug once */
/*
 * test_debug_stderr.c - what the debug modes write to stderr when there is no misuse hook, word for word, and that it
 * ends nothing: each finding is planted in a child process, which ends well.
 */
#include "../support/support.h"
#include "lfpool/buffer.h"
#include "lfpool/priority.h"

#include <sys/wait.h>

#define TEXT_BYTES 8192

static lfpool_t *pool_named(const char *name, size_t capacity, const char *words)
{
	lfpool_config_t config = config_of(64, capacity);

	config.name = name;
	config.debug = words;
	return pool_with(&config);
}

/* Runs `body` in a child; what it wrote to stderr, with its thread's number as <thread> and each age as <age>. */
static void stderr_of(void (*body)(void), char text_out[TEXT_BYTES])
{
	static char raw[TEXT_BYTES];
	FILE *file = tmpfile();
	char *to = text_out;
	char number[20];
	int status;

	assert_non_null(file);
	const pid_t child = fork();

	if (child == 0) {
		REQUIRE(dup2(fileno(file), STDERR_FILENO) >= 0);
		body();
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	rewind(file);
	raw[fread(raw, 1, sizeof(raw) - 1, file)] = '\0';
	fclose(file);
	snprintf(number, sizeof(number), "thread %d", (int)child);
	for (const char *from = raw; *from;) {
		unsigned seconds, ms;
		int length = 0;

		if (strncmp(from, number, strlen(number)) == 0) {
			to += sprintf(to, "<thread>");
			from += strlen(number);
		} else if (*from >= '0' && *from <= '9' && sscanf(from, "%u.%3u s%n", &seconds, &ms, &length) == 2 && length) {
			to += sprintf(to, "<age>");
			from += length;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

/* The object's address, as the library prints it, is not known beforehand. */
static void expect(void (*body)(void), const char *beginning, const char *end)
{
	char text[TEXT_BYTES];

	stderr_of(body, text);
	if (strncmp(text, beginning, strlen(beginning)) != 0 || strlen(text) < strlen(end) ||
	    strcmp(text + strlen(text) - strlen(end), end) != 0)
		fprintf(stderr, "%s", text);
	assert_memory_equal(text, beginning, strlen(beginning));
	assert_string_equal(text + strlen(text) - strlen(end), end);
}

static void write_late(void)
{
	lfpool_t *pool = pool_named("ships", 10, "poison,no-tools");
	char *object = lfpool_acquire(pool);

	lfpool_label(pool, object, "physics");
	(void)lfpool_release(pool, object);
	object[9] = 'A';
	lfpool_destroy(pool);
}

TEST(written_when_free)
{
	expect(write_late, "lfpool: pool \"ships\", object 0x",
	       ": an object was written to after its release.  1 byte is wrong, the first at offset 9: 0x41 instead of "
	       "0xdb.  "
	       "Released by <thread> (\"physics\").  Further misuse of this pool is counted, not printed.\n");
}

static void write_beside(void)
{
	lfpool_t *pool = pool_named("ships", 10, "guard,no-tools");
	char *object = lfpool_acquire(pool);

	object[-1] = object[-2] = 'A';
	(void)lfpool_release(pool, object);
	lfpool_destroy(pool);
}

TEST(guard)
{
	expect(write_beside, "lfpool: pool \"ships\", object 0x",
	       ": bytes beside an object were overwritten.  2 bytes are wrong, the first at offset -2: 0x41 instead of "
	       "0x5a.  "
	       "Acquired by <thread>.  Further misuse of this pool is counted, not printed.\n");
}

static void release_twice(void)
{
	lfpool_t *pool = pool_named("ships", 10, "owner,no-tools");
	char *object = lfpool_acquire(pool);

	lfpool_label(pool, object, "physics");
	(void)lfpool_release(pool, object);
	(void)lfpool_release(pool, object);
	lfpool_destroy(pool);
}

TEST(double_release)
{
	expect(release_twice, "lfpool: pool \"ships\", object 0x",
	       ": release of an object that is not in use: a double release; refused.  Released by <thread> "
	       "(\"physics\") <age> ago.  Further misuse of this pool is counted, not printed.\n");
}

static void forget_some(void)
{
	lfpool_t *pool = pool_named("ships", 100, "owner,no-tools");
	char other_text[] = "physics";

	for (int i = 0; i < 9; i++) {
		void *object = lfpool_acquire(pool);

		/* Tags are compared by what they say. */
		if (i < 2)
			lfpool_label(pool, object, "audio");
		else if (i < 7)
			lfpool_label(pool, object, i % 2 ? "physics" : other_text);
	}
	lfpool_destroy(pool);
}

TEST(still_active)
{
	/* Of holders with equally many the one with the oldest comes first. */
	expect(forget_some, "lfpool: pool \"ships\" is destroyed while objects are active.\n",
	       "\n    active     oldest  holder\n"
	       "         5      <age>  \"physics\"\n"
	       "         2      <age>  \"audio\"\n"
	       "         2      <age>  <thread>\n"
	       "         9             in all\n");
}

static void forget_many_kinds(void)
{
	static char tags[2000][8];
	lfpool_t *pool = pool_named("ships", 5000, "owner,no-tools");

	for (int i = 0; i < 5000; i++) {
		snprintf(tags[i % 2000], sizeof(tags[0]), "%d", i % 2000);
		lfpool_label(pool, lfpool_acquire(pool), tags[i % 2000]);
	}
	lfpool_destroy(pool);
}

TEST(more_holders_than_there_is_room_for)
{
	char text[TEXT_BYTES];
	size_t lines = 0;

	stderr_of(forget_many_kinds, text);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 2 + 20 + 1 + 1);
	assert_non_null(strstr(text, "      5000             in all\n"));
	assert_non_null(strstr(text, "      4940             other holders\n"));
}

static void behave(void)
{
	lfpool_t *pool = pool_named("ships", 100, "check,poison,guard,quarantine=7,backtrace=1/2,zero");

	require_whole(pool, 64);
	require_whole(pool, 64);
	lfpool_destroy(pool);
}

TEST(nothing_to_say)
{
	char text[TEXT_BYTES];

	stderr_of(behave, text);
	assert_string_equal(text, "");
}

/* Pools that the environment does not change say so, the first of them. */
static void ask_in_vain(void)
{
	static _Alignas(LFPOOL_BUFFER_ALIGNMENT) char buffer[LFPOOL_BUFFER_BYTES(64, 0, 10)];
	lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;
	lfpool_priority_t *voices;
	lfpool_t *pool;

	REQUIRE(setenv("LFPOOL_BACKEND", "lockfree", 1) == 0 && unsetenv("LFPOOL_DEBUG") == 0);
	REQUIRE(lfpool_create_in(&pool, &CONFIG_OF(64, 10, .name = "silent"), buffer, sizeof(buffer)) == LFPOOL_OK);
	REQUIRE(setenv("LFPOOL_DEBUG", "poison", 1) == 0);
	REQUIRE(lfpool_create_in(&pool, &CONFIG_OF(64, 10, .name = "ships"), buffer, sizeof(buffer)) == LFPOOL_OK);
	config.object_size = 64;
	config.capacity = 10;
	REQUIRE(lfpool_priority_create(&voices, &config) == LFPOOL_OK);
	lfpool_priority_destroy(voices);
}

TEST(an_environment_in_vain)
{
	char text[TEXT_BYTES];

	stderr_of(ask_in_vain, text);
	assert_string_equal(text, "lfpool: pool \"ships\" is in a buffer: neither LFPOOL_BACKEND nor LFPOOL_DEBUG changes it.  "
				  "Further such pools are not told of.\n");
}

RUN_TESTS()
