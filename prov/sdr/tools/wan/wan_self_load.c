/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The sender and the receiver of the self-test.
 *
 * Datagrams carry their number, the time at which they were sent, and bytes that follow from their
 * number; several of them go out in one call as a super-packet (UDP_SEGMENT).  A TCP stream carries
 * bytes that follow from their place.  The receiver takes the kernel's time of arrival and the mark
 * of each datagram, and ends when nothing has come for a while after the sender has finished.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wan_self.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#define SELF_PORT  9
#define SELF_QUIET 300 /* ms without a packet: all have come */
#define SELF_MAX   100000u

struct self_head {
	uint32_t number;
	uint64_t sent_ns;
} __attribute__((packed));

static struct self_seen *self_out;

static void self_failed(const char *what)
{
	snprintf(self_out->why, WAN_WHY, "%s: %s", what, strerror(errno));
	self_out->gone = 1;
	_exit(1);
}

static uint64_t self_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * WAN_NS + (uint64_t)ts.tv_nsec;
}

static uint8_t self_byte(uint64_t at)
{
	return (uint8_t)(at * 31 + (at >> 8));
}

static int self_socket(int type, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	int s = socket(AF_INET, type | SOCK_CLOEXEC, 0), size = 64 << 20, on = 1;

	if (s < 0)
		self_failed("socket");
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(s, (struct sockaddr *)&in, sizeof(in)))
		self_failed("bind");
	return s;
}

/* ---- receiver ------------------------------------------------------------------------------ */

static void self_datagram(const struct self_load *load, const uint8_t *b, ssize_t n, uint64_t now,
			  uint8_t tos, uint8_t *came, uint32_t *highest)
{
	struct self_seen *o = self_out;
	struct self_head h;

	if (n != load->bytes) {
		o->wrong++;
		return;
	}
	memcpy(&h, b, sizeof(h));
	if (h.number >= load->packets) {
		o->wrong++;
		return;
	}
	for (uint32_t i = sizeof(h); i < load->bytes; i++)
		o->wrong += b[i] != self_byte(h.number + i);
	o->reordered += o->packets && h.number < *highest;
	if (h.number > *highest)
		*highest = h.number;
	came[h.number] = 1;
	if (!o->packets)
		o->first_ns = now;
	o->last_ns = now;
	o->packets++;
	o->bytes += (uint64_t)n;
	o->marked += (tos & 3) == WAN_CE;
	wan_hist_add(&o->way, now > h.sent_ns ? now - h.sent_ns : 0);
}

static void self_gaps(const struct self_load *load, const uint8_t *came)
{
	bool was = true;

	for (uint32_t i = 0; i < load->packets; i++) {
		self_out->gaps += !came[i] && was;
		self_out->gap_packets += !came[i];
		was = came[i];
	}
}

static void self_receive_udp(const struct self_load *load)
{
	static uint8_t buf[65536], came[SELF_MAX], ctl[256];
	struct timeval wait = { .tv_usec = SELF_QUIET * 1000 };
	int s = self_socket(SOCK_DGRAM, SELF_PORT), on = 1;
	uint32_t highest = 0, full;
	struct timespec ts;

	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	setsockopt(s, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	setsockopt(s, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on));
	setsockopt(s, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on));
	self_out->ready = 1;
	for (;;) {
		struct iovec iov = { buf, sizeof(buf) };
		struct msghdr msg = { .msg_iov = &iov,
				      .msg_iovlen = 1,
				      .msg_control = ctl,
				      .msg_controllen = sizeof(ctl) };
		ssize_t n = recvmsg(s, &msg, 0);
		uint64_t now = self_clock();
		uint8_t tos = 0;

		if (n < 0 && self_out->done)
			break;
		if (n < 0)
			continue;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
			if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
				tos = *CMSG_DATA(c);
			if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
				memcpy(&full, CMSG_DATA(c), sizeof(full));
				self_out->full = full;
			}
			if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
				continue;
			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
			now = (uint64_t)ts.tv_sec * WAN_NS + (uint64_t)ts.tv_nsec;
		}
		self_datagram(load, buf, n, now, tos, came, &highest);
	}
	self_gaps(load, came);
}

static void self_receive_tcp(void)
{
	static uint8_t buf[1 << 20];
	int s = self_socket(SOCK_STREAM, SELF_PORT), c;
	ssize_t n;

	if (listen(s, 1))
		self_failed("listen");
	self_out->ready = 1;
	c = accept(s, NULL, NULL);
	if (c < 0)
		self_failed("accept");
	while ((n = read(c, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			self_out->wrong += buf[i] != self_byte(self_out->bytes + (uint64_t)i);
		self_out->bytes += (uint64_t)n;
	}
	if (n < 0)
		self_failed("read");
}

static pid_t self_fork(int ns, struct self_seen *seen)
{
	pid_t pid;

	self_out = seen;
	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (wan_host_join(ns))
		self_failed("setns");
	return 0;
}

pid_t wan_self_receive(const struct self_load *load, int ns, struct self_seen *seen)
{
	pid_t pid = self_fork(ns, seen);

	if (pid)
		return pid;
	if (load->batch)
		self_receive_udp(load);
	else
		self_receive_tcp();
	self_out->gone = 1;
	_exit(0);
}

/* ---- sender -------------------------------------------------------------------------------- */

static void self_sleep(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / WAN_NS), (long)(ns % WAN_NS) };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static void self_connect(int s)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(SELF_PORT) };

	inet_pton(AF_INET, "10.77.2.1", &to.sin_addr);
	if (connect(s, (struct sockaddr *)&to, sizeof(to)))
		self_failed("connect");
}

static void self_send_udp(const struct self_load *load)
{
	static uint8_t buf[65536];
	uint64_t begin = self_clock(), due, now;
	int s = self_socket(SOCK_DGRAM, 0), tos = load->ecn, segment = (int)load->bytes;
	uint32_t n;

	self_connect(s);
	setsockopt(s, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	if (load->batch > 1 && setsockopt(s, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)))
		self_failed("UDP_SEGMENT");
	for (uint32_t i = 0; i < load->packets; i += n) {
		due = begin + (uint64_t)((double)i / load->per_s * 1e9);
		now = self_clock();
		if (due > now + 50000) {
			self_sleep(due - now);
			now = self_clock();
		}
		n = load->packets - i < load->batch ? load->packets - i : load->batch;
		for (uint32_t k = 0; k < n; k++) {
			struct self_head h = { i + k, now };
			uint8_t *b = buf + (size_t)k * load->bytes;

			memcpy(b, &h, sizeof(h));
			for (uint32_t at = sizeof(h); at < load->bytes; at++)
				b[at] = self_byte(i + k + at);
		}
		if (send(s, buf, (size_t)n * load->bytes, 0) < 0)
			self_failed("send");
	}
}

static void self_send_tcp(const struct self_load *load)
{
	static uint8_t buf[65536];
	int s = self_socket(SOCK_STREAM, 0);
	uint64_t at = 0;

	self_connect(s);
	for (uint32_t i = 0; i < load->packets; i++) {
		for (uint32_t k = 0; k < load->bytes; k++)
			buf[k] = self_byte(at + k);
		for (uint32_t done = 0; done < load->bytes;) {
			ssize_t n = write(s, buf + done, load->bytes - done);

			if (n < 0)
				self_failed("write");
			done += (uint32_t)n;
		}
		at += load->bytes;
	}
	shutdown(s, SHUT_WR);
	(void)!read(s, buf, 1); /* the receiver has everything */
}

pid_t wan_self_send(const struct self_load *load, int ns, struct self_seen *seen)
{
	pid_t pid = self_fork(ns, seen);

	if (pid)
		return pid;
	for (unsigned int i = 0; !self_out->ready && i < 500; i++)
		self_sleep(10000000);
	if (load->batch)
		self_send_udp(load);
	else
		self_send_tcp(load);
	self_out->done = 1;
	for (unsigned int i = 0; !self_out->gone && i < 1000; i++)
		self_sleep(10000000);
	_exit(0);
}
