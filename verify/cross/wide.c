/* SPDX-License-Identifier: MIT */
/*
 * wide.c - what the gate must catch: an atomic of 16 bytes.
 */
struct pair {
	long long first, second;
};

_Atomic(struct pair) lfpool_control_pair;

struct pair lfpool_control_read(void);

struct pair lfpool_control_read(void)
{
	return lfpool_control_pair;
}
