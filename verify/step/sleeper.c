/* SPDX-License-Identifier: MIT */
/*
 * sleeper.c - see sleeper.h.
 *
 * Concurrency  The driver gives the turn to the sleeper or to a worker and waits until it is returned.  The watchdog
 *              reads the sleeper's description after nothing has moved for a long time, so no thread is writing it
 *              then.
 */
#include "sleeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STACK_BYTES ((size_t)256 << 10)

static void start(pthread_t *thread, void *(*run)(void *), void *argument)
{
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, STACK_BYTES) ||
	    pthread_create(thread, &attributes, run, argument)) {
		fprintf(stderr, "no thread\n");
		exit(3);
	}
	(void)pthread_attr_destroy(&attributes);
}

/* ---- The mutexes of the sleeper: the linker's --wrap ---- */

static _Thread_local bool is_sleeper;
static _Atomic(int) mutexes;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (is_sleeper)
		mutexes++;
	return __real_pthread_mutex_lock(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	const int result = __real_pthread_mutex_unlock(mutex);

	if (is_sleeper)
		mutexes--;
	return result;
}

bool sleeper_has_mutex(void)
{
	return mutexes > 0;
}

/* ---- The sleeper ---- */

static void *sleeper_main(void *argument)
{
	struct sleeper *s = argument;

	is_sleeper = true;
	stepper_attach(&s->stepper);
	while (turn_wait(&s->stepper.turn, TURN_IDLE) != TURN_QUIT) {
		if (sigsetjmp(s->stepper.way_out, 1) == 0)
			s->act();
		turn_give(&s->stepper.turn, TURN_IDLE);
	}
	return NULL;
}

void sleeper_start(struct sleeper *s)
{
	start(&s->thread, sleeper_main, s);
}

void sleeper_rehearse(struct sleeper *s, bool recording)
{
	if (recording)
		stepper_plan_recording(&s->stepper);
	else
		stepper_plan_nothing(&s->stepper);
	turn_give(&s->stepper.turn, TURN_GO);
	turn_wait_idle(&s->stepper.turn);
}

bool sleeper_run(struct sleeper *s, long at)
{
	stepper_plan_stop(&s->stepper, at);
	turn_give(&s->stepper.turn, TURN_GO);
	return turn_wait(&s->stepper.turn, TURN_GO) == TURN_PARKED;
}

/* The watchdog may have resumed it already. */
static void end_stop(struct sleeper *s, enum turn_of order)
{
	(void)turn_give_first(&s->stepper.turn, TURN_PARKED, order);
	turn_wait_idle(&s->stepper.turn);
}

void sleeper_resume(struct sleeper *s)
{
	end_stop(s, TURN_RESUME);
}

void sleeper_abandon(struct sleeper *s)
{
	end_stop(s, TURN_ABANDON);
}

void sleeper_stop(struct sleeper *s)
{
	turn_give(&s->stepper.turn, TURN_QUIT);
	(void)pthread_join(s->thread, NULL);
}

void sleeper_describe(const struct sleeper *s, char *text, size_t room)
{
	char place[640];

	where(place, sizeof(place), s->stepper.place);
	(void)snprintf(text, room, "%s, stopped before instruction %ld of %ld at %s", s->name, s->stepper.steps,
		       s->stepper.length, place);
}

/* ---- The worker ---- */

static void *worker_main(void *argument)
{
	struct worker *w = argument;

	while (turn_wait(&w->turn, TURN_IDLE) != TURN_QUIT) {
		w->wrong = w->work();
		turn_give(&w->turn, TURN_IDLE);
	}
	return NULL;
}

void worker_start(struct worker *w)
{
	start(&w->thread, worker_main, w);
}

void worker_order(struct worker *w)
{
	turn_give(&w->turn, TURN_GO);
}

const char *worker_answer(struct worker *w)
{
	(void)turn_wait(&w->turn, TURN_GO);
	return w->wrong;
}

void worker_stop(struct worker *w)
{
	turn_give(&w->turn, TURN_QUIT);
	(void)pthread_join(w->thread, NULL);
}

/* ---- The watchdog ---- */

static _Atomic(unsigned long) beats;
static _Atomic(const char *) what;
static _Atomic(bool) rescued;

static struct {
	struct sleeper *sleeper;
	unsigned seconds;
	bool rescue;
} dog;

void beat(const char *doing)
{
	/* relaxed, both: only for a message. */
	atomic_store_explicit(&what, doing, memory_order_relaxed);
	atomic_fetch_add_explicit(&beats, 1, memory_order_relaxed);
}

bool watchdog_rescued(void)
{
	return atomic_exchange(&rescued, false);
}

static void bark(void)
{
	struct sleeper *s = dog.sleeper;
	char text[1024];

	if (dog.rescue) {
		atomic_store(&rescued, true);
		if (turn_give_first(&s->stepper.turn, TURN_PARKED, TURN_RESUME))
			return;
	}
	sleeper_describe(s, text, sizeof(text));
	printf("STUCK for %u s while %s: %s\n0 passed, 1 failed\n", dog.seconds, atomic_load(&what), text);
	(void)fflush(stdout);
	_exit(1);
}

static void *watch(void *argument)
{
	unsigned long before = 0;
	unsigned idle = 0;

	(void)argument;
	for (;;) {
		const struct timespec tenth = {.tv_nsec = 100000000};
		unsigned long now = atomic_load(&beats);

		idle = now == before ? idle + 1 : 0;
		before = now;
		if (idle >= 10 * dog.seconds) {
			bark();
			idle = 0;
		}
		(void)nanosleep(&tenth, NULL);
	}
	return NULL;
}

void watchdog_start(struct sleeper *s, unsigned seconds, bool rescue)
{
	pthread_t thread;

	dog.sleeper = s;
	dog.seconds = seconds;
	dog.rescue = rescue;
	start(&thread, watch, NULL);
	(void)pthread_detach(thread);
}
