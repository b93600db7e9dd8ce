/* SPDX-License-Identifier: MIT */
/*
 * misuse_say.c - tells the hook of a misuse, or says so once on stderr; and what is said of a pool that is not intact.
 */
#include "object/misuse.h"

#include "base/text.h"

#include <stdio.h>

/* Is it an answer to a release that changed nothing? */
static bool is_refusal(lfpool_status_t status)
{
	return (status <= LFPOOL_E_FOREIGN && status > LFPOOL_E_WRITTEN_WHEN_FREE) || status <= LFPOOL_E_NOT_PINNED;
}

void misuse_say(const char *kind, const lfpool_hooks_t *hooks, const lfpool_misuse_t *misuse)
{
	/* stderr may be closed. */
	KEEP_ERRNO();

	if (hooks->misuse) {
		hooks->misuse(hooks->context, misuse);
	} else if (misuse->count == 1) {
		fprintf(stderr, "lfpool: %s \"%s\", object %p: %s%s.%s%s  ", kind, misuse->pool_name, misuse->object,
			lfpool_status_string(misuse->status), is_refusal(misuse->status) ? "; refused" : "",
			*misuse->detail ? "  " : "", misuse->detail);
		fprintf(stderr, "Further misuse of this %s is counted, not printed.\n", kind);
	}
}

void misuse_invariant(const struct debug_home *home, const char *violated, size_t where)
{
	char detail[DETAIL_BYTES];
	struct text text;

	text_open(&text, detail, sizeof(detail));
	text_put(&text, "%s", violated);
	if (where != SIZE_MAX)
		text_put(&text, ", at %zu", where);
	text_put(&text, ".");
	home->tell(home->pool, &(lfpool_misuse_t){.status = LFPOOL_E_INVARIANT, .detail = detail});
}
