/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Whether a peer is a process of this host, so that what goes to it stays in this kernel's memory.
 *
 * Nothing can happen to a packet there that a check sum would find: the kernel does not make one
 * for its own protocols either.  For ours two processors read every byte once more, a third of what
 * a large message takes over the loopback.
 *
 * Two have to be sure.  The receiver, that the peer's info names the same kernel and the same
 * network namespace as its own: then its packets may come without an ICRC, with zeros in its place;
 * those that have one are checked as ever.  The sender, of the same, and that the address which it
 * sends to is one of this namespace, since the kernel itself would send from it: behind any other
 * there may be a wire, and somebody who forwards.
 *
 * No state, no timers; any thread.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sdr_rand.h"
#include "uc/sdr_uc_net.h"
#include "sdr_soft_host.h"

#define SDR_SOFT_BOOT_LEN 36u /* characters of a boot's UUID */

/* Not a secret: it makes a number of our own out of one that others may use. */
static const uint8_t sdr_soft_host_key[SDR_SIPHASH_KEY] = "sdr: this host";

uint64_t sdr_soft_host_id(void)
{
	struct {
		char boot[SDR_SOFT_BOOT_LEN];
		uint64_t dev, ino; /* of the namespace */
	} id;
	struct stat st;
	ssize_t n;
	int fd;

	memset(&id, 0, sizeof(id));
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, id.boot, sizeof(id.boot));
	close(fd);
	if (n != (ssize_t)sizeof(id.boot) || stat("/proc/self/ns/net", &st))
		return 0;
	id.dev = st.st_dev;
	id.ino = st.st_ino;
	return sdr_siphash(&id, sizeof(id), sdr_soft_host_key);
}

bool sdr_soft_host_has(const struct sockaddr *sa)
{
	struct sockaddr_storage from;

	/* all of 127.0.0.0/8 is, but is sent to from 127.0.0.1 */
	if (sdr_sockaddr_loopback(sa))
		return true;
	return !sdr_uc_route(sa, &from) && sdr_sockaddr_same_ip((struct sockaddr *)&from, sa);
}
