/* SPDX-License-Identifier: MIT */
/*
 * picture.c - see picture.h.
 */
#include "picture.h"

#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 1024.0f /* light 1, as a whole number */

static uint32_t *dark(unsigned width, unsigned height)
{
	return calloc((size_t)width * height * 3, sizeof(uint32_t));
}

bool picture_init(struct picture *picture, unsigned width, unsigned height)
{
	*picture = (struct picture){.width = width, .height = height, .horizon = height * 84 / 100};
	picture->light = dark(width, height);
	picture->rows = malloc((size_t)width * height * 3);
	return picture->light && picture->rows;
}

void picture_free(struct picture *picture)
{
	free(picture->light);
	free(picture->rows);
}

bool layer_init(struct layer *layer, const struct picture *picture)
{
	layer->width = picture->width;
	layer->height = picture->height;
	layer->pixels = dark(picture->width, picture->height);
	return layer->pixels != NULL;
}

void layer_free(struct layer *layer)
{
	free(layer->pixels);
}

void layer_add(struct layer *layer, float x, float y, float radius, struct light light)
{
	float left = ceilf(x - radius), right = x + radius, top = ceilf(y - radius), bottom = y + radius;

	for (float row = top < 0 ? 0 : top; row <= bottom && row < (float)layer->height; row++) {
		for (float column = left < 0 ? 0 : left; column <= right && column < (float)layer->width; column++) {
			float far = ((column - x) * (column - x) + (row - y) * (row - y)) / (radius * radius);

			if (far >= 1)
				continue;
			float here = UNIT * (1 - far) * (1 - far);
			uint32_t *pixel = layer->pixels + ((size_t)row * layer->width + (size_t)column) * 3;

			pixel[0] += (uint32_t)(here * light.red);
			pixel[1] += (uint32_t)(here * light.green);
			pixel[2] += (uint32_t)(here * light.blue);
		}
	}
}

void picture_gather(struct picture *picture, struct layer *const *layers, unsigned layer_count, unsigned row)
{
	size_t first = (size_t)row * picture->width * 3, count = (size_t)picture->width * 3;
	uint32_t *light = picture->light + first;

	for (size_t i = 0; i < count; i++)
		light[i] = light[i] * 9 / 16;
	for (unsigned j = 0; j < layer_count; j++) {
		uint32_t *added = layers[j]->pixels + first;

		for (size_t i = 0; i < count; i++)
			light[i] += added[i];
		memset(added, 0, count * sizeof(*added));
	}
}

/* The sky without any light of ours: a gradient, and a few stars. */
static struct light sky(unsigned x, unsigned y, unsigned horizon)
{
	float down = (float)y / (float)horizon;
	struct light light = {0.015f + 0.06f * down * down, 0.02f + 0.035f * down * down, 0.06f + 0.09f * down};
	struct random star = {((uint64_t)y << 20) + x};
	uint32_t chance = random_below(&star, 1400);

	if (chance == 0) {
		float shine = 0.15f + 0.4f * (1 - down);

		light = (struct light){light.red + shine, light.green + shine, light.blue + shine};
	}
	return light;
}

/* What film does: each further light adds less. */
static unsigned char exposed(uint32_t light, float background)
{
	return (unsigned char)(255.0f * (1 - expf(-((float)light / UNIT * 0.9f + background))));
}

void picture_develop(struct picture *picture, unsigned row, unsigned frame)
{
	unsigned char *out = picture->rows + (size_t)row * picture->width * 3;
	bool water = row >= picture->horizon;
	unsigned depth = water ? row - picture->horizon : 0;
	/* The water shows the sky upside down, flattened, in waves that grow with nearness. */
	float near = (float)depth, time = (float)frame;
	float wave = sinf(near * 1.1f - time * 0.35f) + sinf(near * 0.43f + time * 0.21f);
	int shift = water ? (int)(wave * (0.6f + 0.05f * near)) : 0;
	unsigned from = water ? picture->horizon - 1 - depth * 5 / 2 % picture->horizon : row;
	uint32_t share = water ? 6 : 16; /* sixteenths */

	for (unsigned x = 0; x < picture->width; x++, out += 3) {
		int column = (int)x + shift;

		column = column < 0 ? 0 : column >= (int)picture->width ? (int)picture->width - 1 : column;
		const uint32_t *light = picture->light + ((size_t)from * picture->width + (size_t)column) * 3;
		struct light back = sky((unsigned)column, from, picture->horizon);

		if (water)
			back = light_times(back, 0.6f);
		out[0] = exposed(light[0] * share / 16, back.red);
		out[1] = exposed(light[1] * share / 16, back.green);
		out[2] = exposed(light[2] * share / 16, back.blue);
	}
}

bool picture_write(const struct picture *picture, const char *path)
{
	size_t bytes = (size_t)picture->width * picture->height * 3;
	FILE *file = fopen(path, "wb");

	if (!file)
		return false;
	bool ok = fprintf(file, "P6\n%u %u\n255\n", picture->width, picture->height) > 0 &&
		  fwrite(picture->rows, 1, bytes, file) == bytes;

	return fclose(file) == 0 && ok;
}
