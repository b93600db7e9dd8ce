/* SPDX-License-Identifier: MIT */
/*
 * test_real_time.c - the table of docs/real-time.md, held against calls that may not enter the kernel, nor use the heap, nor take
 * a lock.
 *
 * Idea         The table is read.  Each function of it that does not enter the kernel, or only for reasons it names, is called
 *              where none of the reasons is given, in processes that may not (armed.h); and nothing else is.  What the
 *              calls were is known from a journal, so a row without a call fails, and a call without a row.
 * Witness      That the traps work, and that the reasons are some: calls that do not come out of it.
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

/* By what the process ended; NULL: by itself. */
static const char *trapped_by(int status)
{
#ifdef WITH_RTSAN
	return status == 43 ? "RealtimeSanitizer" : NULL;
#else
	return journal->trapped ? journal->trapped : status == -SIGSYS ? "kernel" : NULL;
#endif
}

static bool is_expected(const struct group *group, int status, const char *trapped)
{
	if (!group->trapped || !trapped)
		return !group->trapped && !trapped && status == 0;
#ifdef WITH_RTSAN
	return true;
#else
	return !strcmp(trapped, group->trapped);
#endif
}

/* False, and why, if it does not end as it should. */
static bool ends_as_it_should(const struct group *group)
{
	journal->trapped = NULL;
	journal->now = SIZE_MAX;
	running = group;

	const int status = run_in_process(run_and_disarm);
	const char *trapped = trapped_by(status);

	journal->armed = false;
	if (is_expected(group, status, trapped))
		return true;
	fprintf(stderr, "%s: ended with %d by %s", group->name, status, trapped ? trapped : "itself");
	if (journal->now < journal->count)
		fprintf(stderr, ", in %s (%s)", journal->entry[journal->now].function, journal->entry[journal->now].state);
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

TEST(what_is_trapped_does_not_survive)
{
	assert_int_equal(wrong_of(groups_of_traps), 0);
	assert_int_equal(journal->count, 0);
}

TEST(calls_that_need_no_kernel_no_heap_and_no_lock)
{
	assert_int_equal(wrong_of(groups_of_pools) + wrong_of(groups_of_others), 0);
}

/* ---- The table ---- */

struct row {
	char function[64], kernel[128];
};

/* The rows of the table: "| `function` | progress | kernel | ...". */
static size_t read_table(struct row *rows, size_t room)
{
	FILE *file = fopen(LFPOOL_TABLE, "r");
	char line[1024];
	size_t count = 0;

	REQUIRE(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "| `%63[a-z_]` | %*[^|] | %127[^|]|", rows[count].function, rows[count].kernel) == 2) {
			REQUIRE(++count < room);
		}
	fclose(file);
	return count;
}

/* Of components that may not be here. */
static bool is_left_out(const char *function)
{
#ifdef WITH_RCU
	const bool rcu = true;
#else
	const bool rcu = false;
#endif
#ifdef WITH_EPOCH
	const bool epoch = true;
#else
	const bool epoch = false;
#endif
	return (!rcu && !strcmp(function, "lfpool_rcu_scheme")) || (!epoch && strstr(function, "_epoch"));
}

static bool was_called(const char *function)
{
	for (size_t i = 0; i < journal->count; i++)
		if (!strcmp(journal->entry[i].function, function))
			return true;
	return false;
}

TEST(each_row_was_called_or_says_that_it_enters_the_kernel)
{
	static struct row rows[300];
	const size_t count = read_table(rows, COUNT(rows));
	size_t wrong = 0, without = 0;

	for (size_t i = 0; i < count; i++) {
		const bool enters = !strncmp(rows[i].kernel, "yes ", 4);

		without += !enters;
		if (!is_left_out(rows[i].function) && was_called(rows[i].function) == enters) {
			fprintf(stderr, "%s: the table says \"%s\"; it was%s called\n", rows[i].function, rows[i].kernel,
				enters ? "" : " not");
			wrong++;
		}
	}
	for (size_t i = 0; i < journal->count; i++) {
		size_t row = 0;

		while (row < count && strcmp(rows[row].function, journal->entry[i].function) != 0)
			row++;
		if (row == count) {
			fprintf(stderr, "%s has no row\n", journal->entry[i].function);
			wrong++;
		}
	}
	printf("%zu functions, %zu of them called in %zu states\n", count, without, journal->count);
	assert_int_equal(wrong, 0);
	assert_true(without > 80);
}

int main(void)
{
	journal = mmap(NULL, sizeof(*journal), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	REQUIRE(journal != MAP_FAILED);
	return tests_run(NULL, NULL);
}
