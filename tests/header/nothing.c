/* SPDX-License-Identifier: MIT */
/* nothing.c - tests whether a compiler supports a language standard. */
typedef int nothing;
