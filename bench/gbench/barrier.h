/* SPDX-License-Identifier: MIT */
/*
 * barrier.h - threads that wait for each other; C++.
 *
 * Idea         A counter under a mutex says how many have arrived.  Who waits looks at the number of the turn for a
 *              while before it goes to sleep: threads that are woken up start late, and one after the other.
 * Invariants   B1  a turn ends when at least one has arrived and the others have arrived or left, and not before.
 * Concurrency  All members at once; reopen() while nobody is in it.
 * Edges        What members wrote before they arrived is visible to all after the turn: each arrival takes the mutex,
 *              and the last one publishes the turn.
 */
#ifndef GBENCH_BARRIER_H
#define GBENCH_BARRIER_H

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace gbench_internal {

/* Looks at the turn before a thread goes to sleep: some 10 us. */
const int SPINS = 500;

class barrier {
public:
	/* All members are back.  Nobody waits now. */
	void reopen()
	{
		away_ = 0;
	}

	void wait(int members)
	{
		std::unique_lock<std::mutex> lock(mutex_);
		const unsigned turn = turn_.load(std::memory_order_relaxed);

		arrived_++;
		if (turn_if_complete(members))
			return;
		lock.unlock();
		for (int i = 0; i < SPINS; i++) {
			/* acquire: what the others wrote before they arrived. */
			if (turn_.load(std::memory_order_acquire) != turn)
				return;
#if defined(__x86_64__) || defined(__i386__)
			__builtin_ia32_pause();
#endif
		}
		lock.lock();
		/* relaxed: under the mutex. */
		turned_.wait(lock, [&] { return turn_.load(std::memory_order_relaxed) != turn; });
	}

	/* The caller will not come any more. */
	void leave(int members)
	{
		std::lock_guard<std::mutex> lock(mutex_);

		away_++;
		turn_if_complete(members);
	}

private:
	bool turn_if_complete(int members)
	{
		if (arrived_ == 0 || arrived_ + away_ < members)
			return false;
		arrived_ = 0;
		/* release: what we wrote, and what those wrote that had the mutex before us. */
		turn_.store(turn_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
		turned_.notify_all();
		return true;
	}

	std::mutex mutex_;
	std::condition_variable turned_;
	/* Written under the mutex. */
	int arrived_ = 0;
	int away_ = 0;
	std::atomic<unsigned> turn_{0};
};

} // namespace gbench_internal

#endif
