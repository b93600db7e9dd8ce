/* SPDX-License-Identifier: MIT */
/*
 * picture.h - glowing points on a night sky over water, written as PPM.
 *
 * Idea       Light is added up in whole numbers, each thread in a layer of its own: the sum is the same in whatever
 *            order the points come, and whichever thread draws them.  Then, row by row, the layers are gathered into the
 *            picture, where the light of earlier frames fades (that makes trails), and developed into bytes: bright
 *            light saturates.
 */
#ifndef EXAMPLE_PICTURE_H
#define EXAMPLE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct light {
	float red, green, blue; /* 1 is bright, in the middle of one point */
};

static inline struct light light_times(struct light light, float factor)
{
	return (struct light){light.red * factor, light.green * factor, light.blue * factor};
}

/* A thread's points. */
struct layer {
	uint32_t *pixels; /* red, green, blue, a row after the other */
	unsigned width, height;
};

struct picture {
	unsigned width, height;
	unsigned horizon;    /* rows of sky; below is water, which reflects it */
	uint32_t *light;     /* gathered                                       */
	unsigned char *rows; /* developed                                      */
};

/* False: no memory.  Sizes are at most a few thousand. */
bool picture_init(struct picture *picture, unsigned width, unsigned height);
void picture_free(struct picture *picture);
bool layer_init(struct layer *layer, const struct picture *picture);
void layer_free(struct layer *layer);

/* A soft point: bright in the middle, nothing at the radius (pixels). */
void layer_add(struct layer *layer, float x, float y, float radius, struct light light);

/* Moves one row of the layers into the picture, leaving the layers dark.  Rows are independent of each other. */
void picture_gather(struct picture *picture, struct layer *const *layers, unsigned layer_count, unsigned row);

/* Develops a row.  All rows must have been gathered: the water shows others. */
void picture_develop(struct picture *picture, unsigned row, unsigned frame);

/* Binary PPM.  False: errno says why. */
bool picture_write(const struct picture *picture, const char *path);

#endif
