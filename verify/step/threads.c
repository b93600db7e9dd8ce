/* SPDX-License-Identifier: MIT */
/*
 * threads.c - see freeze.h.  Only in the churn do the driver and the peer run at once, on the pool alone.
 */
#include "freeze.h"

/* ---- The victim ---- */

static void victim_act(void *context)
{
	struct victim *v = context;

	if (v->guest_of) {
		v->operation->operate(v->guest_of);
	} else {
		scene_open(&v->scene, v->operation);
		v->moved = scene_operate(&v->scene, v->operation);
	}
}

void victim_start(struct victim *v)
{
	v->sleeper.act = victim_act;
	v->sleeper.context = v;
	sleeper_start(&v->sleeper);
}

static void set_operation(struct victim *v, const struct operation *o)
{
	v->operation = o;
	v->sleeper.name = o->name;
}

void victim_record(struct victim *v, const struct operation *o)
{
	set_operation(v, o);
	/* Once for what happens only the first time, in libc and here; then for the recording. */
	sleeper_rehearse(&v->sleeper, false);
	(void)scene_close(&v->scene);
	sleeper_rehearse(&v->sleeper, true);
}

void victim_record_guest(struct victim *v, const struct operation *o)
{
	set_operation(v, o);
	sleeper_rehearse(&v->sleeper, true);
}

/* ---- The peer ---- */

static const char *peer_work(void *context)
{
	struct peer *p = context;

	return p->rounds ? peer_churn(p->scene->pool, UINT64_C(2) << 32, p->rounds)
			 : peer_drain(p->scene, NULL, &p->holding);
}

void peer_start(struct peer *p)
{
	p->worker.work = peer_work;
	p->worker.context = p;
	worker_start(&p->worker);
}

void peer_order(struct peer *p, const struct scene *s, unsigned rounds)
{
	p->scene = s;
	p->rounds = rounds;
	worker_order(&p->worker);
}
