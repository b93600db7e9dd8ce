/* SPDX-License-Identifier: MIT */
/* wide.c - an atomic of 16 bytes, which the gate must catch. */
struct pair {
	long long first, second;
};

_Atomic(struct pair) lfpool_control_pair;

struct pair lfpool_control_read(void);

struct pair lfpool_control_read(void)
{
	return lfpool_control_pair;
}
