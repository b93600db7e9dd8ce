/* SPDX-License-Identifier: MIT */
/* test: debug once */
/* test_debug_stderr.c - the exact text on stderr without a misuse hook: one line for the first misuse of a pool, with
 * the knowledge of the debug modes; and the list of active objects at the end.  The program continues. */
#include "../support/texts.h"

#include "lfpool/buffer.h"

#include <sys/syscall.h>

/* Replaces the thread's number by <thread>, and each age by <age>. */
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
		} else if (*from >= '0' && *from <= '9' && sscanf(from, "%u.%3u s%n", &seconds, &ms, &length) == 2 &&
			   length) {
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

static void release_twice(lfpool_t *pool, char *object)
{
	lfpool_label(pool, object, "physics");
	(void)lfpool_release(pool, object);
	(void)lfpool_release(pool, object);
}

static void release_a_stale_handle(lfpool_t *pool, char *object)
{
	const lfpool_handle_t handle = lfpool_handle_of(pool, object);

	(void)lfpool_release(pool, object);
	(void)lfpool_release_handle(pool, handle);
}

static const struct finding {
	const char *modes;
	void (*plant)(lfpool_t *pool, char *object);
	const char *said;
} findings[] = {
	{"owner,no-tools", release_twice,
	 "release of an object that is not in use: a double release; refused.  Released by <thread> (\"physics\") "
	 "<age> ago."},
	{"poison,no-tools", release_twice,
	 "release of an object that is not in use: a double release; refused.  Released by <thread> (\"physics\")."},
	{"", release_twice, "release of an object that is not in use: a double release; refused."},
	{"", release_a_stale_handle,
	 "release by a handle that names no active object of this pool; refused.  The slot is free."},
};

struct planted {
	const struct finding *finding;
	lfpool_t *pool;
	char *object;
};

/* Later ones are only counted. */
static void plant(void *argument)
{
	struct planted *p = argument;

	p->finding->plant(p->pool, p->object);
	REQUIRE(lfpool_quick_stats(p->pool).misuses == 1);
	REQUIRE(lfpool_release(p->pool, p) == LFPOOL_E_FOREIGN);
	REQUIRE(lfpool_quick_stats(p->pool).misuses == 2);
}

/* A second round: the first misuse is counted per pool. */
TEST(first_misuse_prints_one_line)
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
			 "lfpool: pool \"%s\", object %p: %s  Further misuse of this pool is counted, not printed.\n",
			 name, (void *)p.object, p.finding->said);
		assert_string_equal(text, expected);
		/* The debug modes' findings have already been reported. */
		stderr_of(destroy, p.pool, text);
	}
}

/* ---- At the end ---- */

TEST(destroy_prints_the_holders_of_active_objects)
{
	char text[TEXT_BYTES], other_text[] = "physics";
	lfpool_t *pool = POOL_OF(64, 100, .name = "ships", .debug = "owner,no-tools");

	for (int i = 0; i < 9; i++) {
		void *object = lfpool_acquire(pool);

		/* Labels are compared as text. */
		if (i < 2)
			lfpool_label(pool, object, "audio");
		else if (i < 7)
			lfpool_label(pool, object, i % 2 ? "physics" : other_text);
	}
	stderr_of(destroy, pool, text);
	make_general(text);
	/* Among holders with equal counts the one with the oldest object comes first. */
	require_in(text, "lfpool: pool \"ships\" is destroyed while objects are active.\n");
	require_in(text, "\n    active     oldest  holder\n"
			 "         5      <age>  \"physics\"\n"
			 "         2      <age>  \"audio\"\n"
			 "         2      <age>  <thread>\n"
			 "         9             in all\n");
}

/* ---- Pools that ignore the environment report it, once ---- */

static void ask_in_vain(void *nothing)
{
	static _Alignas(LFPOOL_BUFFER_ALIGNMENT) char buffer[LFPOOL_BUFFER_BYTES(64, 0, 10)];
	lfpool_t *pool;

	(void)nothing;
	REQUIRE(setenv("LFPOOL_BACKEND", "lockfree", 1) == 0);
	REQUIRE(lfpool_create_in(&pool, &CONFIG_OF(64, 10, .name = "silent"), buffer, sizeof(buffer)) == LFPOOL_OK);
	REQUIRE(setenv("LFPOOL_DEBUG", "poison", 1) == 0);
	REQUIRE(lfpool_create_in(&pool, &CONFIG_OF(64, 10, .name = "ships"), buffer, sizeof(buffer)) == LFPOOL_OK);
	REQUIRE(unsetenv("LFPOOL_BACKEND") == 0 && unsetenv("LFPOOL_DEBUG") == 0);
}

TEST(environment_that_a_buffer_ignores_is_reported_once)
{
	char text[TEXT_BYTES];

	REQUIRE(unsetenv("LFPOOL_DEBUG") == 0);
	stderr_of(ask_in_vain, NULL, text);
	assert_string_equal(
		text, "lfpool: pool \"ships\" is in a buffer: neither LFPOOL_BACKEND nor LFPOOL_DEBUG changes it.  "
		      "Further such pools are not told of.\n");
}

RUN_TESTS()
