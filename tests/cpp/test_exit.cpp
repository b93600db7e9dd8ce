/* SPDX-License-Identifier: MIT */
/*
 * test_exit.cpp - the end of a program with a static pool: owners that are thread-local or static let go of their objects before
 * the pool is closed, and a thread that used it may still be there.
 *
 * What ends last was begun first: a handler that stands for all that a program does after its pools are gone.  The exit status
 * is its verdict; without it, 1.
 */
#include "lfpool/lfpool.hpp"

#include "check.hpp"

#include <future>
#include <thread>

namespace
{

long closed_with = -1;

struct holder {
	lfpool::pool<counted> pool{100};

	~holder() { closed_with = static_cast<long>(pool.close()); }
};

lfpool::pool<counted> &jobs()
{
	static holder only;

	return only.pool;
}

lfpool::unique_ptr<counted> made(long number)
{
	lfpool::unique_ptr<counted> object = jobs().make_unique(number);

	CHECK(object);
	return object;
}

[[noreturn]] void after_all()
{
	/* What the thread that stays holds, and nothing else. */
	CHECK(closed_with == 1);
	CHECK(counted::alive() == 1);
	std::_Exit(0);
}

} // namespace

int main()
{
	if (std::atexit(after_all) != 0)
		return 1;

	/* Made after the pool, and so gone before it. */
	static lfpool::unique_ptr<counted> of_all = made(1);
	thread_local lfpool::unique_ptr<counted> of_main = made(2);
	static std::promise<void> holds;

	std::thread([] {
		const counted *mine = jobs().make(3);

		CHECK(mine);
		holds.set_value();
		for (;;)
			std::this_thread::sleep_for(std::chrono::hours(1));
	}).detach();
	holds.get_future().wait();
	std::thread([] {
		thread_local lfpool::unique_ptr<counted> of_thread = made(4);

		CHECK(of_thread);
	}).join();
	CHECK(of_all && of_main && counted::alive() == 3);
	return 1;
}
