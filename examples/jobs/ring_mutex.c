/* SPDX-License-Identifier: MIT */
/*
 * ring_mutex.c - see ring.h: a ring behind a mutex, where ConcurrencyKit is not installed.
 */
#include "ring.h"

#include <pthread.h>
#include <stdlib.h>

struct ring {
	pthread_mutex_t mutex;
	size_t capacity;
	size_t puts, takes; /* since it was made */
	void *entry[];
};

struct ring *ring_create(size_t capacity)
{
	struct ring *ring = malloc(sizeof(*ring) + capacity * sizeof(ring->entry[0]));

	if (!ring)
		return NULL;
	pthread_mutex_init(&ring->mutex, NULL);
	ring->capacity = capacity;
	ring->puts = ring->takes = 0;
	return ring;
}

void ring_destroy(struct ring *ring)
{
	if (ring)
		pthread_mutex_destroy(&ring->mutex);
	free(ring);
}

bool ring_put(struct ring *ring, void *entry)
{
	pthread_mutex_lock(&ring->mutex);

	const bool room = ring->puts - ring->takes < ring->capacity;

	if (room)
		ring->entry[ring->puts++ % ring->capacity] = entry;
	pthread_mutex_unlock(&ring->mutex);
	return room;
}

void *ring_take(struct ring *ring)
{
	void *entry = NULL;

	pthread_mutex_lock(&ring->mutex);
	if (ring->puts != ring->takes)
		entry = ring->entry[ring->takes++ % ring->capacity];
	pthread_mutex_unlock(&ring->mutex);
	return entry;
}
