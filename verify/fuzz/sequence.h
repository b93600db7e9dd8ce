/* SPDX-License-Identifier: MIT */
/* sequence.h - a string of bytes as a sequence of calls on two pools, checked against the model. */
#ifndef LFPOOL_FUZZ_SEQUENCE_H
#define LFPOOL_FUZZ_SEQUENCE_H

#include "model.h"

/* Another kind of sequence, with more operations: handles, retiring, fork, a refused destroy. */
struct sequence_kind {
	void (*open)(struct model *m, struct input *in, void *context);
	void (*begin)(struct model *m, void *context); /* before the first operation */
	void (*thread)(bool begins, void *context);    /* on each thread             */
	void *context;
};

/* Runs the sequence; aborts at the first answer that the header does not allow. */
void sequence_run(const uint8_t *bytes, size_t count);
void sequence_run_kind(const struct sequence_kind *kind, const uint8_t *bytes, size_t count);

#endif
