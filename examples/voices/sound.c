/* SPDX-License-Identifier: MIT */
/*
 * sound.c - see sound.h.  Each kind is a function that makes the next sample; the envelope makes it fade.
 */
#include "sound.h"

#include <math.h>

#define TURN 6.2831853f
#define ATTACK 48 /* frames: a sound that began abruptly would click */

/* -1 .. 1, with high frequencies reduced: the smaller `open` (0 .. 1), the more. */
static float noise(struct voice *v, float open)
{
	const float white = (float)(random_next(&v->random) >> 40) * (2.0f / (1 << 24)) - 1;

	v->low += open * (white - v->low);
	return v->low;
}

static float seconds(const struct voice *v)
{
	return (float)v->age / RATE;
}

/* A sine; `turns` since the beginning. */
static float tone(float turns)
{
	return sinf(TURN * (turns - floorf(turns)));
}

/* ---- The kinds --------------------------------------------------------------------------------------------- */

/* The heel, and some gravel. */
static float step_sample(struct voice *v)
{
	return 0.6f * tone(v->pitch * seconds(v)) + 1.4f * noise(v, 0.15f);
}

/* A bang that turns dull. */
static float shot_sample(struct voice *v)
{
	return 2.2f * noise(v, 0.03f + 0.6f * v->envelope * v->envelope);
}

/* A bubble: rises as it bursts. */
static float drop_sample(struct voice *v)
{
	const float s = seconds(v);

	return tone(v->pitch * s * (1 + 9 * s));
}

/* The upper partials decay first. */
static float bell_sample(struct voice *v)
{
	const float turns = v->pitch * seconds(v), e = v->envelope;

	return 0.5f * tone(turns) + 0.3f * e * tone(2.76f * turns) + 0.2f * e * e * tone(5.4f * turns);
}

/* Four cylinders, one of which fires late. */
static float hum_sample(struct voice *v)
{
	/* A double: the sound may last long.  After 2 turns everything repeats. */
	const float turns = (float)fmod((double)v->pitch * v->age / RATE, 2);

	return 0.45f * tone(turns) + 0.3f * tone(2 * turns) + 0.2f * tone(3 * turns + 0.3f) + 0.2f * tone(turns / 2);
}

static const struct {
	float level;
	float fade; /* seconds until a third is left; 0: it does not fade */
	float pitch, spread;
	float (*sample)(struct voice *voice);
} sounds[KINDS] = {
	[STEP] = {0.35f, 0.03f, 65, 0.3f, step_sample},   [SHOT] = {1, 0.14f, 1, 0, shot_sample},
	[DROP] = {0.12f, 0.025f, 900, 1.5f, drop_sample}, [BELL] = {0.4f, 0.5f, 330, 0.5f, bell_sample},
	[HUM] = {0.3f, 0, 55, 0.6f, hum_sample},
};

/* ---- All kinds --------------------------------------------------------------------------------------------- */

bool sound_fades(enum kind kind)
{
	return sounds[kind].fade > 0;
}

double sound_loudness(enum kind kind, struct gains gains, float envelope)
{
	return sounds[kind].level * envelope * hypotf(gains.left, gains.right);
}

void sound_begin(struct voice *voice, enum kind kind, struct gains gains, uint64_t block, struct random random)
{
	const float higher = sounds[kind].spread * (float)random_below(&random, 1000) / 1000;

	*voice = (struct voice){
		.kind = kind,
		.pitch = sounds[kind].pitch * (1 + higher),
		.begins = block,
		.gains = {gains, gains},
		.last = sound_fades(kind) ? gains : (struct gains){0, 0},
		.envelope = 1,
		.random = random,
	};
}

void sound_render(struct voice *voice, uint64_t block, float samples_out[BLOCK])
{
	const float level = sounds[voice->kind].level;
	const float fade = sound_fades(voice->kind) ? expf(-1 / (sounds[voice->kind].fade * RATE)) : 1;

	/* A hum that was stolen continues where it would be without the gap. */
	if (!sound_fades(voice->kind))
		voice->age = (uint32_t)(block * BLOCK);
	for (unsigned i = 0; i < BLOCK; i++) {
		const float attack = voice->age < ATTACK ? (float)voice->age / ATTACK : 1;

		samples_out[i] = level * attack * voice->envelope * sounds[voice->kind].sample(voice);
		voice->envelope *= fade;
		voice->age++;
	}
}

bool sound_is_over(const struct voice *voice)
{
	return sound_loudness(voice->kind, voice->last, voice->envelope) < SOUND_AUDIBLE;
}
