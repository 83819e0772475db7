/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Round trips as a small packet of somebody else sees them: ICMP echo, at a steady pace.
 *
 * A raw socket of a host's namespace, in which a command of a run is root; the kernel at the other
 * end answers.  The time of an answer is its own arrival at the socket (SO_TIMESTAMPNS), not that
 * of the moment at which this process woke up.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/tool.h"
#include "tools/common/tool_opt.h"
#include "wan.h"

enum { PING_EVERY, PING_FOR, PING_HELP };

static const struct tool_option ping_table[] = {
	{ "every", "TIME", PING_EVERY, 1, "1ms to 60s (20ms)" },
	{ "for", "TIME", PING_FOR, 1,
	  "how long, 1ms to 86400s (10s); SIGINT and SIGTERM end it, too" },
	{ "help", NULL, PING_HELP, 1, "this text" },
};
#define PING_OPTIONS (sizeof(ping_table) / sizeof(ping_table[0]))

struct wan_echo {
	struct icmphdr icmp;
	uint64_t sent_ns;
} __attribute__((packed));

static volatile sig_atomic_t ping_end;

static void ping_signalled(int sig)
{
	ping_end = sig;
}

static uint64_t ping_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * WAN_NS + (uint64_t)ts.tv_nsec;
}

static uint16_t ping_csum(const struct wan_echo *e)
{
	uint8_t p[sizeof(*e)];
	uint32_t sum = 0;

	memcpy(p, e, sizeof(p));
	for (size_t i = 0; i + 1 < sizeof(p); i += 2)
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static void ping_send(int s, const struct sockaddr_in *to, uint32_t seq)
{
	struct wan_echo e;

	memset(&e, 0, sizeof(e));
	e.icmp.type = ICMP_ECHO;
	e.icmp.un.echo.id = htons((uint16_t)getpid());
	e.icmp.un.echo.sequence = htons((uint16_t)seq);
	e.sent_ns = ping_clock();
	e.icmp.checksum = ping_csum(&e);
	(void)!sendto(s, &e, sizeof(e), 0, (const struct sockaddr *)to, sizeof(*to));
}

/* One answer, if it is there and ours. */
static bool ping_receive(int s, struct wan_hist *h)
{
	uint8_t buf[256], ctl[128];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof(ctl)
	};
	ssize_t n = recvmsg(s, &msg, MSG_DONTWAIT);
	size_t ip = (buf[0] & 15) * 4u;
	struct timespec ts;
	struct wan_echo e;
	uint64_t now;

	if (n < 0)
		return false;
	if ((size_t)n < ip + sizeof(e))
		return true;
	memcpy(&e, buf + ip, sizeof(e));
	if (e.icmp.type != ICMP_ECHOREPLY || e.icmp.un.echo.id != htons((uint16_t)getpid()))
		return true;
	now = ping_clock();
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		now = (uint64_t)ts.tv_sec * WAN_NS + (uint64_t)ts.tv_nsec;
	}
	wan_hist_add(h, now > e.sent_ns ? now - e.sent_ns : 0);
	return true;
}

static void ping_run(int s, const struct sockaddr_in *to, uint64_t every, uint64_t last)
{
	static struct wan_hist h;
	uint64_t begin = ping_clock(), next = begin, now, until;
	struct pollfd fd = { .fd = s, .events = POLLIN };
	struct timespec ts;
	uint32_t sent = 0;

	/* a second more for the answers */
	for (;;) {
		now = ping_clock();
		if (!ping_end && now - begin < last && now >= next) {
			ping_send(s, to, sent++);
			next += every;
			continue;
		}
		until = ping_end || now - begin >= last ? next + WAN_NS : next;
		if (now >= until || (ping_end && h.n == sent))
			break;
		ts = (struct timespec){ (time_t)((until - now) / WAN_NS),
					(long)((until - now) % WAN_NS) };
		ppoll(&fd, 1, &ts, NULL);
		while (ping_receive(s, &h))
			;
		if (h.n >= sent && ping_clock() - begin >= last)
			break;
	}
	printf("{\"sent\":%u,\"received\":%llu,\"mean_s\":%.9f,\"p50_s\":%.9f,\"p95_s\":%.9f,"
	       "\"p99_s\":%.9f,\"max_s\":%.9f}\n",
	       sent, (unsigned long long)h.n, h.n ? (double)h.sum / (double)h.n * 1e-9 : 0,
	       (double)wan_hist_at(&h, 0.5) * 1e-9, (double)wan_hist_at(&h, 0.95) * 1e-9,
	       (double)wan_hist_at(&h, 0.99) * 1e-9, (double)h.max * 1e-9);
	tool_written();
}

static uint64_t ping_time(const struct tool_option *o, const char *s, uint64_t max)
{
	uint64_t v;

	if (wan_read_time(s, &v) || v < 1000000 || v > max)
		tool_bad("ping --%s: \"%.64s\" is no time from 1ms to %llus", o->name, s,
			 (unsigned long long)(max / WAN_NS));
	return v;
}

static void ping_help(void)
{
	printf("usage: sdr_wan ping [OPTION]... ADDRESS\n"
	       "Round trips to an IPv4 address, in a host of a run; JSON. Options (defaults):\n");
	tool_opt_help(ping_table, PING_OPTIONS, 0, 16);
	exit(TOOL_OK);
}

int wan_ping(int argc, char **argv)
{
	uint64_t every = 20000000, last = 10 * WAN_NS;
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct sigaction sa = { .sa_handler = ping_signalled };
	const struct tool_option *o;
	int s, on = 1;

	while ((o = tool_opt_next(ping_table, PING_OPTIONS, argc, argv, "sdr_wan ping --help"))) {
		if (o->what == PING_HELP)
			ping_help();
		else if (o->what == PING_EVERY)
			every = ping_time(o, optarg, 60 * WAN_NS);
		else
			last = ping_time(o, optarg, 86400 * WAN_NS);
	}
	if (argc != optind + 1 || inet_pton(AF_INET, argv[optind], &to.sin_addr) != 1)
		tool_bad("ping: give one IPv4 address, as in sdr_wan ping $SDR_WAN_B");
	s = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
	if (s < 0)
		tool_die(
			"ping: raw socket: %s; it is for commands of a run, who are root in their hosts",
			strerror(errno));
	setsockopt(s, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	ping_run(s, &to, every, last);
	close(s);
	return TOOL_OK;
}
