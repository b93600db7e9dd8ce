/* SPDX-License-Identifier: MIT */
/*
 * tbb_queue.cpp - an evicting pool around oneTBB's concurrent_priority_queue.
 *
 * Which        "A class template for an unbounded priority queue that permits multiple threads to concurrently push and
 *              pop items" (oneTBB reference).  push() and try_pop() are all that threads may call at once: no item can be
 *              changed, removed, or looked at.  Inside, the threads leave their requests in a list, and one of them
 *              serves all; it is not lock-free.
 * How it can serve
 *              By entries that go out of date.  Each slot has a state, which advances whenever its object is acquired,
 *              updated, released or evicted; an entry {priority, handle, state} is current while the slot has this state.  A
 *              free slot has an entry that goes before all others.
 *              update    a CAS of the state, and a push of a new entry; the old one stays where it is.
 *              acquire   pops until it meets a current entry, and takes the slot by a CAS; an entry that does not give
 *                        way is pushed again.
 * What it costs, and does not promise
 *              Memory grows with the updates: an entry of 24 bytes for each, until it comes to the front.  With priorities
 *              that rise it soon does (the queue has some four entries for each object); with others never.  So
 *              when there are more than ENTRIES_FOR_EACH, the thread that sees it pops all and pushes those that are current.
 *              An object between its CAS and its push, or popped by such a thread, is not in the queue: an eviction may
 *              take another meanwhile.  lfpool promises the least; this subject does not.
 */
#include "../objects.h"
#include "../workload.h"

#include <tbb/concurrent_priority_queue.h>
#include <tbb/version.h>

#include <sched.h>

#include <atomic>
#include <vector>

namespace
{
const unsigned SLOT_BITS = 20;
const size_t ENTRIES_FOR_EACH = 8, ENTRIES_MORE = 64;
const uint64_t ACTIVE = 1;

struct entry {
	uint64_t priority, handle; /* handle: {objects acquired before, slot}, so the older of two is the less; 0, slot: free */
	uint64_t state;            /* of the slot; it never comes back, but the entry may be pushed again                     */
};

/* The queue pops the greatest: here, that which goes last before all others. */
struct goes_after {
	bool operator()(const entry &a, const entry &b) const
	{
		return a.priority != b.priority ? a.priority > b.priority : a.handle > b.handle;
	}
};

/* Two threads' slots are not on one line. */
struct alignas(64) slot {
	std::atomic<uint64_t> state{0}; /* odd: active.  Else free, or in the hands of the thread that took it */
	std::atomic<uint64_t> handle{0};
};

struct queue_pool {
	explicit queue_pool(const struct plan *plan)
		: objects(objects_make(plan)), slots(plan->capacity), limit(ENTRIES_FOR_EACH * plan->capacity + ENTRIES_MORE)
	{
		for (size_t i = 0; i < plan->capacity; i++)
			queue.push({0, i, 0});
	}

	~queue_pool() { objects_free(&objects); }

	struct objects objects;
	std::vector<slot> slots;
	const size_t limit; /* of entries */
	tbb::concurrent_priority_queue<entry, goes_after> queue;
	std::atomic<bool> clearing{false};
	alignas(64) std::atomic<uint64_t> acquired{0}; /* objects, so far */
};

size_t slot_of(uint64_t handle)
{
	return handle & ((uint64_t{1} << SLOT_BITS) - 1);
}

/* The first that is current, if it is free or gives way to a newcomer of this priority; it is in our hands then. */
bool take_least(queue_pool *pool, uint64_t priority, entry &least)
{
	for (;;) {
		if (!pool->queue.try_pop(least)) {
			/* acquire: what was pushed again before it said so. */
			if (!pool->clearing.load(std::memory_order_acquire))
				return false;
			(void)sched_yield();
			continue;
		}

		slot &its = pool->slots[slot_of(least.handle)];
		const bool active = least.state & ACTIVE;

		/* relaxed: a guess, until the CAS. */
		if (its.state.load(std::memory_order_relaxed) != least.state)
			continue;
		if (active && least.priority >= priority) {
			pool->queue.push(least);
			return false;
		}
		/* acquire: what its holder did. */
		if (its.state.compare_exchange_strong(least.state, least.state + (active ? 1 : 2), std::memory_order_acq_rel))
			return true;
	}
}

/* One thread at a time: leaves out of the queue what is out of date. */
void clear(queue_pool *pool)
{
	std::vector<entry> current;
	entry one;

	if (pool->clearing.exchange(true, std::memory_order_acquire))
		return;
	current.reserve(pool->slots.size());
	/* What others push meanwhile may stay. */
	for (size_t i = pool->queue.size(); i > 0 && pool->queue.try_pop(one); i--)
		if (pool->slots[slot_of(one.handle)].state.load(std::memory_order_relaxed) == one.state)
			current.push_back(one);
	for (const entry &kept : current)
		pool->queue.push(kept);
	/* release: they are in it. */
	pool->clearing.store(false, std::memory_order_release);
}

/* The state of the slot of an object in use goes on by `more`; the new one, or 0: the handle is stale. */
uint64_t advance(queue_pool *pool, uint64_t handle, uint64_t more) noexcept
{
	if (slot_of(handle) >= pool->slots.size())
		return 0;

	slot &its = pool->slots[slot_of(handle)];
	/* acquire, twice: a handle that was written later is seen with a later state, by the CAS that follows. */
	uint64_t state = its.state.load(std::memory_order_acquire);

	/* A retry means that another has updated it, or that it is gone. */
	do {
		if (!(state & ACTIVE) || its.handle.load(std::memory_order_acquire) != handle)
			return 0;
	} while (!its.state.compare_exchange_strong(state, state + more, std::memory_order_acq_rel));
	return state + more;
}
} // namespace

/* noexcept, here and below: out of memory ends the program. */
static inline void *acquire_filled(void *hand, uint64_t priority, uint64_t *handle_out) noexcept
{
	queue_pool *pool = static_cast<queue_pool *>(hand);
	entry taken;

	if (!take_least(pool, priority, taken))
		return nullptr;

	const size_t index = slot_of(taken.handle);
	slot &its = pool->slots[index];
	void *object = objects_at(&pool->objects, index);
	const uint64_t state = its.state.load(std::memory_order_relaxed) + 1;

	*handle_out = (pool->acquired.fetch_add(1, std::memory_order_relaxed) + 1) << SLOT_BITS | index;
	object_fill(object, priority);
	/* release, twice: advance(); the object is filled. */
	its.handle.store(*handle_out, std::memory_order_release);
	its.state.store(state, std::memory_order_release);
	pool->queue.push({priority, *handle_out, state});
	return object;
}

static inline bool update(void *hand, uint64_t handle, uint64_t priority) noexcept
{
	queue_pool *pool = static_cast<queue_pool *>(hand);
	const uint64_t state = advance(pool, handle, 2);

	if (!state)
		return false;
	pool->queue.push({priority, handle, state});
	if (pool->queue.size() > pool->limit)
		clear(pool);
	return true;
}

static inline bool release(void *hand, uint64_t handle) noexcept
{
	queue_pool *pool = static_cast<queue_pool *>(hand);
	const uint64_t state = advance(pool, handle, 1);

	if (state)
		pool->queue.push({0, slot_of(handle), state});
	return state;
}

#include "../evicting.h"

VERSION_IS(TBB_VERSION_STRING)

extern "C" const struct subject subject_tbb_queue = {
	SUBJECT("tbb-queue", "own", "oneTBB's concurrent_priority_queue; what goes out of date stays in it until it is popped",
		version, 0),
	NEW_FOR_ALL(queue_pool, EVICTING_LOOPS),
};
