/* SPDX-License-Identifier: MIT */
/* test_new_delete.cpp - operator new over a set: where memory comes from, and where it goes back to. */
#include "check.hpp"

#include "lfpool/new_delete.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

static bool from_set(const void *memory)
{
	return lfpool_set_pool_of(lfpool::detail::set_of_new(), memory, nullptr) != nullptr;
}

TEST(small_memory_comes_from_the_set_and_large_memory_from_malloc)
{
	char *small = new char[1000], *large = new char[2000];

	CHECK(from_set(small) && !from_set(large));
	CHECK(reinterpret_cast<std::uintptr_t>(small) % alignof(std::max_align_t) == 0);
	delete[] small;
	delete[] large;
	delete static_cast<char *>(nullptr);

	char *again = new char[1000];

	CHECK(again == small);
	delete[] again;
}

TEST(threads_delete_what_others_made)
{
	lfpool_stats_t before, after;

	CHECK(lfpool_set_stats(lfpool::detail::set_of_new(), &before) == LFPOOL_OK);
	for (int round = 0; round < 10; round++) {
		std::map<int, std::string> *texts = nullptr;

		std::thread([&texts] {
			texts = new std::map<int, std::string>();
			for (int i = 0; i < 1000; i++)
				(*texts)[i] = "a text that is longer than what fits into the string object";
		}).join();
		delete texts;
	}
	CHECK(lfpool_set_stats(lfpool::detail::set_of_new(), &after) == LFPOOL_OK);
	CHECK(after.acquires - before.acquires >= 10 * 2000 && after.misuses == 0);
	CHECK(after.active <= before.active + 100);
}

int main()
{
	return test::run_all();
}
