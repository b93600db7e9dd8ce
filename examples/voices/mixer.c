/* SPDX-License-Identifier: MIT */
/*
 * mixer.c - see mixer.h.
 */
#include "mixer.h"

#include <math.h>
#include <string.h>

#define ONE (1 << 24) /* what a sample of 1 is in the sums */
#define MASTER 0.5    /* leaves room for several shots at once */

/* From the gains of the last block to those of this one, little by little: a sudden change would click. */
static void add(struct mixer *mixer, struct voice *voice, const float samples[BLOCK])
{
	const struct gains to = voice->gains[mixer->block % 2], from = voice->last;

	for (unsigned i = 0; i < BLOCK; i++) {
		const float done = (float)(i + 1) / BLOCK;
		const float left = from.left + (to.left - from.left) * done;
		const float right = from.right + (to.right - from.right) * done;

		mixer->sums[2 * i] += lrintf(samples[i] * left * ONE);
		mixer->sums[2 * i + 1] += lrintf(samples[i] * right * ONE);
	}
	voice->last = to;
}

/* A voice is pinned: it stays what it is, even if another thread looks for one to steal. */
static bool play(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct mixer *mixer = context;
	struct voice *voice = object;
	float samples[BLOCK];

	(void)priority;
	if (voice->begins > mixer->block) /* the game has published it while we are walking */
		return true;
	sound_render(voice, mixer->block, samples);
	add(mixer, voice, samples);
	if (sound_is_over(voice)) {
		/* It remains ours until the walk unpins it, which frees it. */
		mixer->ended[voice->kind]++;
		mixer->wrong |= lfpool_priority_release(mixer->voices, handle) != LFPOOL_OK;
	} else if (sound_fades(voice->kind)) {
		const double loudness = sound_loudness(voice->kind, voice->last, voice->envelope);

		mixer->wrong |= lfpool_priority_update(mixer->voices, handle, lfpool_priority_of_double(loudness)) != LFPOOL_OK;
	}
	return true;
}

void mixer_render(struct mixer *mixer, int16_t samples_out[2 * BLOCK])
{
	const size_t playing = lfpool_priority_count(mixer->voices);

	mixer->peak = playing > mixer->peak ? playing : mixer->peak;
	memset(mixer->sums, 0, sizeof(mixer->sums));
	(void)lfpool_priority_for_each(mixer->voices, play, mixer);
	mixer->block++;
	for (unsigned i = 0; i < 2 * BLOCK; i++) {
		const double sample = MASTER * INT16_MAX / ONE * (double)mixer->sums[i];
		const int value = (int)fmax(-INT16_MAX, fmin(sample, INT16_MAX));

		mixer->clipped += fabs(sample) > INT16_MAX;
		mixer->loudest = abs(value) > mixer->loudest ? abs(value) : mixer->loudest;
		samples_out[i] = (int16_t)value;
	}
}
