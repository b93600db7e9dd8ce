/* SPDX-License-Identifier: MIT */
/*
 * main.c - buffers of io_uring that are objects of a pool: the kernel receives messages into them, and threads pass
 * them on.
 *
 * Idea         The objects are in the program's memory (config.memory), which could also be pinned, or huge pages.
 *              The kernel has IN_RING of them, each known by its index, and fills one for each message.  A filled
 *              object is like any other: it goes to another thread, which releases it, and the kernel gets a free
 *              object as replacement.  Nothing is copied.  If other threads are slow, lfpool_acquire_wait() waits
 *              for them.
 *
 * Needs Linux 6.0. Exits with 77 if the kernel is older, or does not allow io_uring.
 */
#include "lfpool/buffer.h"
#include "lfpool/handle.h"
#include "lfpool/lfpool.h"
#include "lfpool/wait.h"

#include <liburing.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IN_RING = 16, FRAMES = 64, TEXT_BYTES = 2044, MESSAGES = 10000, GROUP = 1, SKIPPED = 77 };

/* A message: its number, and up to TEXT_BYTES bytes with that value. */
struct frame {
	unsigned number;
	unsigned char text[TEXT_BYTES];
};

static struct {
	lfpool_t *pool;
	struct io_uring uring;
	struct io_uring_buf_ring *buffers;
	unsigned provided, used;    /* frames given to the kernel, and frames it has filled */
	int messages[2], frames[2]; /* from the sender to the kernel, from main() to the worker */
	unsigned received;
} program;

static void require(bool done)
{
	if (!done) {
		perror("uring");
		exit(1);
	}
}

static void *send_messages(void *unused)
{
	struct frame frame;

	for (frame.number = 0; frame.number < MESSAGES; frame.number++) {
		memset(frame.text, (int)frame.number, TEXT_BYTES);
		require(send(program.messages[0], &frame, sizeof(unsigned) + frame.number % TEXT_BYTES, 0) > 0);
	}
	require(shutdown(program.messages[0], SHUT_WR) == 0);
	return unused;
}

/* Checks each frame, and releases it. */
static void *work(void *unused)
{
	struct frame *frame;

	while (read(program.frames[0], &frame, sizeof(frame)) == sizeof(frame)) {
		bool intact = frame->number == program.received;

		for (unsigned i = 0; i < frame->number % TEXT_BYTES; i++)
			intact = intact && frame->text[i] == (unsigned char)frame->number;
		program.received += intact;
		require(lfpool_release(program.pool, frame) == LFPOOL_OK);
	}
	return unused;
}

/* Gives the frame to the kernel. */
static void provide(void *frame)
{
	io_uring_buf_ring_add(program.buffers, frame, sizeof(struct frame),
			      (unsigned short)lfpool_index_of(program.pool, frame), io_uring_buf_ring_mask(IN_RING), 0);
	io_uring_buf_ring_advance(program.buffers, 1);
	program.provided++;
}

/* Passes each message to the worker, and a free frame to the kernel; returns the last result: 0 at the end of the
 * messages. */
static int pass_on(void)
{
	struct io_uring_cqe done = {0}, *next;

	do {
		/* One request serves many messages, as long as there are buffers. */
		if (!(done.flags & IORING_CQE_F_MORE)) {
			struct io_uring_sqe *request = io_uring_get_sqe(&program.uring);

			io_uring_prep_recv_multishot(request, program.messages[1], NULL, 0, 0);
			request->flags |= IOSQE_BUFFER_SELECT;
			request->buf_group = GROUP;
			require(io_uring_submit(&program.uring) == 1);
		}
		require(io_uring_wait_cqe(&program.uring, &next) == 0);
		done = *next;
		io_uring_cqe_seen(&program.uring, next);
		if (!(done.flags & IORING_CQE_F_BUFFER))
			continue;
		struct frame *frame = lfpool_object_at(program.pool, done.flags >> IORING_CQE_BUFFER_SHIFT);

		program.used++;
		require(write(program.frames[1], &frame, sizeof(frame)) == sizeof(frame));
		provide(lfpool_acquire_wait(program.pool, -1));
	} while (done.res > 0 || done.res == -ENOBUFS);
	return done.res;
}

int main(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	pthread_t sender, worker;

	config.object_size = sizeof(struct frame);
	config.capacity = FRAMES;
	const size_t bytes = lfpool_memory_bytes(&config), ring_bytes = IN_RING * sizeof(struct io_uring_buf);
	char *memory = mmap(NULL, bytes + ring_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	config.memory = memory;
	config.memory_bytes = bytes;
	require(memory != MAP_FAILED && lfpool_create(&program.pool, &config) == LFPOOL_OK);
	/* Whole pages, as the buffer ring requires. */
	program.buffers = (struct io_uring_buf_ring *)(void *)(memory + bytes);
	struct io_uring_buf_reg ring = {
		.ring_addr = (uintptr_t)program.buffers, .ring_entries = IN_RING, .bgid = GROUP};

	require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, program.messages) == 0 && pipe(program.frames) == 0);
	if (io_uring_queue_init(IN_RING, &program.uring, 0) != 0 ||
	    io_uring_register_buf_ring(&program.uring, &ring, 0) != 0) {
		puts("skipped: this kernel has no io_uring with rings of buffers, or does not allow it");
		return SKIPPED;
	}
	for (int i = 0; i < IN_RING; i++)
		provide(lfpool_acquire(program.pool));
	require(pthread_create(&sender, NULL, send_messages, NULL) == 0 &&
		pthread_create(&worker, NULL, work, NULL) == 0);
	if (pass_on() != 0) {
		puts("skipped: this kernel takes no request for many messages");
		return SKIPPED;
	}
	close(program.frames[1]);
	require(pthread_join(sender, NULL) == 0 && pthread_join(worker, NULL) == 0);
	/* The kernel's frames are ours again. */
	io_uring_queue_exit(&program.uring);
	for (; program.used != program.provided; program.used++) {
		const unsigned index = program.buffers->bufs[program.used % IN_RING].bid;

		require(lfpool_release(program.pool, lfpool_object_at(program.pool, index)) == LFPOOL_OK);
	}
	printf("%u of %d messages, in %d frames\n", program.received, MESSAGES, FRAMES);
	return lfpool_destroy(program.pool) == 0 && program.received == MESSAGES ? 0 : 1;
}
