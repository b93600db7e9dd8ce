/* SPDX-License-Identifier: MIT */
/*
 * test_threads.cpp - objects made on one thread and destroyed on another, by pointers, caches and constructors that throw:
 * none is lost, none is destroyed twice, none is seen half made.
 */
#include <lfpool/set.hpp>

#include "check.hpp"

#include <array>
#include <list>
#include <map>
#include <string>
#include <thread>
#include <vector>

enum { THREADS = 4, ROUNDS = 20000 };

struct message : counted {
	std::array<long, 6> words;

	explicit message(long number_) : counted(number_)
	{
		words.fill(number_);
		if (number_ % 7 == 0)
			throw number_;
	}
	bool holds() const
	{
		for (long word : words)
			if (word != number)
				return false;
		return true;
	}
};

using box = std::atomic<message *>;

/* Makes a message, puts it into a box, and destroys what was there. */
template <typename Maker> static void exchange(Maker maker, box *boxes, long seed)
{
	for (long i = 0; i < ROUNDS; i++) {
		const long number = i * THREADS + seed;
		message *old;

		try {
			message *made = maker.make(number);

			CHECK(made && number % 7);
			old = boxes[number % 5].exchange(made);
		} catch (long thrown) {
			CHECK(thrown == number && number % 7 == 0);
			old = boxes[i % 5].exchange(nullptr);
		}
		if (old) {
			CHECK(old->holds());
			CHECK(maker.destroy(old) == LFPOOL_OK);
		}
	}
}

struct by_pool {
	lfpool::pool<message> *pool;
	message *make(long number) { return pool->make(number); }
	lfpool_status_t destroy(message *m) { return pool->destroy(m); }
};

static void messages_go_round()
{
	std::array<box, 5> boxes{};
	/* Each thread has one in hand at most, new or old. */
	lfpool::pool<message> pool(boxes.size() + THREADS);
	std::vector<std::thread> threads;

	for (long t = 0; t < THREADS; t++)
		threads.emplace_back([&pool, &boxes, t] {
			if (t % 2)
				exchange(by_pool{&pool}, boxes.data(), t);
			else
				exchange(lfpool::cache<message>(pool), boxes.data(), t);
		});
	for (std::thread &thread : threads)
		thread.join();
	CHECK(static_cast<long>(pool.active_count()) == counted::alive());
	for (box &b : boxes)
		pool.destroy(b.load());
	CHECK(counted::alive() == 0 && pool.active_count() == 0 && lfpool_misuse_count(pool.get()) == 0);
	CHECK(!lfpool_check(pool.get(), nullptr));
}

static void pointers_change_hands()
{
	lfpool::pool<counted> pool(64);
	std::vector<lfpool::unique_ptr<counted>> handed;
	std::vector<lfpool::self_ptr<counted>> selves;

	for (int round = 0; round < 50; round++) {
		std::thread([&] {
			for (long i = 0; i < 32; i++) {
				handed.push_back(pool.make_unique(i));
				selves.push_back(pool.make_self(i));
			}
		}).join();
		CHECK(counted::alive() == 64 && !pool.make_unique(1));
		handed.clear();
		selves.clear();
		CHECK(counted::alive() == 0 && pool.active_count() == 0);
	}
}

/* Each thread with containers of its own, all on one set; some are destroyed by another thread. */
static void containers_on_one_set()
{
	using text = std::basic_string<char, std::char_traits<char>, lfpool::allocator<char>>;
	using pair_allocator = lfpool::allocator<std::pair<const int, text>>;
	using map = std::map<int, text, std::less<int>, pair_allocator>;

	lfpool::set set(lfpool::set_config());
	std::vector<std::thread> threads;
	std::vector<map> maps;

	for (int t = 0; t < THREADS; t++)
		maps.emplace_back(pair_allocator(set));
	for (int t = 0; t < THREADS; t++)
		threads.emplace_back([&set, &maps, t] {
			map &mine = maps[static_cast<std::size_t>(t)];
			std::list<int, lfpool::allocator<int>> list{lfpool::allocator<int>(set)};

			for (int i = 0; i < 2000; i++) {
				mine.emplace(i, text(static_cast<std::size_t>(i % 300), 'x', lfpool::allocator<char>(set)));
				list.push_back(i);
				if (i % 3 == 0)
					mine.erase(i / 2);
			}
			CHECK(list.size() == 2000);
		});
	for (std::thread &thread : threads)
		thread.join();
	for (const map &m : maps) {
		for (const auto &entry : m)
			CHECK(entry.second.size() == static_cast<std::size_t>(entry.first % 300) &&
			      entry.second.find_first_not_of('x') == text::npos);
		CHECK(m.size() > 1000);
	}
	maps.clear();
	CHECK(set.close() == 0);
}

int main()
{
	RUN(messages_go_round);
	RUN(pointers_change_hands);
	RUN(containers_on_one_set);
}
