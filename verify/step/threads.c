/* SPDX-License-Identifier: MIT */
/*
 * threads.c - see freeze.h.
 *
 * Concurrency  The driver gives the turn to the victim or to the peer and waits for it to come back; only in the churn
 *              do the driver and the peer run at once, on the pool alone.  The watchdog reads the victim's description
 *              when nothing has moved for a long time, so nobody writes it then.
 */
#include "freeze.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "where.h"

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

/* ---- The victim ---- */

static void *victim_main(void *argument)
{
	struct victim *v = argument;

	stepper_attach(&v->stepper);
	while (turn_wait(&v->stepper.turn, TURN_IDLE) != TURN_QUIT) {
		if (sigsetjmp(v->stepper.way_out, 1) == 0) {
			if (v->guest_of) {
				v->operation->operate(v->guest_of);
			} else {
				scene_open(&v->scene, v->operation);
				v->moved = scene_operate(&v->scene, v->operation);
			}
		}
		turn_give(&v->stepper.turn, TURN_IDLE);
	}
	return NULL;
}

void victim_start(struct victim *v)
{
	start(&v->thread, victim_main, v);
}

void victim_record(struct victim *v, const struct operation *o)
{
	v->operation = o;
	/* Once for what happens only the first time, in libc and here; then for the recording. */
	for (int time = 0; time < 2; time++) {
		if (time == 0)
			stepper_plan_nothing(&v->stepper);
		else
			stepper_plan_recording(&v->stepper);
		turn_give(&v->stepper.turn, TURN_GO);
		turn_wait_idle(&v->stepper.turn);
		if (time == 0)
			(void)scene_close(&v->scene);
	}
}

void victim_record_guest(struct victim *v, const struct operation *o)
{
	v->operation = o;
	stepper_plan_recording(&v->stepper);
	turn_give(&v->stepper.turn, TURN_GO);
	turn_wait_idle(&v->stepper.turn);
}

bool victim_run(struct victim *v, long at)
{
	stepper_plan_stop(&v->stepper, at);
	turn_give(&v->stepper.turn, TURN_GO);
	return turn_wait(&v->stepper.turn, TURN_GO) == TURN_PARKED;
}

/* The watchdog may have resumed it before. */
static void end_stop(struct victim *v, enum turn_of order)
{
	(void)turn_give_first(&v->stepper.turn, TURN_PARKED, order);
	turn_wait_idle(&v->stepper.turn);
}

void victim_resume(struct victim *v)
{
	end_stop(v, TURN_RESUME);
}

void victim_abandon(struct victim *v)
{
	end_stop(v, TURN_ABANDON);
}

void victim_stop(struct victim *v)
{
	turn_give(&v->stepper.turn, TURN_QUIT);
	(void)pthread_join(v->thread, NULL);
}

void victim_describe(const struct victim *v, char *text, size_t room)
{
	char place[640];

	where(place, sizeof(place), (uintptr_t)v->stepper.place);
	(void)snprintf(text, room, "%s, stopped before instruction %ld of %ld at %s", v->operation->name,
		       v->stepper.steps, v->stepper.length, place);
}

/* ---- The peer ---- */

static void *peer_main(void *argument)
{
	struct peer *p = argument;

	while (turn_wait(&p->turn, TURN_IDLE) != TURN_QUIT) {
		p->wrong = p->rounds ? peer_churn(p->scene->pool, UINT64_C(2) << 32, p->rounds)
				     : peer_drain(p->scene, NULL, &p->holding);
		turn_give(&p->turn, TURN_IDLE);
	}
	return NULL;
}

void peer_start(struct peer *p)
{
	start(&p->thread, peer_main, p);
}

void peer_order(struct peer *p, const struct scene *s, unsigned rounds)
{
	p->scene = s;
	p->rounds = rounds;
	turn_give(&p->turn, TURN_GO);
}

const char *peer_answer(struct peer *p)
{
	(void)turn_wait(&p->turn, TURN_GO);
	return p->wrong;
}

void peer_stop(struct peer *p)
{
	turn_give(&p->turn, TURN_QUIT);
	(void)pthread_join(p->thread, NULL);
}

/* ---- The watchdog ---- */

static _Atomic(unsigned long) beats;
static _Atomic(const char *) what;
static _Atomic(bool) rescued;

static struct {
	struct victim *victim;
	unsigned seconds;
	bool rescue;
} dog;

void beat(const char *doing)
{
	/* relaxed, both: signs for a message. */
	atomic_store_explicit(&what, doing, memory_order_relaxed);
	atomic_fetch_add_explicit(&beats, 1, memory_order_relaxed);
}

bool watchdog_rescued(void)
{
	return atomic_exchange(&rescued, false);
}

static void bark(void)
{
	struct victim *v = dog.victim;
	char text[1024];

	if (dog.rescue) {
		atomic_store(&rescued, true);
		if (turn_give_first(&v->stepper.turn, TURN_PARKED, TURN_RESUME))
			return;
	}
	victim_describe(v, text, sizeof(text));
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

void watchdog_start(struct victim *v, unsigned seconds, bool rescue)
{
	pthread_t thread;

	dog.victim = v;
	dog.seconds = seconds;
	dog.rescue = rescue;
	start(&thread, watch, NULL);
	(void)pthread_detach(thread);
}
