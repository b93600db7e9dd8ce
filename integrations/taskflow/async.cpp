/* SPDX-License-Identifier: MIT */
/* async.cpp - for ./check: milliseconds for a million tasks that one thread hands to two workers; each is a node that
 * is made here and destroyed there. */
#include <taskflow/taskflow.hpp>

#include <chrono>
#include <cstdio>

int main()
{
	tf::Executor executor(2);

	/* In the second round the memory is there. */
	for (int round = 0; round < 2; round++) {
		const auto begin = std::chrono::steady_clock::now();

		for (int i = 0; i < 1000000; i++)
			executor.silent_async([] {});
		executor.wait_for_all();

		const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;

		if (round)
			std::printf("%.1f\n", spent.count());
	}
}
