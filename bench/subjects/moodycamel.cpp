/* SPDX-License-Identifier: MIT */
/*
 * moodycamel.cpp - moodycamel::ConcurrentQueue<void *> as a list of free objects: a dequeue acquires, an enqueue
 * releases.
 *
 * Tokens       A producer token and a consumer token for each thread: the queue "performs best when passed tokens" (its
 *              README); where many are wanted at once, its bulk methods with tokens.  A bulk dequeue may bring fewer.
 * Memory       The constructor is told how many elements there will be; enqueue() allocates what a new producer still
 *              lacks.  It fails only when there is no memory left, and then the object is lost to us.
 * Not exact    try_dequeue() says false "if all producer streams appeared empty at the time they were checked (so,
 *              the queue is likely but not guaranteed to be empty)".  With 65540 objects in it, four threads and two
 *              processors, that was seen.  So it is tried again unless size_approx() says 0 as well; not even then is NULL
 *              proof that all are out.
 * Order        First in, first out: unlike a stack it goes around all objects, and their cache lines.
 */
#include "../objects.h"

#include <concurrentqueue.h>

#include <vector>

typedef moodycamel::ConcurrentQueue<void *> queue_of_objects;

namespace
{
struct free_list {
	queue_of_objects queue;
	struct objects objects;

	explicit free_list(const struct plan *plan) : queue(plan->capacity), objects(objects_make(plan))
	{
		moodycamel::ProducerToken token(queue);
		std::vector<void *> all(plan->capacity);

		for (size_t i = 0; i < plan->capacity; i++)
			all[i] = objects_at(&objects, i);
		(void)must(queue.enqueue_bulk(token, all.begin(), all.size()) ? this : nullptr);
	}

	~free_list() { objects_free(&objects); }
};

struct tokens {
	queue_of_objects *queue;
	moodycamel::ProducerToken producer;
	moodycamel::ConsumerToken consumer;

	explicit tokens(free_list *list) : queue(&list->queue), producer(list->queue), consumer(list->queue) {}
};
} // namespace

static inline void *acquire(void *hand)
{
	tokens *own = static_cast<tokens *>(hand);
	void *object;

	while (__builtin_expect(!own->queue->try_dequeue(own->consumer, object), 0))
		if (own->queue->size_approx() == 0)
			return nullptr;
	return object;
}

static inline void release(void *hand, void *object)
{
	tokens *own = static_cast<tokens *>(hand);

	(void)own->queue->enqueue(own->producer, object);
}

#define SUBJECT_HAS_BULK

static inline void release_bulk(void *hand, void **objects, size_t count)
{
	tokens *own = static_cast<tokens *>(hand);

	(void)own->queue->enqueue_bulk(own->producer, objects, count);
}

static inline bool acquire_bulk(void *hand, void **objects, size_t count)
{
	tokens *own = static_cast<tokens *>(hand);
	size_t got = 0;

	while (got < count) {
		const size_t more = own->queue->try_dequeue_bulk(own->consumer, objects + got, count - got);

		if (more == 0 && own->queue->size_approx() == 0) {
			release_bulk(hand, objects, got);
			return false;
		}
		got += more;
	}
	return true;
}

#include "../loops.h"

/* noexcept: out of memory ends the program. */
static void *join(void *shared) noexcept
{
	tokens *own = new tokens(static_cast<free_list *>(shared));

	/* "A token is always valid unless: 1) memory allocation failed during construction [...]" */
	(void)must(own->producer.valid() ? own : nullptr);
	return own;
}

static void leave(void *hand)
{
	delete static_cast<tokens *>(hand);
}

/* The header does not say it; peers.cmake asks who installed it. */
VERSION_IS(BENCH_MOODYCAMEL_VERSION)

extern "C" const struct subject subject_moodycamel = {
	SUBJECT("moodycamel", "lock-free",
		"moodycamel::ConcurrentQueue<void *> of objects, tokens for each thread; first in, first out", version,
		TRAIT_POOL),
	FOR_EACH_THREAD(open_new<free_list>, close_deleted<free_list>, join, leave, SUBJECT_LOOPS),
};
