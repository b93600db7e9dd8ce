/* SPDX-License-Identifier: MIT */
/* mutant.h - which seeded bug of mutants.cmake is on, from 1; 0 = none.  Included ahead of every file of that build. */
#ifndef LFPOOL_VERIFY_MUTANT_H
#define LFPOOL_VERIFY_MUTANT_H

extern int verify_mutant;

#endif
