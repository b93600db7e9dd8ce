/* SPDX-License-Identifier: MIT */
/* test: once */
/* unit_shared.c - os_is_shared(): memory that a child of a fork shares, among all kinds of mappings. */
#include "os/os.h"

#include "../support/child.h"

#include <stdio.h>
#include <sys/mman.h>

enum { PAGES = 4, MANY = 200 };

static char *map(size_t bytes, int flags, int file)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);

	REQUIRE(memory != MAP_FAILED);
	return memory;
}

TEST(memory_is_shared_if_one_of_its_pages_is)
{
	const size_t page = os_page_bytes(), bytes = PAGES * page;
	FILE *file = tmpfile();
	char *private, *shared, *of_file, *shared_of_file;
	int here = 0;

	REQUIRE(file && ftruncate(fileno(file), (off_t)bytes) == 0);
	private = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	shared = map(bytes, MAP_SHARED | MAP_ANONYMOUS, -1);
	of_file = map(bytes, MAP_PRIVATE, fileno(file));
	shared_of_file = map(bytes, MAP_SHARED, fileno(file));
	errno = 4242;
	assert_false(os_is_shared(private, bytes));
	assert_false(os_is_shared(of_file, bytes));
	assert_false(os_is_shared(&here, sizeof(here)));
	assert_true(os_is_shared(shared, bytes));
	assert_true(os_is_shared(shared_of_file, bytes));
	assert_true(os_is_shared(shared + bytes - 1, 1));
	assert_int_equal(errno, 4242);
	/* In the midst of private memory. */
	REQUIRE(mmap(private + page, page, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == private + page);
	assert_true(os_is_shared(private, bytes));
	assert_false(os_is_shared(private, page));
	assert_false(os_is_shared(private + 2 * page, 2 * page));
	REQUIRE(munmap(private, bytes) == 0 && munmap(shared, bytes) == 0);
	REQUIRE(munmap(of_file, bytes) == 0 && munmap(shared_of_file, bytes) == 0);
	REQUIRE(fclose(file) == 0);
}

/* More lines than are read at once; each second page is shared. */
TEST(every_second_of_many_mappings_is_shared)
{
	const size_t page = os_page_bytes();
	char *all = map(MANY * page, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	for (size_t i = 0; i < MANY; i += 2)
		REQUIRE(mmap(all + i * page, page, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
			MAP_FAILED);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(os_is_shared(all + i * page, page), i % 2 == 0);
	REQUIRE(munmap(all, MANY * page) == 0);
}

RUN_TESTS()
