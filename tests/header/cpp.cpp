/* SPDX-License-Identifier: MIT */
/* cpp.cpp - lfpool.hpp and set.hpp alone, twice, in every C++ from C++11 on: every function of every template. */
#include <lfpool/set.hpp>

#include <lfpool/lfpool.hpp>
#include <lfpool/set.hpp>

struct thing {
	int number;
	const char *text;
};

template class lfpool::pool<thing>;
template class lfpool::cache<thing>;
template class lfpool::deleter<thing>;
template struct lfpool::self_deleter<thing>;
template class lfpool::allocator<thing>;

int use_everything(lfpool::set &set);

int use_everything(lfpool::set &set)
{
	lfpool::pool<thing> pool;
	int sum = 0;

	if (pool.create(10) != LFPOOL_OK || set.create(lfpool::set_config()) != LFPOOL_OK)
		return lfpool::error(LFPOOL_E_NO_MEMORY).what()[0];
	lfpool::cache<thing> cache(pool);
	lfpool::unique_ptr<thing> one = pool.make_unique(thing{1, nullptr}), two = cache.make_unique();
	lfpool::self_ptr<thing> three = pool.make_self(3, "three");

	sum += pool.destroy(cache.make(4, "four")) == LFPOOL_OK;
	pool.for_each_active([&](thing &t) { sum += t.number; });
	lfpool::allocator<int> ints(set);
	int *number = ints.allocate(2);
	ints.deallocate(number, 2);
	sum += lfpool::allocator<char>(ints) == ints;
#if LFPOOL_MEMORY_RESOURCE
	lfpool::set_resource resource(set);
	resource.deallocate(resource.allocate(10), 10);
#elif __cplusplus >= 201703L
#error "no std::pmr"
#endif
	return sum + static_cast<int>(pool.clear());
}
