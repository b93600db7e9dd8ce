/* SPDX-License-Identifier: MIT */
/* thrown.cpp - the members that taskflow.patch adds to the class of nodes, on a class whose constructor may throw:
 * neither the pool nor the heap loses memory.  test_thrown makes members.inc and functions.inc from the patch's added
 * lines. */
#include <lfpool/inline.h>

#include <cstdio>
#include <cstdlib>
#include <new>

static long heap_blocks;

void *operator new(std::size_t size)
{
	void *memory = std::malloc(size);

	if (!memory)
		throw std::bad_alloc();
	heap_blocks++;
	return memory;
}

static void given_back(void *memory) noexcept
{
	heap_blocks -= memory != nullptr;
	std::free(memory);
}

void operator delete(void *memory) noexcept
{
	given_back(memory);
}
void operator delete(void *memory, std::size_t) noexcept
{
	given_back(memory);
}

class Node {
public:
#include "members.inc"
	explicit Node(bool throws)
	{
		if (throws)
			throw 1;
	}

private:
	long content_[16] = {};
};

static void throws_fifty_times()
{
	for (int i = 0; i < 50; i++) {
		try {
			delete new Node(true);
		} catch (int) {
		}
	}
}

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	std::printf("%s\n", what);
	std::exit(1);
}

/* A node of a static graph, made before the pool: from the heap. */
static Node *made_early()
{
	throws_fifty_times();
	Node *node = new Node(false);
	check(heap_blocks == 1, "a constructor that threw lost memory of the heap");
	return node;
}
inline Node *const early = made_early();

#include "functions.inc"

int main()
{
	check(_node_pool != nullptr, "there is no pool");
	throws_fifty_times();
	check(lfpool_active_count(_node_pool) == 0, "a constructor that threw lost an object of the pool");
	Node *node = new Node(false);
	check(lfpool_active_count(_node_pool) == 1 && heap_blocks == 1, "a node is not the pool's");
	delete node;
	check(lfpool_active_count(_node_pool) == 0, "a node was not released");
	delete early;
	check(heap_blocks == 0, "a node of the heap was not deleted");
	std::puts("no memory is lost");
}
