/* SPDX-License-Identifier: MIT */
/*
 * fuzz.c - the door through which libFuzzer comes.
 */
#include "sequence.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	sequence_run(bytes, count);
	return 0;
}
