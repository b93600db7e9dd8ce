/* SPDX-License-Identifier: MIT */
/* stddef.h - the few declarations that the headers use, for a compiler of another system. */
#ifndef BARE_STDDEF_H
#define BARE_STDDEF_H
typedef unsigned long long size_t;
typedef long long ptrdiff_t;
#ifdef __cplusplus
#define NULL 0
#else
#define NULL ((void *)0)
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
