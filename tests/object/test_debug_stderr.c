/* SPDX-License-Identifier: MIT */
/* test: debug once */
/*
 * test_debug_stderr.c - what is written to stderr when there is no misuse hook, word for word: one line for the first misuse of a
 * pool, with what the debug modes know; and the list of what was active at the end.  It ends nothing.
 */
#include "../support/texts.h"

#include "lfpool/buffer.h"
#include "lfpool/priority.h"

#include <sys/syscall.h>

/* The thread's number as <thread>, each age as <age>. */
static void make_general(char *text)
{
	char number[20], *to = text;

	snprintf(number, sizeof(number), "thread %d", (int)syscall(SYS_gettid));
	for (const char *from = text; *from;) {
		unsigned seconds, ms;
		int length = 0;

		if (strncmp(from, number, strlen(number)) == 0) {
			to = stpcpy(to, "<thread>");
			from += strlen(number);
		} else if (*from >= '0' && *from <= '9' && sscanf(from, "%u.%3u s%n", &seconds, &ms, &length) == 2 && length) {
			to = stpcpy(to, "<age>");
			from += length;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

static void destroy(void *pool)
{
	(void)lfpool_destroy(pool);
}

/* ---- The first misuse ---- */

static void write_late(lfpool_t *pool, char *object)
{
	lfpool_label(pool, object, "physics");
	(void)lfpool_release(pool, object);
	object[9] = 'A';
	REQUIRE(lfpool_acquire(pool) == object);
}

static void write_beside(lfpool_t *pool, char *object)
{
	object[-1] = object[-2] = 'A';
	(void)lfpool_release(pool, object);
}

static void release_twice(lfpool_t *pool, char *object)
{
	lfpool_label(pool, object, "physics");
	(void)lfpool_release(pool, object);
	(void)lfpool_release(pool, object);
}

static void release_inside(lfpool_t *pool, char *object)
{
	(void)lfpool_release(pool, object + 1);
}

static void release_a_stale_handle(lfpool_t *pool, char *object)
{
	const lfpool_handle_t handle = lfpool_handle_of(pool, object);

	(void)lfpool_release(pool, object);
	(void)lfpool_release_handle(pool, handle);
}

/* A byte of the word with which poison or guard fills memory, whichever end comes first. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define POISON_1 "0xea"
#define GUARD_2 "0xa5"
#else
#define POISON_1 "0xdb"
#define GUARD_2 "0x5a"
#endif

static const struct finding {
	const char *modes;
	void (*plant)(lfpool_t *pool, char *object);
	const char *said;
} findings[] = {
	{"poison,no-tools", write_late,
	 "an object was written to after its release.  1 byte is wrong, the first at offset 9: 0x41 instead of " POISON_1
	 ".  Released by "
	 "<thread> (\"physics\")."},
	{"guard,no-tools", write_beside,
	 "bytes beside an object were overwritten.  2 bytes are wrong, the first at offset -2: 0x41 instead of " GUARD_2
	 ".  Acquired by "
	 "<thread>."},
	{"owner,no-tools", release_twice,
	 "release of an object that is not in use: a double release; refused.  Released by <thread> (\"physics\") <age> ago."},
	{"poison,no-tools", release_twice,
	 "release of an object that is not in use: a double release; refused.  Released by <thread> (\"physics\")."},
	{"", release_twice, "release of an object that is not in use: a double release; refused."},
	{"", release_inside, "release of a pointer into the pool that is not the start of an object; refused."},
	{"", release_a_stale_handle, "release by a handle that names no active object of this pool; refused.  The slot is free."},
};

struct planted {
	const struct finding *finding;
	lfpool_t *pool;
	char *object;
};

/* Whatever follows is counted. */
static void plant(void *argument)
{
	struct planted *p = argument;

	p->finding->plant(p->pool, p->object);
	REQUIRE(lfpool_misuse_count(p->pool) == 1);
	REQUIRE(lfpool_release(p->pool, p) == LFPOOL_E_FOREIGN);
	REQUIRE(lfpool_misuse_count(p->pool) == 2);
}

/* The second round: the first time is counted per pool. */
TEST(the_first_misuse_is_told_in_one_line)
{
	char text[TEXT_BYTES], expected[1000];

	for (size_t i = 0; i < 2 * COUNT(findings); i++) {
		struct planted p = {.finding = &findings[i % COUNT(findings)]};
		const char *name = i < COUNT(findings) ? "ships" : "unnamed";

		p.pool = POOL_OF(64, 10, .name = i < COUNT(findings) ? name : NULL, .debug = p.finding->modes);
		p.object = lfpool_acquire(p.pool);
		stderr_of(plant, &p, text);
		make_general(text);
		snprintf(expected, sizeof(expected),
			 "lfpool: pool \"%s\", object %p: %s  Further misuse of this pool is counted, not printed.\n", name,
			 (void *)(p.object + (p.finding->plant == release_inside)), p.finding->said);
		assert_string_equal(text, expected);
		/* What the modes find then has been told. */
		stderr_of(destroy, p.pool, text);
	}
}

/* ---- At the end ---- */

TEST(still_active)
{
	char text[TEXT_BYTES], other_text[] = "physics";
	lfpool_t *pool = POOL_OF(64, 100, .name = "ships", .debug = "owner,no-tools");

	for (int i = 0; i < 9; i++) {
		void *object = lfpool_acquire(pool);

		/* Labels are compared by what they say. */
		if (i < 2)
			lfpool_label(pool, object, "audio");
		else if (i < 7)
			lfpool_label(pool, object, i % 2 ? "physics" : other_text);
	}
	stderr_of(destroy, pool, text);
	make_general(text);
	/* Of holders with equally many the one with the oldest comes first. */
	require_in(text, "lfpool: pool \"ships\" is destroyed while objects are active.\n");
	require_in(text, "\n    active     oldest  holder\n"
			 "         5      <age>  \"physics\"\n"
			 "         2      <age>  \"audio\"\n"
			 "         2      <age>  <thread>\n"
			 "         9             in all\n");
}

TEST(more_holders_than_there_is_room_for)
{
	static char labels[2000][8], text[TEXT_BYTES];
	lfpool_t *pool = POOL_OF(64, 5000, .name = "ships", .debug = "owner,no-tools");
	size_t lines = 0;

	for (int i = 0; i < 5000; i++) {
		snprintf(labels[i % 2000], sizeof(labels[0]), "%d", i % 2000);
		lfpool_label(pool, lfpool_acquire(pool), labels[i % 2000]);
	}
	stderr_of(destroy, pool, text);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 2 + 20 + 1 + 1);
	require_in(text, "      5000             in all\n");
	require_in(text, "      4940             other holders\n");
}

/* ---- Nothing to say ---- */

static void behave(void *pool)
{
	require_whole(pool, 64);
	REQUIRE(lfpool_release(pool, NULL) == LFPOOL_OK);
	pool_close(pool, 64);
}

TEST(nothing_to_say)
{
	char text[TEXT_BYTES];

	stderr_of(behave, POOL_OF(64, 100, .debug = "check,poison,guard,quarantine=7,backtrace=1/2,zero"), text);
	assert_string_equal(text, "");
}

/* ---- Pools that the environment does not change say so, the first of them ---- */

static void ask_in_vain(void *nothing)
{
	static _Alignas(LFPOOL_BUFFER_ALIGNMENT) char buffer[LFPOOL_BUFFER_BYTES(64, 0, 10)];
	lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;
	lfpool_priority_t *voices;
	lfpool_t *pool;

	(void)nothing;
	REQUIRE(setenv("LFPOOL_BACKEND", "lockfree", 1) == 0);
	REQUIRE(lfpool_create_in(&pool, &CONFIG_OF(64, 10, .name = "silent"), buffer, sizeof(buffer)) == LFPOOL_OK);
	REQUIRE(setenv("LFPOOL_DEBUG", "poison", 1) == 0);
	REQUIRE(lfpool_create_in(&pool, &CONFIG_OF(64, 10, .name = "ships"), buffer, sizeof(buffer)) == LFPOOL_OK);
	config.object_size = 64;
	config.capacity = 10;
	REQUIRE(lfpool_priority_create(&voices, &config) == LFPOOL_OK);
	lfpool_priority_destroy(voices);
	REQUIRE(unsetenv("LFPOOL_BACKEND") == 0 && unsetenv("LFPOOL_DEBUG") == 0);
}

TEST(an_environment_in_vain)
{
	char text[TEXT_BYTES];

	REQUIRE(unsetenv("LFPOOL_DEBUG") == 0);
	stderr_of(ask_in_vain, NULL, text);
	assert_string_equal(text, "lfpool: pool \"ships\" is in a buffer: neither LFPOOL_BACKEND nor LFPOOL_DEBUG changes it.  "
				  "Further such pools are not told of.\n");
}

RUN_TESTS()
