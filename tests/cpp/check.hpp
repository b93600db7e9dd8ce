/* SPDX-License-Identifier: MIT */
/* check.hpp - shared by the tests of lfpool.hpp: a check that ends the program, and a type that counts its objects. */
#ifndef LFPOOL_TESTS_CHECK_HPP
#define LFPOOL_TESTS_CHECK_HPP

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "lfpool/report.h"

#define CHECK(condition) ((condition) ? static_cast<void>(0) : check_failed(#condition, __FILE__, __LINE__))

[[noreturn]] inline void check_failed(const char *condition, const char *file, int line)
{
	std::fprintf(stderr, "%s:%d: required: %s\n", file, line, condition);
	std::abort();
}

/* Every TEST(name) { ... } is run, in the order of the file: it enters itself in a list before main(). */
struct test {
	void (*run)();
	const char *name;
	test *next = nullptr;

	test(void (*run_)(), const char *name_) : run(run_), name(name_)
	{
		test **last = &first();

		while (*last)
			last = &(*last)->next;
		*last = this;
	}
	static test *&first()
	{
		static test *list = nullptr;
		return list;
	}
	static int run_all()
	{
		for (const test *t = first(); t; t = t->next) {
			t->run();
			std::puts(t->name);
		}
		return 0;
	}
};

#define TEST(name)                            \
	static void name();                   \
	static test test_##name(name, #name); \
	static void name()

/* An object that checks its own contents, and counts the existing ones. */
class counted {
public:
	static std::atomic<long> &alive()
	{
		static std::atomic<long> count{0};
		return count;
	}

	explicit counted(long number_) : number(number_), mark_(WHOLE) { alive()++; }
	counted(const counted &) = delete;
	counted &operator=(const counted &) = delete;
	~counted()
	{
		CHECK(mark_ == WHOLE);
		mark_ = GONE;
		alive()--;
	}
	bool whole() const { return mark_ == WHOLE; }

	long number;

private:
	enum mark { WHOLE = 0x600d, GONE = 0xdead };
	volatile mark mark_;
};

/* The objects of a set in use. */
#ifdef LFPOOL_SET_HPP
inline std::size_t active(const lfpool::set &set)
{
	lfpool_stats_t stats;

	CHECK(lfpool_set_stats(set.get(), &stats) == LFPOOL_OK && stats.misuses == 0);
	return stats.active;
}
#endif

#endif
