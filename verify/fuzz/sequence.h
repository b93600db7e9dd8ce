/* SPDX-License-Identifier: MIT */
/*
 * sequence.h - a row of bytes as a sequence of calls on two pools, checked against the model.
 */
#ifndef LFPOOL_FUZZ_SEQUENCE_H
#define LFPOOL_FUZZ_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

/* Runs the sequence; ends the program (abort) at the first answer that the header does not allow. */
void sequence_run(const uint8_t *bytes, size_t count);

#endif
