/* SPDX-License-Identifier: MIT */
/*
 * header.c - a file that includes gbench.h first and uses what is inline in it; compiled as C and as C++.
 */
#include "gbench/gbench.h"

extern int header_answer(void);

int header_answer(void)
{
	int answer = 42;

	gbench_use(&answer);
	gbench_clobber();
	return answer;
}
