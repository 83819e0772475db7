/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The send calls of a test program, which ask a script of the test's before they go to the kernel:
 * see test_soft_sends.c.
 */
#ifndef TEST_SOFT_SENDS_H
#define TEST_SOFT_SENDS_H

#include <stdbool.h>
#include <sys/socket.h>

struct soft_sends {
	void (*call)(void); /* at each call; may be NULL */
	/* of each message: it is refused, and errno is set */
	bool (*refuses)(const struct msghdr *m);
	/* of one that is sent alone: it is taken, and nobody gets it; may be NULL */
	bool (*swallows)(int fd, const struct msghdr *m);
};

extern const struct soft_sends soft_sends; /* the test has it */

#endif /* TEST_SOFT_SENDS_H */
