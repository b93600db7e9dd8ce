/* SPDX-License-Identifier: MIT */
/* compared_lfpool.c - the job system on one page, unchanged. */
#define COMPARED lfpool
#include "compared.h"

const struct compared compared_lfpool = {"lfpool", measure};
