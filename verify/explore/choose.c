/* SPDX-License-Identifier: MIT */
/*
 * choose.c - the strategies of a search, and replay strings; see explore.h.
 */
#include "../../common/harness.h"
#include "explore.h"

#define CHOICES_MAX 12000
#define CHANGES_MAX 8
/* Of 256, random and PCT: the chance that a sleeper's deadline passes before an operation. */
#define LATE_CHANCE 4
/* Depth-first: how often per execution a sleeper's deadline may pass although another thread could run.  Without a
 * limit a thread that sleeps repeatedly would be woken without end. */
#define HURRIES_MAX 4

static struct {
	const struct search *search;
	unsigned threads;
	char *replay_out;
	size_t replay_bytes;
	struct random random;

	/* The current execution. */
	unsigned preemptions, stale, spurious, hurries;
	size_t logged;
	const char *replay_at;

	/* Depth-first: the path. */
	struct {
		uint16_t taken, options;
	} path[CHOICES_MAX];
	size_t path_length, path_at;

	/* Random, PCT. */
	uint32_t switch_chance;
	uint64_t turn;              /* operations until the next thread's turn; 0: no strict turns */
	uint64_t lead[THREADS_MAX]; /* before strict turns, thread t runs up to operation lead[t] */
	unsigned priority[THREADS_MAX];
	uint64_t change[CHANGES_MAX], longest;
} choose;

static uint64_t draw(void)
{
	return random_next(&choose.random);
}

static bool chance(uint32_t of_256)
{
	return draw() % 256 < of_256;
}

static void log_choice(enum decision kind, unsigned value)
{
	char *text = choose.replay_out;
	size_t room = choose.replay_bytes - choose.logged;
	int length = snprintf(text + choose.logged, room, "%s%llu%c%u", choose.logged ? "," : "",
			      (unsigned long long)engine_now(), (char)kind, value);

	if (length > 0 && (size_t)length < room)
		choose.logged += (size_t)length;
}

/* The replay string's decision for this operation, or `usual`. */
static unsigned replayed(enum decision kind, unsigned usual)
{
	char *rest;
	unsigned long long operation = strtoull(choose.replay_at, &rest, 10);

	if (!*rest || operation != engine_now() || (enum decision) * rest != kind)
		return usual;

	unsigned value = (unsigned)strtoul(rest + 1, &rest, 10);

	choose.replay_at = *rest ? rest + 1 : rest;
	return value;
}

static unsigned next_on_path(unsigned options)
{
	if (options < 2)
		return 0;
	if (choose.path_at == choose.path_length) {
		if (choose.path_length == CHOICES_MAX) {
			engine_fail("more than %d choices", CHOICES_MAX);
			return 0;
		}
		choose.path[choose.path_length].taken = 0;
		choose.path[choose.path_length++].options = (uint16_t)options;
	}
	if (choose.path[choose.path_at].options != options)
		engine_fail("the explorer's fault: a choice of %u was one of %u before", options,
			    choose.path[choose.path_at].options);
	return choose.path[choose.path_at++].taken;
}

bool choose_advance(void)
{
	while (choose.path_length) {
		size_t last = choose.path_length - 1;

		if (++choose.path[last].taken < choose.path[last].options)
			return true;
		choose.path_length--;
	}
	return false;
}

unsigned engine_choose(unsigned options, enum decision kind)
{
	unsigned *spent = kind == STALE ? &choose.stale : &choose.spurious;
	unsigned limit = kind == STALE ? choose.search->stale : choose.search->spurious;
	unsigned chosen = 0;

	if (options < 2)
		return 0;
	switch (choose.search->strategy) {
	case DEPTH_FIRST: chosen = *spent < limit ? next_on_path(options) : 0; break;
	case RANDOM:
	case PCT:
		if (chance(kind == STALE ? 48 : 8))
			chosen = (unsigned)(draw() % options);
		break;
	case REPLAY:
		chosen = replayed(kind, 0);
		if (chosen >= options)
			chosen = options - 1;
		break;
	}
	if (chosen) {
		++*spent;
		log_choice(kind, chosen);
	}
	return chosen;
}

static unsigned random_of(unsigned threads)
{
	unsigned pick = (unsigned)(draw() % (unsigned)__builtin_popcount(threads)), t = 0;

	for (;; t++)
		if (threads >> t & 1 && pick-- == 0)
			return t;
}

static unsigned next_in_turn(unsigned t, unsigned threads)
{
	do {
		t = (t + 1) % choose.threads;
	} while (!(threads >> t & 1));
	return t;
}

static unsigned highest_priority(unsigned threads)
{
	unsigned best = THREADS_MAX;

	for (unsigned t = 0; t < choose.threads; t++)
		if (threads >> t & 1 && (best == THREADS_MAX || choose.priority[t] > choose.priority[best]))
			best = t;
	return best;
}

/* Depth-first: option 0 is the usual thread; the others follow in order. */
static unsigned thread_on_path(unsigned usual, unsigned threads)
{
	unsigned pick = next_on_path((unsigned)__builtin_popcount(threads)), chosen = usual;

	for (unsigned t = 0; pick; t++)
		if (t != usual && threads >> t & 1 && --pick == 0)
			chosen = t;
	return chosen;
}

static unsigned random_thread(unsigned usual, bool gone, unsigned threads)
{
	if (!gone && choose.turn)
		return engine_now() < choose.lead[usual] || engine_now() % choose.turn ? usual
										       : next_in_turn(usual, threads);
	return gone || chance(choose.switch_chance) ? random_of(threads) : usual;
}

static unsigned next_by_priority(unsigned running, bool gone, unsigned threads)
{
	for (unsigned i = 0; i + 1 < choose.search->depth && i < CHANGES_MAX; i++)
		if (choose.change[i] == engine_now() && !gone)
			choose.priority[running] = i + 1;
	return highest_priority(threads);
}

unsigned choose_thread(unsigned running, bool gone, unsigned ready, unsigned dozing)
{
	/* A sleeper's deadline passes only if no thread is ready. */
	const unsigned threads = ready ? ready : dozing, usual = gone ? (unsigned)__builtin_ctz(threads) : running;
	unsigned chosen = usual;

	switch (choose.search->strategy) {
	case DEPTH_FIRST:
		if (gone || choose.preemptions < choose.search->preemptions)
			chosen = thread_on_path(usual,
						choose.hurries < HURRIES_MAX ? ready | dozing : threads | 1u << usual);
		break;
	case RANDOM:
		chosen = dozing && chance(LATE_CHANCE) ? random_of(dozing) : random_thread(usual, gone, threads);
		break;
	case PCT:
		chosen = dozing && chance(LATE_CHANCE) ? random_of(dozing) : next_by_priority(running, gone, threads);
		break;
	case REPLAY:
		chosen = replayed(SWITCH, usual);
		if (chosen >= choose.threads || !((ready | dozing) >> chosen & 1))
			chosen = usual;
		break;
	}
	choose.hurries += ready && dozing >> chosen & 1;
	if (chosen != usual) {
		choose.preemptions += !gone;
		log_choice(SWITCH, chosen);
	}
	return chosen;
}

/* ---- Searches ---- */

void choose_open(const struct search *search, unsigned threads, char *replay_out, size_t replay_bytes)
{
	choose.search = search;
	choose.threads = threads;
	choose.replay_out = replay_out;
	choose.replay_bytes = replay_bytes;
	choose.path_length = 0;
	choose.longest = 0;
}

void choose_again(void)
{
	choose.path_length = 0;
}

static void prepare_random(void)
{
	static const uint32_t chances[] = {4, 16, 48, 96};

	choose.switch_chance = chances[draw() % 4];
	choose.turn = draw() % 4 ? 0 : 1 + draw() % 4;
	for (unsigned t = 0; t < THREADS_MAX; t++)
		choose.lead[t] = (t ? choose.lead[t - 1] : 0) + draw() % 128;
	for (unsigned t = 0; t < choose.threads; t++)
		choose.priority[t] = 100 + (unsigned)(draw() % 1000) * THREADS_MAX + t;
	for (unsigned i = 0; i < CHANGES_MAX; i++)
		choose.change[i] = draw() % (choose.longest + 1);
}

void choose_begin(uint64_t execution)
{
	/* A seed per execution, so that the execution's number alone reproduces it. */
	choose.random.state = choose.search->seed + execution * UINT64_C(0x2545f4914f6cdd1d);
	choose.path_at = 0;
	choose.preemptions = choose.stale = choose.spurious = choose.hurries = 0;
	choose.logged = 0;
	choose.replay_at = choose.search->replay ? choose.search->replay : "";
	choose.replay_out[0] = '\0';
	if (choose.search->strategy == RANDOM || choose.search->strategy == PCT)
		prepare_random();
}

void choose_end(uint64_t operations)
{
	choose.longest = operations > choose.longest ? operations : choose.longest;
}
