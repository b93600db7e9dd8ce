/* SPDX-License-Identifier: MIT */
/* stdbool.h - for a compiler of another system. */
#if !defined(__cplusplus) && !defined(bool)
#define bool _Bool
#define true 1
#define false 0
#endif
