/* SPDX-License-Identifier: MIT */
/*
 * watchdog.c - the thread that notices hangs and rewrites the progress line.
 */
#include "watchdog.h"

#include "common/harness.h"
#include "report.h"
#include "round.h"
#include "scenario.h"

#include <inttypes.h>

#define LOOK_EVERY_NS 100000000L

struct pulse pulses[PULSES];

static struct {
	pthread_t thread;
	const struct options *options;
	pthread_mutex_t lock; /* over the rest */
	struct cell *cell;
	size_t number, count;
	uint64_t operations_at_start;
	bool ended;
} dog = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t pulse_sum(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PULSES; i++)
		/* relaxed: see pulse_beat(). */
		sum += atomic_load_explicit(&pulses[i].operations, memory_order_relaxed);
	return sum;
}

uint64_t pulse_acquires(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PULSES; i++)
		/* relaxed: see pulse_beat(). */
		sum += atomic_load_explicit(&pulses[i].acquires, memory_order_relaxed);
	return sum;
}

/* One look; false when the program is done. */
static bool look(uint64_t *seen, uint64_t *since)
{
	uint64_t sum = pulse_sum(), now = now_ns();

	pthread_mutex_lock(&dog.lock);
	bool ended = dog.ended;
	struct cell *cell = dog.cell;
	if (cell && !ended)
		say_progress("[%zu/%zu] %s, %u threads: %" PRIu64 " operations", dog.number, dog.count,
			     cell->scenario->name, cell->threads, sum - dog.operations_at_start);
	pthread_mutex_unlock(&dog.lock);
	if (sum != *seen || !cell) {
		*seen = sum;
		*since = now;
	} else if (!ended && (double)(now - *since) > dog.options->patience * 1e9) {
		say_hang(cell);
		_Exit(EXIT_STUCK);
	}
	return !ended;
}

static void *watch(void *unused)
{
	const struct timespec pause = {0, LOOK_EVERY_NS};
	uint64_t seen = 0, since = now_ns();

	(void)unused;
	while (look(&seen, &since))
		(void)nanosleep(&pause, NULL);
	return NULL;
}

void watchdog_start(const struct options *options)
{
	dog.options = options;
	thread_start(&dog.thread, watch, NULL);
}

void watchdog_watch(struct cell *cell, size_t number, size_t count)
{
	pthread_mutex_lock(&dog.lock);
	dog.cell = cell;
	dog.number = number;
	dog.count = count;
	dog.operations_at_start = pulse_sum();
	pthread_mutex_unlock(&dog.lock);
}

void watchdog_stop(void)
{
	pthread_mutex_lock(&dog.lock);
	dog.ended = true;
	pthread_mutex_unlock(&dog.lock);
	(void)pthread_join(dog.thread, NULL);
}
