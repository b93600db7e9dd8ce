/* SPDX-License-Identifier: MIT */
/*
 * test_real_time.c - calls that must not enter the kernel, use the heap, or take a lock.
 *
 * Idea         Each function that by docs/real-time.md does not enter the kernel, or only for named reasons, is
 *              called without any of these reasons, in armed processes (armed.h). The script `table` compares the
 *              journal of calls with that document.
 * Witness      The traps work, and the reasons are real: calls that the trap catches.
 */
#include "armed.h"

#include <sys/mman.h>

struct journal *journal;

void journal_note(const char *function, const char *state)
{
	size_t i = 0;

	while (i < journal->count &&
	       (strcmp(journal->entry[i].function, function) != 0 || strcmp(journal->entry[i].state, state) != 0))
		i++;
	MUST(i < COUNT(journal->entry));
	journal->now = i;
	if (i < journal->count)
		return;
	journal->entry[i] = (struct journal_entry){function, state};
	journal->count++;
}

/* ---- Processes ---- */

static const struct group *running;

static void run_and_disarm(void)
{
	if (running->run_kind)
		running->run_kind(running->kind);
	else
		running->run();
	disarm();
}

/* The trap that ended the process; NULL: it ended normally. */
static const char *trapped_by(int status)
{
	return journal->trapped ? journal->trapped : status == -SIGSYS ? "kernel" : NULL;
}

static bool is_expected(const struct group *group, int status, const char *trapped)
{
	if (!group->trapped || !trapped)
		return !group->trapped && !trapped && status == 0;
	return !strcmp(trapped, group->trapped);
}

/* If it does not end as expected, false, with the reason. */
static bool ends_as_it_should(const struct group *group)
{
	journal->trapped = NULL;
	journal->now = SIZE_MAX;
	running = group;

	const int status = run_in_process(run_and_disarm);
	const char *trapped = trapped_by(status);

	if (is_expected(group, status, trapped))
		return true;
	fprintf(stderr, "%s: ended with %d by %s", group->name, status, trapped ? trapped : "itself");
	if (journal->now < journal->count)
		fprintf(stderr, ", in %s (%s)", journal->entry[journal->now].function,
			journal->entry[journal->now].state);
	fprintf(stderr, "; expected: %s\n", group->trapped ? group->trapped : "to live");
	return false;
}

static size_t wrong_of(const struct group *groups)
{
	size_t wrong = 0;

	for (const struct group *group = groups; group->name; group++)
		wrong += !ends_as_it_should(group);
	return wrong;
}

TEST(trapped_calls_end_the_process)
{
	assert_int_equal(wrong_of(groups_of_traps), 0);
	assert_int_equal(journal->count, 0);
}

TEST(calls_that_need_no_kernel_no_heap_and_no_lock)
{
	assert_int_equal(wrong_of(groups_of_pools) + wrong_of(groups_of_others), 0);
}

int main(void)
{
	journal = mmap(NULL, sizeof(*journal), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	REQUIRE(journal != MAP_FAILED);

	const int failed = tests_run(NULL, NULL);

	for (size_t i = 0; i < journal->count; i++)
		printf("called: %s, %s\n", journal->entry[i].function, journal->entry[i].state);
	return failed;
}
