/* SPDX-License-Identifier: MIT */
/*
 * mixer.h - walks the voices, block by block, and adds them up.
 *
 * Idea         The mixer keeps no list of what is playing: it asks the pool.  Each voice is pinned while the walk visits
 *              it, so that it is not stolen while it is rendered, and any thread may steal it right after.  A voice that
 *              fades is told to the pool as what it has become: quieter, and so nearer to being stolen.  One that has
 *              faded away is released under the walk.
 *
 *              Samples are added up as integers: a sum that does not depend on which voice has which slot.
 */
#ifndef EXAMPLE_MIXER_H
#define EXAMPLE_MIXER_H

#include "sound.h"

struct mixer {
	lfpool_priority_t *voices;
	uint64_t block;
	int64_t sums[2 * BLOCK];
	/* Counted since the beginning. */
	uint64_t ended[KINDS], clipped;
	int loudest; /* sample */
	size_t peak; /* voices in use at once */
	bool wrong;  /* something failed that cannot */
};

/* The next block; left and right in turn. */
void mixer_render(struct mixer *mixer, int16_t samples_out[2 * BLOCK]);

#endif
