/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What an observer learns from one packet: the number of a connection of the victim's, and how far
 * its packets are.  The kernel shows the loopback's packets to who may have them (CAP_NET_RAW).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <unistd.h>
#include "stranger.h"

int seen_open(void)
{
	struct sockaddr_ll lo = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_IP),
				  .sll_ifindex = (int)if_nametoindex("lo") };
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK, htons(ETH_P_IP));

	if (fd >= 0 && bind(fd, (struct sockaddr *)&lo, sizeof(lo))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A PACKET to that port? */
static bool seen_packet(const uint8_t *p, size_t len, uint16_t port, uint64_t *cid, uint32_t *pn)
{
	const struct iphdr *ip = (const void *)p;
	const struct udphdr *udp;
	uint8_t type;
	size_t ihl;

	if (len < sizeof(*ip) || ip->protocol != IPPROTO_UDP)
		return false;
	ihl = ip->ihl * 4u;
	if (len < ihl + sizeof(*udp) + SDR_CTL_HDR)
		return false;
	udp = (const void *)(p + ihl);
	if (udp->dest != htons(port))
		return false;
	p += ihl + sizeof(*udp) + SDR_CTL_HDR;
	len -= ihl + sizeof(*udp) + SDR_CTL_HDR;
	return sdr_class_decode(p, len, &type) == SDR_CLASS_REL && type == SDR_REL_PACKET &&
	       !sdr_packet_decode(p + SDR_CLASS_LEN, len - SDR_CLASS_LEN, cid, pn);
}

bool seen_number(int fd, uint16_t port, uint64_t until_ms, uint64_t *cid, uint32_t *pn)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	/* aligned for the headers in it */
	_Alignas(8) static uint8_t buf[65536];

	while (now_ms() < until_ms) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);

		if (n < 0)
			poll(&pfd, 1, 10);
		else if (seen_packet(buf, (size_t)n, port, cid, pn))
			return true;
	}
	return false;
}
