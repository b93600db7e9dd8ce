/* SPDX-License-Identifier: MIT */
/*
 * traps.h - this program's own probes, found by their notes and hit: what a tracer does, without a tracer.
 *
 * Idea         The notes of the ELF file say where each probe's nop lies and in which registers its arguments are.  The nop
 *              becomes an int3, and a handler of SIGTRAP writes down what it finds.  No right to trace is needed, no
 *              debugger, and no kernel that has uprobes.  For one thread, on x86-64.
 */
#ifndef PROBES_TRAPS_H
#define PROBES_TRAPS_H

#include <stddef.h>
#include <stdint.h>

#define TRAP_ARGUMENTS 4

/* A probe was hit. */
struct hit {
	const char *probe;
	unsigned arguments;
	int64_t argument[TRAP_ARGUMENTS];
};

/* Finds all probes of the provider lfpool and puts a trap on each.  Returns how many there are; ends the program if a note
 * cannot be read. */
size_t traps_set(void);
/* What was hit since the last traps_forget(), in order; stays until then. */
const struct hit *traps_hits(size_t *count_out);
void traps_forget(void);

#endif
