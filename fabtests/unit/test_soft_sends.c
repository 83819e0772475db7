/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sendmsg and sendmmsg as the soft engine finds them in a test program that is linked with this: a
 * script decides message by message what the kernel would have said, as loopback alone never says
 * that it is full.  Of many at once those in front of the first one that is refused are taken, as
 * the kernel does it.  Any thread may be in them.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "test_soft_sends.h"

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	if (soft_sends.call)
		soft_sends.call();
	if (soft_sends.refuses(m))
		return -1;
	if (soft_sends.swallows && soft_sends.swallows(fd, m))
		return (ssize_t)m->msg_iov->iov_len;
	return syscall(SYS_sendmsg, fd, m, flags);
}

int sendmmsg(int fd, struct mmsghdr *m, unsigned int n, int flags)
{
	unsigned int i;

	if (soft_sends.call)
		soft_sends.call();
	for (i = 0; i < n; i++) {
		ssize_t ret = soft_sends.refuses(&m[i].msg_hdr)
				      ? -1
				      : syscall(SYS_sendmsg, fd, &m[i].msg_hdr, flags);

		if (ret < 0)
			return i ? (int)i : -1;
		m[i].msg_len = (unsigned int)ret;
	}
	return (int)n;
}
