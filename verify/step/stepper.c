/* SPDX-License-Identifier: MIT */
/*
 * stepper.c - see stepper.h.
 */
#include "stepper.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ucontext.h>
#include <unistd.h>

#define TRAP_FLAG ((greg_t)0x100)
#define BREAKPOINT 0xcc
#define NOWHERE (-1L)
#define ANCHOR_DISTANCE 64               /* how far before the stop to look for an anchor */
#define PROGRAM_MAX ((uintptr_t)1 << 32) /* the end of a program that is not position-independent */

extern char __executable_start[], etext[];

/* initial-exec: read in the handler, where nothing may be allocated. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct stepper *stepped;

/* The byte behind the prefixes, which come in any order, with a REX byte last.  F0 is LOCK; the others: segments,
 * sizes, rep. */
static const unsigned char *opcode_of(const unsigned char *code, bool *lock_out)
{
	for (*lock_out = false; memchr("\xf0\x26\x2e\x36\x3e\x64\x65\x66\x67\xf2\xf3", *code, 11); code++)
		*lock_out |= *code == 0xf0;
	return code + ((*code & 0xf0) == 0x40);
}

/* xchg, 86 and 87, with a memory operand locks implicitly. */
static bool is_locked(const unsigned char *code)
{
	bool lock;

	code = opcode_of(code, &lock);
	return lock || ((*code == 0x86 || *code == 0x87) && code[1] < 0xc0);
}

/* Does it touch no memory except the top of its stack?  For the integer instructions that compilers use, by Intel's
 * manual, volume 2, appendix A: push, pop, jcc, lea, xchg, cdq, test, mov, ret, call, jmp; nop, jcc, bswap; movsxd,
 * imul, add, test, mov, shl, mul; endbr64, cmov, setcc, bt, bts, imul, btr, movzx, bsf, movsx.  Any other counts as
 * touching memory. */
static bool is_private(const unsigned char *code)
{
	static const struct {
		bool after_0f, of_registers;
		unsigned char first, last;
	} table[] = {
		{0, 0, 0x50, 0x5f}, {0, 0, 0x70, 0x7f}, {0, 0, 0x8d, 0x8d}, {0, 0, 0x90, 0x99}, {0, 0, 0xa8, 0xa9},
		{0, 0, 0xb0, 0xbf}, {0, 0, 0xc3, 0xc3}, {0, 0, 0xe8, 0xe9}, {0, 0, 0xeb, 0xeb}, {1, 0, 0x1f, 0x1f},
		{1, 0, 0x80, 0x8f}, {1, 0, 0xc8, 0xcf}, {0, 1, 0x63, 0x63}, {0, 1, 0x69, 0x69}, {0, 1, 0x6b, 0x6b},
		{0, 1, 0x80, 0x8b}, {0, 1, 0xc0, 0xc1}, {0, 1, 0xc6, 0xc7}, {0, 1, 0xd0, 0xd3}, {0, 1, 0xf6, 0xf7},
		{1, 1, 0x1e, 0x1e}, {1, 1, 0x40, 0x4f}, {1, 1, 0x90, 0x9f}, {1, 1, 0xa3, 0xa3}, {1, 1, 0xab, 0xab},
		{1, 1, 0xaf, 0xaf}, {1, 1, 0xb3, 0xb3}, {1, 1, 0xb6, 0xb7}, {1, 1, 0xba, 0xbf},
	};
	bool lock;

	code = opcode_of(code, &lock);
	const bool after_0f = *code == 0x0f;

	code += after_0f;
	/* The next byte shows whether an operand is in memory or in a register. */
	const bool of_registers = code[1] >= 0xc0;

	if (!after_0f && *code < 0x40) /* add to cmp */
		return *code % 8 < 4 ? of_registers : *code % 8 < 6;
	if (!after_0f && *code >= 0xfe) /* inc, dec; the others jump */
		return of_registers && code[1] < 0xd0;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].after_0f == after_0f && *code >= table[i].first && *code <= table[i].last)
			return of_registers || !table[i].of_registers;
	return false;
}

/* ---- The plan ---- */

void stepper_plan_nothing(struct stepper *s)
{
	s->recording = false;
	s->stop_at = NOWHERE;
	s->anchor = 0;
}

void stepper_plan_recording(struct stepper *s)
{
	stepper_plan_nothing(s);
	s->recording = true;
}

/* A stub that jumps into a shared library: [endbr64] [bnd] jmp *offset(%rip).  Waiting threads use some of them. */
static bool is_stub(const unsigned char *code)
{
	static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

	code += memcmp(code, endbr64, sizeof(endbr64)) == 0 ? sizeof(endbr64) : 0;
	code += *code == 0xf2;
	return code[0] == 0xff && code[1] == 0x25;
}

static bool is_in_program(const unsigned char *place)
{
	return (const char *)place >= __executable_start && (const char *)place < etext;
}

bool stepper_in_program(const struct stepper *s, long at)
{
	return is_in_program(s->trace[at]);
}

bool stepper_is_another(const struct stepper *s, long at)
{
	return at == 0 || getenv("LFPOOL_DEEP") || !is_private(s->trace[at - 1]);
}

static bool can_plant(const unsigned char *place)
{
	return is_in_program(place) && !is_stub(place);
}

void stepper_plan_stop(struct stepper *s, long at)
{
	long cheapest = at;

	stepper_plan_nothing(s);
	s->stop_at = at;
	/* The cheapest anchor: each earlier pass over it, and each instruction after it, is a step. */
	for (long anchor = at < s->length ? at : s->length - 1;
	     anchor > 0 && anchor > at - ANCHOR_DISTANCE && at - anchor < cheapest; anchor--) {
		long passes = 0;

		if (!can_plant(s->trace[anchor]))
			continue;
		for (long i = 0; i < anchor; i++)
			passes += s->trace[i] == s->trace[anchor];
		if (passes + at - anchor < cheapest) {
			cheapest = passes + at - anchor;
			s->anchor = anchor;
			s->passes = passes;
		}
	}
}

/* ---- The handler ---- */

static void plant(struct stepper *s)
{
	unsigned char *place = s->trace[s->anchor];

	s->displaced = *place;
	*(volatile unsigned char *)place = BREAKPOINT;
	s->planted = true;
}

static void take_out(struct stepper *s)
{
	*(volatile unsigned char *)s->trace[s->anchor] = s->displaced;
	s->planted = false;
}

/* Before instruction s->steps.  True if the next one must trap as well. */
static bool arrive(struct stepper *s, unsigned char *place)
{
	s->place = place;
	if (s->recording) {
		if (s->steps >= STEPS_MAX)
			abort();
		s->trace[s->steps] = place;
		if (is_locked(place)) {
			s->locked++;
			s->locked_at = s->steps;
		}
		s->length = s->steps;
		return true;
	}
	if (s->steps != s->stop_at)
		return s->stop_at != NOWHERE;
	if (place != s->trace[s->steps])
		s->strayed = true;
	if (s->interrupt) {
		s->interrupt();
		return false;
	}
	turn_give(&s->turn, TURN_PARKED);
	if (turn_wait(&s->turn, TURN_PARKED) == TURN_ABANDON) {
		s->inside = false;
		siglongjmp(s->way_out, 1);
	}
	return false;
}

static bool on_marker(struct stepper *s, unsigned char *place)
{
	s->inside = !s->inside;
	if (!s->inside) {
		/* Execution did not pass the breakpoint. */
		if (s->planted) {
			take_out(s);
			s->strayed = true;
		}
		return false;
	}
	s->steps = 0;
	s->strayed = s->passing = false;
	if (s->recording)
		s->locked = 0;
	if (!s->anchor)
		return arrive(s, place);
	plant(s);
	return false;
}

/* At our own breakpoint, which is removed.  Steps over it if this is not the right pass yet. */
static bool on_breakpoint(struct stepper *s, unsigned char *place)
{
	take_out(s);
	s->passing = s->passes > 0;
	if (s->passing) {
		s->passes--;
		return true;
	}
	s->steps = s->anchor;
	return arrive(s, place);
}

static bool on_step(struct stepper *s, unsigned char *place)
{
	if (s->passing) {
		s->passing = false;
		plant(s);
		return false;
	}
	s->steps++;
	return arrive(s, place);
}

static void on_trap(int signal_number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	unsigned char *place = (unsigned char *)registers[REG_RIP];
	struct stepper *s = stepped;
	const int errno_before = errno;
	bool trap;

	(void)signal_number;
	if (!s)
		abort();
	/* int3 reports SI_KERNEL. A step should report TRAP_TRACE. But some virtual machines lose the bit by which
	 * the kernel recognises it, for one step in a few thousand, and it reports TRAP_BRKPT. */
	if (info->si_code != SI_KERNEL) {
		trap = on_step(s, place);
	} else if (s->planted && place - 1 == s->trace[s->anchor]) {
		registers[REG_RIP]--;
		trap = on_breakpoint(s, place - 1);
	} else {
		trap = on_marker(s, place);
	}
	if (trap)
		registers[REG_EFL] |= TRAP_FLAG;
	else
		registers[REG_EFL] &= ~TRAP_FLAG;
	errno = errno_before;
}

void stepper_open(void)
{
	/* Not on a separate stack: an abandoned thread leaves the handler by a jump. */
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t start = (uintptr_t)__executable_start & ~(page - 1);

	/* The first pages are the file's read-only header; giving them the same rights does no harm. */
	if (sigaction(SIGTRAP, &action, NULL) != 0 ||
	    mprotect((void *)start, (uintptr_t)etext - start, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
		perror("stepper");
		exit(3);
	}
}

void stepper_attach(struct stepper *s)
{
	stepped = s;
}

void where(char *text, size_t room, const void *place)
{
	const uintptr_t start = (uintptr_t)__executable_start;
	char path[512] = "";

	if (is_in_program(place)) {
		if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
			path[0] = '\0';
		/* Addresses of a position-independent program count from its start. */
		(void)snprintf(text, room, "(addr2line -fie %s 0x%zx)", path,
			       (size_t)((uintptr_t)place - (start > PROGRAM_MAX ? start : 0)));
	} else {
		(void)snprintf(text, room, "address %p", place);
	}
}
