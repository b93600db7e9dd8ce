/* SPDX-License-Identifier: MIT */
/*
 * row.h - a row as pools: how they are made, what they call, what threads do with them.
 */
#ifndef LFPOOL_PAIRS_ROW_H
#define LFPOOL_PAIRS_ROW_H

#include "options.h"

#include "verify/fuzz/model.h"

/* ---- ways.c: a row as a plan ---- */

/* The environment that the row asks for: before the first call of the library. */
void row_environment(const struct row *row);
/* The plan, valid until the next call. */
const struct plan *row_plan(const struct row *row);
/* Tries to make such a pool, and leaves nothing behind; what the library says. */
lfpool_status_t row_try(const struct row *row);

/* ---- class.cpp: lfpool::pool ---- */

void *class_create(const lfpool_config_t *config, lfpool_t **pool_out, lfpool_status_t *status_out);
size_t class_close(void *held);
lfpool_t *class_get(const void *held);
void class_delete(void *held);

/* ---- hooks.c: each object is built, used and taken apart in turn ---- */

/* Sets those that the row asks for. */
void hooks_choose(lfpool_hooks_t *hooks, unsigned which);
/* They may refuse from here on, or not. */
void hooks_refuse(bool refuse);
/* An object of the malloc backend that was active at the end: nobody takes it apart. */
void hooks_forget(const void *object);
/* Everything that was built is gone. */
void hooks_require_gone(void);

/* ---- debts.c, crowd.c: several threads ---- */

/* Races of three threads about a debt; the pool is as it was then. */
void debts_run(struct model *m);
/* Lets four threads use the pool of `m`, each of which knows what it holds; then brings the model up to date. */
void crowd_run(struct model *m, uint64_t seed);
/* main.c: what each thread calls when it begins and when it ends. */
void row_thread(bool begins, void *nothing);

#endif
