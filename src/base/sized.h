/* SPDX-License-Identifier: MIT */
/*
 * sized.h - structs of the interface, of which the caller may have an older or a newer version.
 *
 * Idea         Such a struct only grows at its end.  One that the library reads begins with its size.  Fields that the
 *              caller does not know read as zero, which is their default.  Fields that the library does not know must
 *              be zero.  For a struct that the library writes, an inline function of the header passes the size.
 */
#ifndef LFPOOL_SIZED_H
#define LFPOOL_SIZED_H

#include "base/base.h"

#define STRUCT_SIZE_MAX 4096 /* a larger struct_size is invalid */

/*
 * Copies *given to *out, the library's version, and sets its struct_size to its size, `known`.  False if the given
 * struct_size is below `least` or above STRUCT_SIZE_MAX, or an unknown field is set.
 */
bool sized_read(void *out, size_t known, size_t least, const void *given);

/* Fills the caller's struct of `bytes` bytes from *from, the library's version.  Fields that the library does not know
 * become 0. */
void sized_write(void *out, size_t bytes, const void *from, size_t known);

#endif
