/* SPDX-License-Identifier: MIT */
/* typed.c - typed.h and hidden.h alone, twice, in every C; with -DWITH_INLINE the caches' hits are inlined. */
#ifdef WITH_INLINE
#include <lfpool/inline.h>
#endif
#include <lfpool/typed.h>
#include "typed.h"
