/* SPDX-License-Identifier: MIT */
/* stdint.h - the few declarations that the headers use, for a compiler of another system. */
#ifndef BARE_STDINT_H
#define BARE_STDINT_H
typedef unsigned char uint8_t;
typedef short int16_t;
typedef int int32_t;
typedef unsigned uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
#define UINT32_C(n) n##U
#define UINT64_C(n) n##ULL
#define SIZE_MAX 0xffffffffffffffffULL
#endif
