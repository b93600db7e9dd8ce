/* SPDX-License-Identifier: MIT */
/* test_resource.cpp - lfpool::set_resource: the containers of std::pmr on a set; and the destination of each kind of
 * allocation. */
#include <lfpool/set.hpp>

#include "check.hpp"

#include <map>
#include <vector>

#if !LFPOOL_MEMORY_RESOURCE
#error "there should be one in C++17"
#endif

static lfpool_set_config_t small(std::size_t capacity)
{
	lfpool_set_config_t config = lfpool::set_config();

	config.largest = 1024;
	config.pool.capacity = capacity;
	return config;
}

/* Counts allocations in blocks and bytes, and checks that each is freed as it was allocated. */
class counting : public std::pmr::memory_resource {
public:
	std::map<void *, std::pair<std::size_t, std::size_t>> out;

private:
	void *do_allocate(std::size_t bytes, std::size_t alignment) override
	{
		void *memory = std::pmr::new_delete_resource()->allocate(bytes, alignment);

		out[memory] = {bytes, alignment};
		return memory;
	}
	void do_deallocate(void *memory, std::size_t bytes, std::size_t alignment) override
	{
		CHECK((out.at(memory) == std::pair(bytes, alignment)));
		out.erase(memory);
		std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
	}
	bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override { return this == &other; }
};

TEST(requests_go_to_the_set_or_to_an_upstream)
{
	lfpool::set set(small(10));
	counting larger, exhausted;
	lfpool::set_resource resource(set.get(), &larger, &exhausted);
	std::vector<void *> all;
	void *one = resource.allocate(1024, 16);

	CHECK(lfpool_set_usable_size(set.get(), one) != 0 && larger.out.empty() && exhausted.out.empty());
	void *large = resource.allocate(1025, 16), *aligned = resource.allocate(64, 32);
	CHECK(larger.out.size() == 2 && exhausted.out.empty());
	for (int i = 0; i < 13; i++)
		all.push_back(resource.allocate(100, 8));
	CHECK(exhausted.out.size() == 3 && active(set) == 11);
	resource.deallocate(large, 1025, 16);
	resource.deallocate(aligned, 64, 32);
	resource.deallocate(one, 1024, 16);
	CHECK(larger.out.empty());
	/* In another order: the address identifies the owner. */
	for (std::size_t i = 0; i < all.size(); i++)
		resource.deallocate(all[(i + 11) % all.size()], 100, 8);
	CHECK(exhausted.out.empty() && active(set) == 0);
	one = resource.allocate(0, 1);
	CHECK(lfpool_set_usable_size(set.get(), one) != 0 && active(set) == 1);
}

static bool throws(std::pmr::memory_resource &resource, std::size_t bytes, std::size_t alignment = 8)
{
	try {
		(void)resource.allocate(bytes, alignment);
	} catch (const std::bad_alloc &) {
		return true;
	}
	return false;
}

TEST(null_upstream_throws_bad_alloc)
{
	lfpool::set set(small(3));
	std::pmr::memory_resource *null = std::pmr::null_memory_resource();
	lfpool::set_resource strict(set, null), bounded(set.get(), std::pmr::new_delete_resource(), null);
	std::pmr::vector<int> vector(&bounded);

	for (int i = 0; i < 3; i++)
		(void)strict.allocate(8);
	CHECK(throws(strict, 8) && throws(strict, 1025) && throws(strict, 8, 32) && throws(bounded, 8));
	CHECK(!throws(strict, 100));
	vector.resize(1000);
	bool thrown = false;
	try {
		std::pmr::vector<long> none(1, &bounded), another(1, &bounded);
	} catch (const std::bad_alloc &) {
		thrown = true;
	}
	CHECK(thrown && active(set) == 4);
}

TEST(resource_is_equal_to_itself_only)
{
	lfpool::set set(small(3));
	lfpool::set_resource a(set), b(set);

	CHECK(a == a && a != b && !a.is_equal(*std::pmr::get_default_resource()));
}

TEST(container_keeps_moved_elements)
{
	lfpool::set set(small(3));
	lfpool::set_resource resource(set, std::pmr::null_memory_resource());
	std::pmr::vector<int> moved(&resource), taken(&resource);

	moved.assign(100, 1);
	const int *data = moved.data();
	taken = std::move(moved);
	CHECK(taken.data() == data && lfpool_set_usable_size(set.get(), data) != 0 && active(set) == 1);
}

int main()
{
	return test::run_all();
}
