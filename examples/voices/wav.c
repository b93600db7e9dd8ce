/* SPDX-License-Identifier: MIT */
/*
 * wav.c - see wav.h.  Numbers in the file have their lowest byte first, on every machine.
 */
#include "wav.h"

#define CHANNELS 2
#define BYTES 2 /* of a sample */

static void put(FILE *file, uint32_t number, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		(void)putc((int)(number >> 8 * i & 0xff), file);
}

FILE *wav_create(const char *path, uint32_t rate, uint32_t frames)
{
	const uint32_t data = frames * CHANNELS * BYTES;
	FILE *file = fopen(path, "wb");

	if (!file)
		return NULL;
	fputs("RIFF", file);
	put(file, 36 + data, 4);
	fputs("WAVEfmt ", file);
	put(file, 16, 4); /* bytes of what follows, until "data" */
	put(file, 1, 2);  /* samples as they are */
	put(file, CHANNELS, 2);
	put(file, rate, 4);
	put(file, rate * CHANNELS * BYTES, 4);
	put(file, CHANNELS * BYTES, 2);
	put(file, 8 * BYTES, 2);
	fputs("data", file);
	put(file, data, 4);
	return file;
}

void wav_write(FILE *file, const int16_t *samples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(file, (uint16_t)samples[i], BYTES);
}

bool wav_close(FILE *file)
{
	const bool failed = ferror(file);

	/* Not `failed ||`: it must be closed in any case. */
	return !(fclose(file) | failed);
}
