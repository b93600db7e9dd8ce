/* SPDX-License-Identifier: MIT */
/*
 * epoch.c - scenario: ConcurrencyKit's epochs separate removing a node from reusing it (lfpool/epoch.h).
 *
 * ThreadSan    needs to know that sections (nodes.h) come before the scheme reports a batch as ready.  So under
 *              ThreadSanitizer a wrapping scheme calls the scheme under test and annotates this order.
 *              ConcurrencyKit's headers are instrumented, but their plain accesses are all to the thread's own record,
 *              which other threads read in assembly.
 */
#include "nodes.h"

#include "common/annotate.h"

#include "lfpool/epoch.h"

#include <ck_epoch.h>
#include <string.h>

static struct {
	ck_epoch_t epoch;
	lfpool_scheme_t scheme; /* of the epoch */
	ck_epoch_record_t *records;
} epoch;

/* The calling thread's record. */
static _Thread_local ck_epoch_record_t *record;

/* ---- The scheme ---- */

static void on_begin(void *context, lfpool_batch_t *batch)
{
	(void)context;
	epoch.scheme.begin(epoch.scheme.context, batch);
}

static bool on_ready(void *context, const lfpool_batch_t *batch)
{
	(void)context;
	if (!epoch.scheme.ready(epoch.scheme.context, batch))
		return false;
	ordered_after(&sections);
	return true;
}

/* ---- The regime ---- */

static void epoch_open(void)
{
	memset(&epoch, 0, sizeof(epoch));
	ck_epoch_init(&epoch.epoch);
	epoch.records = round_memory(current.threads + 1, sizeof(*epoch.records));
	if (lfpool_epoch_create(&epoch.scheme, &epoch.epoch) != LFPOOL_OK)
		say_no_memory("epochs");
	current.config.scheme = ANNOTATED ? (lfpool_scheme_t){.context = &epoch, .begin = on_begin, .ready = on_ready}
					  : epoch.scheme;
}

static void epoch_close(void)
{
	lfpool_epoch_destroy(epoch.scheme);
	free(epoch.records);
}

static void epoch_enter(void)
{
	record = &epoch.records[here->index];
	ck_epoch_register(&epoch.epoch, record, NULL);
}

static void epoch_leave(void)
{
	ck_epoch_unregister(record);
}

static void epoch_begin(void)
{
	ck_epoch_begin(record, NULL);
}

static void epoch_end(void)
{
	(void)ck_epoch_end(record, NULL);
}

static const struct regime regime_epoch = {
	.open = epoch_open,
	.close = epoch_close,
	.enter = epoch_enter,
	.leave = epoch_leave,
	.begin = epoch_begin,
	.end = epoch_end,
	.linger_ns = 4000000,
};

NODES_SCENARIO(epoch, "epoch", "as retire, with ConcurrencyKit's epochs", &regime_epoch);
