/* SPDX-License-Identifier: MIT */
/*
 * probes.h - probe points for tracers: bpftrace, perf, SystemTap and gdb can attach to them while the program runs.
 *
 * Idea         The probes are USDT probes (user-space statically defined tracing).  A probe is a nop, and a note in the
 *              ELF file with the address of the nop and the locations of the probe's arguments.  A tracer lets the
 *              kernel put a breakpoint on the nop; without a tracer, the only cost is the nop.  The notes have the
 *              format of SystemTap's <sys/sdt.h>, which every tracer reads.  The library does not include that header,
 *              for two reasons.  The header would be a dependency.  The compiler also counts the header's asm as one
 *              instruction per line, and so stopped inlining the calling functions; the `asm inline` here counts as one
 *              instruction.  Without the CMake option LFPOOL_USDT the probe functions are empty.
 * Invariants   PB1 no probe is on the fast path.  If lfpool_stats_t has a counter of the same events, the probe is next
 *                  to the code that counts.
 *              PB2 no code runs only to compute an argument of a probe, unless the argument is an address.
 *              docs/observability.md has a table of the probes, which tests/probes compares with the built library.
 */
#ifndef LFPOOL_PROBES_H
#define LFPOOL_PROBES_H

#include "base/base.h"

#ifdef LFPOOL_USDT
#if __SIZEOF_POINTER__ == 8
#define PROBE_WORD "8"
#else
#define PROBE_WORD "4"
#endif
/*
 * A note begins with the size of the format's name, the size of the rest, the type 3 (stapsdt), and the name.  Three
 * addresses follow: the nop; the base, which shows how far a prelinked file was moved; and a semaphore (0: unused).
 * Three strings follow: the provider, the probe, and the arguments.  An argument is SIZE@OPERAND, in the assembler's
 * syntax.
 */
#define PROBE_NOTE(probe, arguments)                                                \
	"990: nop\n"                                                                \
	".pushsection .note.stapsdt, \"?\", \"note\"\n"                             \
	".balign 4\n"                                                               \
	".4byte 992f - 991f, 994f - 993f, 3\n"                                      \
	"991: .asciz \"stapsdt\"\n"                                                 \
	"992: .balign 4\n"                                                          \
	"993: ." PROBE_WORD "byte 990b, _.stapsdt.base, 0\n"                        \
	".asciz \"lfpool\"\n"                                                       \
	".asciz \"" #probe "\"\n"                                                   \
	".asciz \"" arguments "\"\n"                                                \
	"994: .balign 4\n"                                                          \
	".popsection\n"                                                             \
	".ifndef _.stapsdt.base\n"                                                  \
	".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
	".weak _.stapsdt.base\n"                                                    \
	".hidden _.stapsdt.base\n"                                                  \
	"_.stapsdt.base: .space 1\n"                                                \
	".size _.stapsdt.base, 1\n"                                                 \
	".popsection\n"                                                             \
	".endif\n"
/* The operand is a constant or a register, because for a memory operand clang would make a copy on the stack. */
#define PROBE_PLACE(x) "nr"((intptr_t)(x))
/* clang-format off */
#define FIRE2(probe, a, b)                                                                                      \
	__asm__ __inline__ __volatile__(PROBE_NOTE(probe, PROBE_WORD "@%0 " PROBE_WORD "@%1")                   \
					:: PROBE_PLACE(a), PROBE_PLACE(b))
#define FIRE3(probe, a, b, c)                                                                                   \
	__asm__ __inline__ __volatile__(PROBE_NOTE(probe, PROBE_WORD "@%0 " PROBE_WORD "@%1 -" PROBE_WORD "@%2") \
					:: PROBE_PLACE(a), PROBE_PLACE(b), PROBE_PLACE(c))
#define FIRE4(probe, a, b, c, d)                                                                                \
	__asm__ __inline__ __volatile__(PROBE_NOTE(probe, PROBE_WORD "@%0 " PROBE_WORD "@%1 " PROBE_WORD        \
							  "@%2 -" PROBE_WORD "@%3")                             \
					:: PROBE_PLACE(a), PROBE_PLACE(b), PROBE_PLACE(c), PROBE_PLACE(d))
/* clang-format on */
#else
#define FIRE2(probe, a, b) ((void)(a), (void)(b))
#define FIRE3(probe, a, b, c) ((void)(a), (void)(b), (void)(c))
#define FIRE4(probe, a, b, c, d) ((void)(a), (void)(b), (void)(c), (void)(d))
#endif

/* Each line below defines a function: static PROBE3(miss, enum probe_call, call) is probe_miss(pool, name, call).  The
 * functions are inlined even without optimisation, because the note describes a point in the calling function. */
#define PROBE inline __attribute__((always_inline)) void
#define PROBE2(probe)                                                      \
	PROBE probe_##probe(const struct lfpool_t *pool, const char *name) \
	{                                                                  \
		FIRE2(probe, pool, name);                                  \
	}
#define PROBE3(probe, type, third)                                                     \
	PROBE probe_##probe(const struct lfpool_t *pool, const char *name, type third) \
	{                                                                              \
		FIRE3(probe, pool, name, third);                                       \
	}
#define PROBE4(probe, type, third, last_type, fourth)                                                    \
	PROBE probe_##probe(const struct lfpool_t *pool, const char *name, type third, last_type fourth) \
	{                                                                                                \
		FIRE4(probe, pool, name, third, fourth);                                                 \
	}

struct lfpool_t;

/* ---- Probes beside a counter: each fires whenever its counter counts ---- */

enum probe_call { PROBE_ACQUIRE, PROBE_RELEASE };

/* clang-format off */
/* A cache's magazine was empty (refills) or full (drains), and has been replaced. */
static PROBE3(miss, enum probe_call, call)
/* The cache's own stacks had no suitable magazine, so the depot or another cache had to provide one (depot_trips). */
static PROBE3(trip, enum probe_call, call)
/* An object, or a whole magazine, was taken from another cache (steals). */
static PROBE3(steal, bool, whole)
/* A call found no free object (exhausted). */
static PROBE2(exhausted)
/* A release was refused, or a debug mode found an error (misuses). */
static PROBE4(misuse, const void *, object, int, status)

/* ---- Events of the pool ---- */

static PROBE4(create, size_t, object_size, size_t, capacity)
static PROBE2(destroy)
/* `added` objects were added, by lfpool_grow() or automatically. */
static PROBE3(grow, size_t, added)
/* A shrink by `count` objects removed `gone` of them; the rest is owed. */
static PROBE4(shrink, size_t, count, size_t, gone)
/* `bytes` of memory were returned to the system (given_back). */
static PROBE3(trim, size_t, bytes)
/* A call begins to wait for an object.  probe_wait_end(): the wait ends, with an object or NULL. */
static PROBE2(wait_begin)
static PROBE3(wait_end, const void *, object)
/* clang-format on */

#undef FIRE2
#undef FIRE3
#undef FIRE4
#undef PROBE
#undef PROBE2
#undef PROBE3
#undef PROBE4

#endif
