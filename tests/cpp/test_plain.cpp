/* SPDX-License-Identifier: MIT */
/* test_plain.cpp - lfpool.hpp and set.hpp without exceptions and RTTI: a status or a nullptr reports every failure; a
 * failure that cannot be reported ends the program. */
#include <lfpool/set.hpp>

#include "check.hpp"

#include <array>
#include <cstring>
#include <list>
#include <type_traits>

#if LFPOOL_EXCEPTIONS
#error "compiled with exceptions"
#endif

/* Throwing functions do not exist. */
static_assert(!std::is_constructible<lfpool::pool<int>, std::size_t>::value, "throws");
static_assert(!std::is_constructible<lfpool::pool<int>, lfpool_config_t>::value, "throws");
static_assert(!std::is_constructible<lfpool::set, lfpool_set_config_t>::value, "throws");

TEST(pool_without_exceptions_and_rtti)
{
	lfpool::pool<counted> pool;

	CHECK(pool.create(0) == LFPOOL_E_CONFIG_CAPACITY);
	CHECK(pool.create(2) == LFPOOL_OK);
	{
		lfpool::cache<counted> cache(pool);
		lfpool::unique_ptr<counted> a = pool.make_unique(1);
		lfpool::self_ptr<counted> b = pool.make_self(2);

		CHECK(a && b && !pool.make(3) && !cache.make(3));
		b.reset();
		CHECK(cache.destroy(cache.make(4)) == LFPOOL_OK);
	}
	CHECK(counted::alive() == 0 && pool.close() == 0);
}

static lfpool_set_config_t small()
{
	lfpool_set_config_t config = lfpool::set_config();

	config.pool.capacity = 10;
	return config;
}

TEST(set_without_exceptions_and_rtti)
{
	lfpool::set set;

	CHECK(set.create(small()) == LFPOOL_OK);
	{
		std::list<int, lfpool::allocator<int>> list{lfpool::allocator<int>(set)};

		list.assign(10, 1);
		CHECK(list.size() == 10);
	}
#if LFPOOL_MEMORY_RESOURCE
	lfpool::set_resource resource(set);

	std::array<void *, 12> memory;

	for (void *&one : memory)
		one = resource.allocate(16);
	CHECK(lfpool_set_usable_size(set.get(), memory[11]) == 0);
	for (void *one : memory)
		resource.deallocate(one, 16);
#endif
	CHECK(set.close() == 0);
}

/* One more than the capacity: the test shows that this call does not return empty-handed. */
static void one_too_many()
{
	lfpool::set set;
	lfpool::allocator<int> ints((CHECK(set.create(small()) == LFPOOL_OK), set));

	for (int i = 0; i < 11; i++)
		(void)ints.allocate(1);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !std::strcmp(argv[1], "one_too_many")) {
		std::set_terminate([] {
			std::puts("terminated");
			std::fflush(stdout);
			std::_Exit(0);
		});
		one_too_many();
		return 1;
	}
	return test::run_all();
}
