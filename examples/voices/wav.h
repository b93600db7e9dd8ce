/* SPDX-License-Identifier: MIT */
/*
 * wav.h - a sound file: 16 bits, stereo, RATE frames per second.
 */
#ifndef EXAMPLE_WAV_H
#define EXAMPLE_WAV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* NULL: it cannot be created; errno says why.  `frames` is how many will be written. */
FILE *wav_create(const char *path, uint32_t rate, uint32_t frames);

/* Left and right in turn.  Whether it succeeded wav_close() tells. */
void wav_write(FILE *file, const int16_t *samples, size_t count);

/* False: not all was written; errno says why. */
bool wav_close(FILE *file);

#endif
