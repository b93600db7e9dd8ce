/* SPDX-License-Identifier: MIT */
/*
 * second.cc - a second opinion on the magazine: Relacy (Vyukov, https://github.com/dvyukov/relacy) instead of our explorer.
 *
 *     lfpool-second [no-fence | relaxed-stores | relaxed-loads]
 *
 * Idea         The C code is that of the library, unchanged; each verb arrives here with an address, which names one of Relacy's
 *              atomics.  Relacy knows C11's orders, and the asymmetric fence as systemwide_fence().  An owner and a thief fight for
 *              two objects: each is held by one of them at a time, none is lost, and what its last holder wrote is seen.
 * Controls     no-fence: thieves do not fence.  relaxed-stores, relaxed-loads: the orders of these verbs are taken away.
 */
#include "second.h"

#include <cstdio>
#include <cstring>
#include <relacy/relacy.hpp>

uint64_t second_words[SECOND_WORDS];

namespace {

enum { RELAXED, ACQUIRE, RELEASE, ACQ_REL }; /* as in verbs.h */
enum { OBJECTS = 2, EXECUTIONS = 1000000, SWITCHES = 4 };

bool fenced = true, relaxed_stores, relaxed_loads;
rl::atomic<uint64_t> *words;

rl::atomic<uint64_t> &word_at(const void *address)
{
	return words[(static_cast<const char *>(address) - reinterpret_cast<const char *>(second_words)) / 8];
}

rl::memory_order order_of(int order)
{
	switch (order) {
	case RELAXED: return rl::mo_relaxed;
	case ACQUIRE: return rl::mo_acquire;
	case RELEASE: return rl::mo_release;
	case ACQ_REL: return rl::mo_acq_rel;
	}
	return rl::mo_seq_cst;
}

struct fight : rl::test_suite<fight, 2> {
	rl::atomic<uint64_t> word[SECOND_WORDS];
	rl::var<int> content[OBJECTS + 1];
	bool held[OBJECTS + 1];

	void before()
	{
		words = word;
		for (rl::atomic<uint64_t> &w : word)
			w.store(0, rl::mo_relaxed, $);
		second_make();
		for (uintptr_t object = 1; object <= OBJECTS; object++) {
			held[object] = true;
			give(object);
		}
	}

	void hold(uintptr_t object)
	{
		if (!object)
			return;
		RL_ASSERT(object <= OBJECTS && !held[object]);
		held[object] = true;
		content[object]($) = 1;
	}

	void give(uintptr_t object)
	{
		if (!object)
			return;
		content[object]($) = 2;
		held[object] = false;
		RL_ASSERT(second_push(object));
	}

	void thread(unsigned index)
	{
		words = word;
		if (index == 0) {
			const uintptr_t object = second_pop();

			hold(object);
			give(object);
			hold(second_pop());
			hold(second_pop());
		} else {
			hold(second_take());
			hold(second_take());
		}
	}

	void after()
	{
		words = word;
		while (const uintptr_t object = second_pop())
			hold(object);
		for (uintptr_t object = 1; object <= OBJECTS; object++)
			RL_ASSERT(held[object]);
	}
};

} // namespace

extern "C" {

uint64_t explore_load(const void *address, unsigned, int order)
{
	return word_at(address).load(order_of(relaxed_loads ? +RELAXED : order), $);
}

void explore_store(void *address, unsigned, uint64_t value, int order)
{
	word_at(address).store(value, order_of(relaxed_stores ? +RELAXED : order), $);
}

uint64_t explore_add(void *address, unsigned, uint64_t value)
{
	return word_at(address).fetch_add(value, rl::mo_relaxed, $);
}

bool explore_cas(void *address, unsigned bytes, void *old, uint64_t value, bool, int success, int failure)
{
	uint64_t expected = 0;

	memcpy(&expected, old, bytes);

	const bool done = word_at(address).compare_exchange_strong(expected, value, order_of(success), $, order_of(failure), $);

	memcpy(old, &expected, bytes);
	return done;
}

void explore_fence(void)
{
	rl::atomic_thread_fence(rl::mo_seq_cst, $);
}

void explore_plain(const void *, bool)
{
}

void second_heavy_fence(void)
{
	if (fenced)
		rl::systemwide_fence($);
}

} // extern "C"

int main(int argc, char **argv)
{
	rl::test_params search;

	fenced = argc < 2 || strcmp(argv[1], "no-fence") != 0;
	relaxed_stores = argc > 1 && strcmp(argv[1], "relaxed-stores") == 0;
	relaxed_loads = argc > 1 && strcmp(argv[1], "relaxed-loads") == 0;
	search.search_type = rl::sched_bound;
	search.context_bound = SWITCHES;
	search.iteration_count = EXECUTIONS;

	const bool passed = rl::simulate<fight>(search);

	printf("%s after %llu executions\n", passed ? "passed" : "failed", static_cast<unsigned long long>(search.stop_iteration));
	return !passed;
}
