/* SPDX-License-Identifier: MIT */
/*
 * widget.c - see widget.h.
 */
#include "widget.h"

struct widget {
	unsigned weight;
	char rest[100];
};

struct gadget {
	bool whole;
};

static unsigned built, taken_down;

static bool build(void *context, struct gadget *gadget)
{
	*(unsigned *)context += 1;
	gadget->whole = true;
	return true;
}

static void take_down(void *context, struct gadget *gadget)
{
	(void)context;
	taken_down += gadget->whole;
	gadget->whole = false;
}

LFPOOL_HOOKS(gadget, struct gadget);
static const struct gadget_hooks table = {.create = build, .destroy = take_down};

LFPOOL_DEFINE_HIDDEN(widget, struct widget);
LFPOOL_DEFINE_HIDDEN_WITH(gadget, struct gadget, table);

lfpool_status_t widgets_open(size_t capacity)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	built = taken_down = 0;
	config.capacity = capacity;
	lfpool_status_t status = widget_hidden_pool_create(&widget_hidden, &config);
	config.hooks.context = &built;
	return status == LFPOOL_OK ? gadget_hidden_pool_create(&gadget_hidden, &config) : status;
}

size_t widgets_close(void)
{
	return widget_hidden_pool_destroy(widget_hidden) + gadget_hidden_pool_destroy(gadget_hidden);
}

unsigned widget_weight(const struct widget *widget)
{
	return widget->weight;
}

void widget_weigh(struct widget *widget, unsigned weight)
{
	widget->weight = weight;
}

unsigned gadgets_built(void)
{
	return built;
}

unsigned gadgets_taken_down(void)
{
	return taken_down;
}
