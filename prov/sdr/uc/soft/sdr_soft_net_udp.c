/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The kernel's UDP as the soft engine's carrier: sdr_soft_net.h over sdr_soft_sock.h. */
#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

#include "uc/sdr_uc_net.h"
#include "sdr_soft_host.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_net.h"

static int sdr_soft_udp_open(struct sdr_soft *s, const struct sockaddr_storage *sa, uint16_t lo,
			     uint16_t hi, const char **what)
{
	socklen_t len =
		s->family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	int fd, ret;

	/* The port lies at the same place in both families. */
	if (lo && !((const struct sockaddr_in *)sa)->sin_port)
		fd = sdr_soft_range_open(sa, lo, hi, s->rcvbuf, s->sndbuf, what);
	else
		fd = sdr_soft_sock_open((const struct sockaddr *)sa, len, s->rcvbuf, s->sndbuf,
					what);
	if (fd < 0)
		return fd;
	s->gro = !(s->off & SDR_SOFT_NO_GRO) && sdr_soft_sock_gro(fd);
	s->gso = !(s->off & SDR_SOFT_NO_GSO) && sdr_soft_sock_gso(fd);
	s->ecn = !(s->off & SDR_SOFT_NO_ECN) && sdr_soft_sock_ecn(fd, s->family);
	if (sdr_soft_sock_tos(fd, s->family, s->tos)) {
		ret = -errno;
		*what = "traffic class";
		close(fd);
		return ret;
	}
	return fd;
}

static void sdr_soft_udp_close(int fd)
{
	close(fd);
}

static int sdr_soft_udp_name(int fd, struct sockaddr_storage *sa)
{
	socklen_t len = sizeof(*sa);

	return getsockname(fd, (struct sockaddr *)sa, &len) ? -errno : 0;
}

/* A lone datagram is cheaper in a call of its own. */
static int sdr_soft_udp_recv(int fd, struct mmsghdr *v, unsigned int n)
{
	ssize_t len;

	if (n > 1)
		return recvmmsg(fd, v, n, 0, NULL);
	len = recvmsg(fd, &v->msg_hdr, 0);
	v->msg_len = (unsigned int)len;
	return len < 0 ? -1 : 1;
}

static int sdr_soft_udp_send(int fd, struct mmsghdr *v, unsigned int n)
{
	if (n > 1)
		return sendmmsg(fd, v, n, 0);
	return sendmsg(fd, &v->msg_hdr, 0) < 0 ? -1 : 1;
}

static uint32_t sdr_soft_udp_pin(int fd, const struct sockaddr *sa)
{
	unsigned int device = sdr_sockaddr_loopback(sa) ? 0 : sdr_uc_device_index(sa);

	return device && !sdr_uc_pin(fd, sa->sa_family, device) ? device : 0;
}

static uint32_t sdr_soft_udp_path_mtu(const struct sdr_soft *s, uint32_t source,
				      const struct sockaddr_storage *to)
{
	struct sockaddr_storage from;
	struct sdr_uc_addr own;
	int ret;

	sdr_soft_source_name(s, source, &own);
	if (sdr_uc_addr_to_sockaddr(&own, &from) < 0)
		return 0;
	ret = sdr_uc_path_mtu((const struct sockaddr *)to, s->any ? NULL : (struct sockaddr *)&from,
			      s->pin[source]);
	return ret > 0 ? (uint32_t)ret : 0;
}

const struct sdr_soft_net sdr_soft_net_udp = {
	.name = "soft",
	.shows = true,
	.spare = 2,
	.open = sdr_soft_udp_open,
	.close = sdr_soft_udp_close,
	.name_get = sdr_soft_udp_name,
	.recv = sdr_soft_udp_recv,
	.send = sdr_soft_udp_send,
	.pin = sdr_soft_udp_pin,
	.stamp = sdr_soft_sock_stamped,
	.window = sdr_soft_sock_window,
	.got = sdr_soft_sock_got,
	.device_mtu = sdr_uc_device_mtu,
	.stays = sdr_soft_host_has,
	.path_mtu = sdr_soft_udp_path_mtu,
};
