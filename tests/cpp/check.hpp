/* SPDX-License-Identifier: MIT */
/*
 * check.hpp - what the tests of lfpool.hpp share: a check that ends the program, and a type that counts its objects.
 */
#ifndef LFPOOL_TESTS_CHECK_HPP
#define LFPOOL_TESTS_CHECK_HPP

#include <atomic>
#include <cstdio>
#include <cstdlib>

#define CHECK(condition) ((condition) ? static_cast<void>(0) : check_failed(#condition, __FILE__, __LINE__))

[[noreturn]] inline void check_failed(const char *condition, const char *file, int line)
{
	std::fprintf(stderr, "%s:%d: required: %s\n", file, line, condition);
	std::abort();
}

/* Runs a test and says so. */
#define RUN(test) (test(), static_cast<void>(std::puts(#test)))

/* An object that knows whether it is whole, and counts how many are. */
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

#endif
