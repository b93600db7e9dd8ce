/* SPDX-License-Identifier: MIT */
/*
 * in_buffer.h - repeats a test of ordinary pools with each pool in a buffer of exactly the size that it needs.
 *
 * Idea         Replaces lfpool_create() and lfpool_destroy() in a file compiled with IN_BUFFER. The bytes before and
 *              behind the buffer must stay unchanged; the buffer is not zero at first.  A pool that cannot be in a
 *              buffer, because of its backend or debug modes, is made normally.
 */
#ifndef LFPOOL_TESTS_IN_BUFFER_H
#define LFPOOL_TESTS_IN_BUFFER_H

#define IN_BUFFER_EDGE 128
#define IN_BUFFER_BYTE 0xb5

/* A pool in a buffer: a block with the buffer between two edges. */
struct in_buffer {
	struct in_buffer *next;
	lfpool_t *pool;
	unsigned char *block;
	size_t bytes; /* the buffer's size */
};

static struct in_buffer *in_buffers;
static pthread_mutex_t in_buffer_mutex = PTHREAD_MUTEX_INITIALIZER;

static inline lfpool_status_t in_buffer_create(lfpool_t **pool_out, const lfpool_config_t *config)
{
	const size_t bytes = config ? lfpool_buffer_bytes(config) : 0, round = (bytes + 127) / 128 * 128;

#ifdef LFPOOL_EMBEDDED
	/* An embedded library has only pools in buffers. */
	if (!bytes)
		skip();
#endif
	if (!bytes)
		return lfpool_create(pool_out, config);

	struct in_buffer *b = malloc(sizeof(*b));
	unsigned char *block = NULL;

	REQUIRE(b && posix_memalign((void **)&block, 4096, round + 2 * IN_BUFFER_EDGE) == 0);
	memset(block, IN_BUFFER_BYTE, round + 2 * IN_BUFFER_EDGE);

	const lfpool_status_t status = lfpool_create_in(pool_out, config, block + IN_BUFFER_EDGE, bytes);

	*b = (struct in_buffer){NULL, *pool_out, block, bytes};
	if (status != LFPOOL_OK) {
		free(block);
		free(b);
		return status;
	}
	pthread_mutex_lock(&in_buffer_mutex);
	b->next = in_buffers;
	in_buffers = b;
	pthread_mutex_unlock(&in_buffer_mutex);
	return LFPOOL_OK;
}

static inline size_t in_buffer_destroy(lfpool_t *pool)
{
	const size_t active = lfpool_destroy(pool);
	struct in_buffer **link = &in_buffers, *b;

	if (!pool)
		return active;
	pthread_mutex_lock(&in_buffer_mutex);
	while (*link && (*link)->pool != pool)
		link = &(*link)->next;
	b = *link;
	*link = b ? b->next : NULL;
	pthread_mutex_unlock(&in_buffer_mutex);
	for (size_t i = 0; b && i < IN_BUFFER_EDGE; i++)
		REQUIRE(b->block[i] == IN_BUFFER_BYTE && b->block[IN_BUFFER_EDGE + b->bytes + i] == IN_BUFFER_BYTE);
	free(b ? b->block : NULL);
	free(b);
	return active;
}

#define lfpool_create(pool_out, config) in_buffer_create(pool_out, config)
#define lfpool_destroy(pool) in_buffer_destroy(pool)

#endif
