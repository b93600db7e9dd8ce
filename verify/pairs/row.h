/* SPDX-License-Identifier: MIT */
/* row.h - a row as pools: how they are made, which functions they use, and the threads' work on them. */
#ifndef LFPOOL_PAIRS_ROW_H
#define LFPOOL_PAIRS_ROW_H

#include "options.h"

#include "verify/fuzz/model.h"

/* ---- ways.c: a row as a plan ---- */

/* Sets the row's environment: before the first call of the library. */
void row_environment(const struct row *row);
/* The plan, valid until the next call. */
const struct plan *row_plan(const struct row *row);
/* Tries to make such a pool, and leaves nothing behind; returns the library's status. */
lfpool_status_t row_try(const struct row *row);

/* ---- class.cpp: lfpool::pool ---- */

void *class_create(const lfpool_config_t *config, lfpool_t **pool_out, lfpool_status_t *status_out);
size_t class_close(void *held);
lfpool_t *class_get(const void *held);
void class_delete(void *held);

/* ---- hooks.c: each object is built, used and destroyed in the right order ---- */

/* Sets the row's hooks. */
void hooks_choose(lfpool_hooks_t *hooks, unsigned which);
/* From here on they may refuse, or not. */
void hooks_refuse(bool refuse);
/* An object of the malloc backend that was active at the end: no hook will destroy it. */
void hooks_forget(const void *object);
/* Every object that was built must be destroyed. */
void hooks_require_gone(void);

/* ---- debts.c, crowd.c: several threads ---- */

/* Races of three threads about a pending shrink; restores the pool. */
void debts_run(struct model *m);
/* Lets four threads use the pool of `m`, each checking its objects; then updates the model. */
void crowd_run(struct model *m, uint64_t seed);
/* main.c: called by each thread when it begins and when it ends. */
void row_thread(bool begins, void *nothing);

#endif
