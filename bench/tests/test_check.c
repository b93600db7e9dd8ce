/* SPDX-License-Identifier: MIT */
/*
 * test_check.c - a subject that does what it must not is found out: check.c, check_evicting.c.  Each runs in a process of its own,
 * which must end with the reason.
 */
#include "common/harness.h"
#include "common/test.h"

#include "../subjects.h"
#include "../workload.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is wrong. */
static enum fault { NONE, TWICE, LOST, WRITES, TOO_MANY, NOT_THE_LEAST, STALE } fault;

extern const struct subject subject_free_list, subject_released_at_once, subject_heap_unlocked;

/* ---- A pool, and what it does with a fault ---- */

static void *given; /* an object that a thread holds; NULL: none yet */

static void *open_faulty(const struct plan *plan)
{
	struct plan own = *plan;

	own.capacity += fault == TOO_MANY;
	return subject_free_list.open(&own);
}

static size_t fill(struct worker *worker, size_t count)
{
	void **const first = &worker->objects[worker->held];
	const size_t got = subject_free_list.loops.fill(worker, count);

	if (fault == WRITES && given)
		memset(given, 7, 64);
	if (fault == TWICE && given)
		*first = given;
	if (got)
		given = *first;
	return got;
}

static size_t drain(struct worker *worker, size_t count)
{
	if (fault == LOST)
		worker->held--;
	return subject_free_list.loops.drain(worker, count - (fault == LOST));
}

/* ---- One that evicts, and its calls with a fault ---- */

static void *last;

static void *acquire_filled(void *hand, uint64_t priority, uint64_t *handle_out)
{
	void *object = subject_heap_unlocked.loops.evicting->acquire(hand, priority, handle_out);

	if (object)
		last = object;
	return object;
}

static bool update(void *hand, uint64_t handle, uint64_t priority)
{
	if (fault == WRITES && last)
		memset(last, 7, EVICTING_BYTES);
	if (fault == NOT_THE_LEAST)
		priority = 0;
	return subject_heap_unlocked.loops.evicting->update(hand, handle, priority) || fault == STALE;
}

static bool give_back(void *hand, uint64_t handle)
{
	return subject_heap_unlocked.loops.evicting->release(hand, handle) || fault == STALE;
}

static const struct evicting_calls calls = {acquire_filled, update, give_back};

/* ---- The tests ---- */

/* Its last line is `why`; NULL: it finds nothing. */
static void expect(enum fault its, const struct subject *subject, const char *why)
{
	FILE *file = tmpfile();
	char said[4096] = "";
	int status;

	assert_non_null(file);
	fflush(NULL);

	const pid_t child = fork();

	if (child == 0) {
		(void)dup2(fileno(file), STDERR_FILENO);
		fault = its;
		check_subject(subject);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	rewind(file);
	(void)!fread(said, 1, sizeof(said) - 1, file);
	(void)fclose(file);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != (why ? 3 : 0) || (why && !strstr(said, why)))
		fail_msg("fault %d: status %x, it says: %s", its, (unsigned)status, said);
}

TEST(pools_with_a_fault_are_found_out)
{
	struct subject faulty = subject_free_list;

	faulty.open = open_faulty;
	faulty.loops.fill = fill;
	faulty.loops.drain = drain;
	expect(NONE, &faulty, NULL);
	expect(TWICE, &faulty, "an object changed while it was held");
	expect(LOST, &faulty, "fewer objects than it should have");
	expect(WRITES, &faulty, "an object changed while it was held");
	expect(TOO_MANY, &faulty, "more objects than it should have");
}

TEST(evicting_pools_with_a_fault_are_found_out)
{
	struct subject evicting = subject_heap_unlocked;

	evicting.loops.evicting = &calls;
	expect(NONE, &evicting, NULL);
	expect(NOT_THE_LEAST, &evicting, "it evicts another than the least");
	expect(STALE, &evicting, "a stale handle is not refused");
	expect(WRITES, &evicting, "an object changed while it was held");
}

TEST(a_release_that_does_not_wait_is_found_out)
{
	expect(NONE, &subject_released_at_once, "a node was used again while a thread read it");
}

int main(void)
{
	/* Readers look at what was released, and AddressSanitizer would say so. */
	assert_int_equal(setenv("LFPOOL_DEBUG", "no-tools", 1), 0);
	return tests_run(NULL, NULL);
}
