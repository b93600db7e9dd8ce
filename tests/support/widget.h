/* SPDX-License-Identifier: MIT */
/*
 * widget.h - a module whose objects come from its hidden pool only: what test_typed.c knows of it.
 */
#ifndef LFPOOL_TESTS_WIDGET_H
#define LFPOOL_TESTS_WIDGET_H

#include "lfpool/hidden.h"

LFPOOL_DECLARE(widget, struct widget);
LFPOOL_DECLARE(gadget, struct gadget);

/* Both pools. */
lfpool_status_t widgets_open(size_t capacity);
size_t widgets_close(void);

unsigned widget_weight(const struct widget *widget);
void widget_weigh(struct widget *widget, unsigned weight);

/* Gadgets are built and taken down by hooks; how often so far. */
unsigned gadgets_built(void);
unsigned gadgets_taken_down(void);

#endif
