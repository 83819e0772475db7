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
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sdr_rand.h"
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

static bool sdr_soft_host_loop(const struct sockaddr_in *in)
{
	return ntohl(in->sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
}

bool sdr_soft_host_has(const struct sockaddr_storage *sa, socklen_t len)
{
	struct sockaddr_storage own;
	socklen_t own_len = sizeof(own);
	bool same = false;
	int fd;

	/* all of 127.0.0.0/8 is, but is sent to from 127.0.0.1 */
	if (sa->ss_family == AF_INET && sdr_soft_host_loop((const struct sockaddr_in *)sa))
		return true;
	fd = socket(sa->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	/* towards an address of its own the kernel sends from that address */
	if (!connect(fd, (const struct sockaddr *)sa, len) &&
	    !getsockname(fd, (struct sockaddr *)&own, &own_len) && own.ss_family == sa->ss_family)
		same = sa->ss_family == AF_INET6
			       ? !memcmp(&((struct sockaddr_in6 *)&own)->sin6_addr,
					 &((const struct sockaddr_in6 *)sa)->sin6_addr,
					 sizeof(struct in6_addr))
			       : ((struct sockaddr_in *)&own)->sin_addr.s_addr ==
					 ((const struct sockaddr_in *)sa)->sin_addr.s_addr;
	close(fd);
	return same;
}
