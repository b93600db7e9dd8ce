/* SPDX-License-Identifier: MIT */
/*
 * borrow.cpp - nanoseconds to borrow an item of a marl::UnboundedPool and give it back: borrow THREADS [tasks].
 *
 * THREADS 1 or 2: each thread borrows 32 items and drops them, again and again.  With `tasks`: each of 10,000 tasks of
 * marl's scheduler, with THREADS workers, borrows one; the figure includes the scheduler.
 */
#include <marl/defer.h>
#include <marl/pool.h>
#include <marl/scheduler.h>
#include <marl/waitgroup.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace
{

struct Job {
	int64_t words[6];
};

using Pool = marl::UnboundedPool<Job>;

void work(const Pool &pool, int rounds)
{
	std::vector<Pool::Loan> loans(32);

	for (int i = 0; i < rounds; i++) {
		for (auto &loan : loans) {
			loan = pool.borrow();
			loan->words[0] = i;
		}
		for (auto &loan : loans) {
			loan.reset();
		}
	}
}

double now()
{
	const auto since = std::chrono::steady_clock::now().time_since_epoch();
	return std::chrono::duration<double, std::nano>(since).count();
}

double by_threads(int threads)
{
	constexpr int rounds = 50000;
	Pool pool;
	std::vector<std::thread> others;

	work(pool, 1000);
	const double start = now();
	for (int i = 1; i < threads; i++) {
		others.emplace_back([&pool] { work(pool, rounds); });
	}
	work(pool, rounds);
	for (auto &other : others) {
		other.join();
	}
	return (now() - start) / (rounds * 32);
}

double by_tasks(int workers)
{
	constexpr int tasks = 10000;
	marl::Scheduler::Config config;
	marl::Scheduler scheduler(config.setWorkerThreadCount(workers));
	Pool pool;

	scheduler.bind();
	defer(scheduler.unbind());

	double start = 0;
	for (int round = 0; round < 21; round++) {
		marl::WaitGroup done(tasks);
		if (round == 1) {
			start = now();
		}
		for (int i = 0; i < tasks; i++) {
			marl::schedule([=] {
				pool.borrow()->words[0] = i;
				done.done();
			});
		}
		done.wait();
	}
	return (now() - start) / (20 * tasks);
}

} // namespace

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? std::atoi(argv[1]) : 1;

	std::printf("%.1f\n", argc > 2 ? by_tasks(threads) : by_threads(threads));
	return 0;
}
