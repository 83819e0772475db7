/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * The floor beneath sdr_cpu: what the same bytes cost the sender's processor with nothing but the
 * kernel.  A loop that sends trains of datagrams (UDP_SEGMENT, as the soft engine's), out of memory
 * that is not in the caches, sleeps until the next is due, and does nothing else: no checksum, no
 * acknowledgement, nobody who listens.  What it takes is the copy, the datagrams, and a wake-up of
 * this process and of the next one for each time that something leaves; on virtual machines the
 * latter may be most of it.
 *
 *   sdr_bare [--size BYTES] [--rate BITS] [--trains N] ADDR PORT
 *
 * N trains leave with a wake-up.  Prints one line of CSV:
 * bare,bytes,seconds,mbit_s,cpu_s_gb,wakes_gb.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

#define DATAGRAM 8192		     /* bytes */
#define TRAIN	 (7 * DATAGRAM)	     /* ... of one send, the most that GSO takes of these */
#define SOURCE	 ((size_t)128 << 20) /* ... that are sent again and again */
#define SIZE_TOP (1ull << 40)
#define RATE_TOP 1e12
#define NS	 1000000000ull

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / NS), .tv_nsec = (long)(ns % NS) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		continue;
}

static double cpu_s(const struct rusage *r)
{
	return (double)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) +
	       (double)(r->ru_utime.tv_usec + r->ru_stime.tv_usec) * 1e-6;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: sdr_bare [--size BYTES] [--rate BITS] [--trains N] ADDR PORT (IPv4)\n");
	return 2;
}

static int failed(const char *what)
{
	fprintf(stderr, "sdr_bare: %s: %s\n", what, strerror(errno));
	return 1;
}

static int drive(int s, const char *from, uint64_t size, double rate, uint64_t trains)
{
	uint64_t start = clock_ns(), sent = 0, took;
	struct rusage before, after;
	double gb = (double)size / 1e9;

	getrusage(RUSAGE_SELF, &before);
	while (sent < size) {
		for (uint64_t i = 0; i < trains && sent < size; i++, sent += TRAIN) {
			/* nobody listens: the answer that says so is no failure of this one */
			if (send(s, from + sent % (SOURCE - TRAIN), TRAIN, 0) < 0 &&
			    errno != ECONNREFUSED)
				return failed("send");
		}
		sleep_until(start + (uint64_t)((double)sent * 8 / rate * (double)NS));
	}
	took = clock_ns() - start;
	getrusage(RUSAGE_SELF, &after);
	printf("bare,%llu,%.3f,%.1f,%.4f,%.0f\n", (unsigned long long)size,
	       (double)took / (double)NS, gb * 8e3 / ((double)took / (double)NS),
	       (cpu_s(&after) - cpu_s(&before)) / gb,
	       (double)(after.ru_nvcsw - before.ru_nvcsw) / gb);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int i, s, datagram = DATAGRAM, room = 4 << 20, ret;
	uint64_t size = 1000000000, trains = 1, port;
	double rate = 960e6;
	char *from;

	for (i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (!strcmp(argv[i], "--size"))
			size = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--rate"))
			rate = strtod(argv[i + 1], NULL);
		else if (!strcmp(argv[i], "--trains"))
			trains = strtoull(argv[i + 1], NULL, 0);
		else
			return usage();
	}
	if (argc - i != 2 || !inet_aton(argv[i], &to.sin_addr) || !size || size > SIZE_TOP ||
	    !(rate > 0 && rate <= RATE_TOP) || !trains)
		return usage();
	port = strtoull(argv[i + 1], NULL, 10);
	if (!port || port > UINT16_MAX)
		return usage();
	to.sin_port = htons((uint16_t)port);
	from = malloc(SOURCE);
	if (!from)
		return failed("malloc");
	memset(from, 0x5a, SOURCE);
	s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s < 0 || setsockopt(s, IPPROTO_UDP, UDP_SEGMENT, &datagram, sizeof(datagram)) ||
	    setsockopt(s, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) ||
	    connect(s, (const struct sockaddr *)&to, sizeof(to)))
		ret = failed("socket with UDP_SEGMENT");
	else
		ret = drive(s, from, size, rate, trains);
	if (s >= 0)
		close(s);
	free(from);
	return ret;
}
