/* SPDX-License-Identifier: MIT */
/*
 * nothing.c - asks a compiler whether it knows a language standard.
 */
typedef int nothing;
