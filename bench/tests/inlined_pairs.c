/* SPDX-License-Identifier: MIT */
/*
 * inlined_pairs.c - only the benchmark's loop "pair" around lfpool's inlined hits: small enough that the test
 * "instructions" can compile it with another lfpool/inline.h.
 *
 *     inlined_pairs --exactly lfpool-inlined pair 64 PAIRS          as bench/instructions calls lfpool-bench
 */
#include "../subject.h"

extern const struct subject subject_inlined;

int main(int argc, char **argv)
{
	const struct plan plan = {.object_bytes = 64, .capacity = 65537, .held = 1, .threads = 1};
	unsigned long pairs;
	size_t count;

	if (argc != 6 || !parse_numbers(argv[5], 1, 1000000000, &pairs, 1, &count))
		give_up("inlined_pairs", "PAIRS");

	void *shared = subject_inlined.open(&plan);
	struct worker worker = {.hand = subject_inlined.join(shared), .subject = &subject_inlined, .shared = shared};

	(void)subject_inlined.loops.pair(&worker, pairs);
	subject_inlined.leave(worker.hand);
	subject_inlined.close(shared);
	return 0;
}
