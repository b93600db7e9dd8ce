/* SPDX-License-Identifier: MIT */
/* fuzz.c - libFuzzer's entry point. */
#include "sequence.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	sequence_run(bytes, count);
	return 0;
}
