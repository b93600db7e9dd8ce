/* SPDX-License-Identifier: MIT */
/*
 * sized.h - structs of the public interface whose version may differ between the caller and the library.
 *
 * Idea         Such a struct only grows at its end, so its size shows its version.  A struct that the library reads
 *              begins with its size.  Fields that an older caller lacks read as zero, which is their default.  Fields
 *              that an older library lacks must be zero.  When the library fills a struct, an inline function in the
 *              public header passes the caller's size.
 */
#ifndef LFPOOL_SIZED_H
#define LFPOOL_SIZED_H

#include "base/base.h"

#define STRUCT_SIZE_MAX 4096 /* a larger struct_size is invalid */

/*
 * Copies *given to *out, which is the library's version of the struct.  Sets the struct_size of *out to `known`, the
 * size of that version.  False if the given struct_size is below `least` or above STRUCT_SIZE_MAX, or an unknown field
 * is set.
 */
bool sized_read(void *out, size_t known, size_t least, const void *given);

/* Fills the caller's struct of `bytes` bytes from *from, which is the library's version.  Fields that the library does
 * not know become 0. */
void sized_write(void *out, size_t bytes, const void *from, size_t known);

#endif
