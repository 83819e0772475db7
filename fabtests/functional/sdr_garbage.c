/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_garbage: what an sdr endpoint may find at its port besides its peers.
 *
 * Sends to one or more UDP ports, at full speed: random datagrams; datagrams that are right up to
 * some layer and wrong or random above it (an ICRC that fits over random bytes, class headers,
 * handshakes, packets, clear-to-sends, RDMA writes), some with bits flipped, cut short or with
 * their BTH spoilt; and well-formed HELLOs from many source ports, whose answers are counted by
 * kind.  It can also just hold a port.
 *
 * Everything comes from one seed, so a run can be repeated.  It never retries and never waits for
 * an answer, except for a moment at the end of the HELLOs.  It knows nothing of a live connection
 * (no connection id, no key), as little as any sender does that is not on the path.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sdr_rand.h"
#include "rel/sdr_rel_cfg.h"
#include "wire/sdr_frame.h"
#include "wire/sdr_version.h"
#include "wire/sdr_wire.h"

#define BATCH	    64		/* datagrams a system call */
#define DGRAM_MAX   9216u	/* bytes */
#define QKEY	    0x80010000u /* of control datagrams */
#define PORTS_MAX   16
#define CHUNK	    65536u /* bytes; a HELLO must agree with the defaults to be taken */
#define RX_WINDOW   (4u << 20)
#define LINGER_MS   300 /* for the last answers to HELLOs */
#define HELLO_BURST 16	/* HELLOs between two looks at the answers */

static struct sockaddr_in to[PORTS_MAX];
static unsigned int nto;
static uint64_t rng;

static uint64_t rnd(void)
{
	return sdr_rand64(&rng);
}

/* 0..n-1 */
static uint32_t below(uint32_t n)
{
	return (uint32_t)(rnd() % n);
}

static void fill(uint8_t *p, size_t n)
{
	uint64_t v;

	for (; n >= 8; n -= 8, p += 8) {
		v = rnd();
		memcpy(p, &v, 8);
	}
	v = rnd();
	memcpy(p, &v, n);
}

static void fail(const char *what)
{
	fprintf(stderr, "sdr_garbage: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- datagrams ------------------------------------------------------------------------------- */

/* Pad and ICRC behind hdr_len header bytes and n of payload; the whole length. */
static size_t seal(uint8_t *buf, size_t hdr_len, size_t n)
{
	size_t len = hdr_len + n + sdr_wire_pad((uint32_t)n);
	uint32_t crc;

	memset(buf + hdr_len + n, 0, len - hdr_len - n);
	crc = sdr_icrc_headers(sdr_icrc_seed_masked(), buf, hdr_len);
	crc = sdr_icrc_update(crc, buf + hdr_len, len - hdr_len);
	sdr_put_le32(buf + len, sdr_icrc_final(crc));
	return len + SDR_ICRC_LEN;
}

static size_t ctl_seal(uint8_t *buf, size_t n)
{
	struct sdr_wire_ctl c = { .qkey = QKEY,
				  .psn = (uint32_t)rnd() & SDR_PSN_MASK,
				  .src_qpn = SDR_QPN_CTL };

	sdr_wire_ctl_encode(buf, &c, n);
	return seal(buf, SDR_CTL_HDR, n);
}

/* As an endpoint with default settings on the loopback would say it. */
static void hello_make(struct sdr_hello *h)
{
	struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;

	sdr_hello_init(h);
	h->instance = rnd();
	h->cid = rnd();
	h->seg_bytes = SDR_REL_SEG_MAX / SDR_MTU_DEFAULT * SDR_MTU_DEFAULT;
	h->msn_limit = 1024;
	h->mseq_limit = 1024;
	h->ctl_max = SDR_CTL_MAX;
	h->ts_us = (uint32_t)rnd();
	h->qp.qpn = SDR_QPN_MIN + below(1u << 20);
	h->qp.rkey = (uint32_t)rnd();
	h->qp.psn = (uint32_t)rnd() & SDR_PSN_MASK;
	h->qp.channels = 1;
	h->qp.generations = 4;
	h->qp.split = split;
	h->qp.mtu = SDR_MTU_DEFAULT;
	h->qp.chunk = CHUNK;
	h->qp.rx_window = RX_WINDOW;
	h->qp.max_msg = h->seg_bytes;
}

static void damage(uint8_t *p, size_t n, unsigned int times)
{
	while (n && times--)
		p[below((uint32_t)n)] = (uint8_t)rnd();
}

/* The payload of a control datagram that is right up to some point; its length. */
static size_t ctl_payload(uint8_t *p)
{
	struct sdr_wire_cts cts = { .qpn = below(1u << 24),
				    .rkey = (uint32_t)rnd(),
				    .posted = (uint32_t)rnd() };
	struct sdr_retry retry = { .cid = rnd(), .cookie = rnd() };
	struct sdr_version version = { rnd(), (uint8_t)(1 + below(3)), (uint8_t)(3 + below(3)) };
	struct sdr_hello h;
	size_t n;

	switch (below(10)) {
	case 0:
		n = below(SDR_CTL_MAX + 1);
		fill(p, n);
		return n;
	case 1:
		n = SDR_CLASS_LEN + below(400);
		fill(p, n);
		sdr_class_encode(p, SDR_CLASS_REL, (uint8_t)below(12));
		p[2] = (uint8_t)below(6); /* perhaps no class at all */
		return n;
	case 2:
	case 3:
		hello_make(&h);
		h.echo = below(2) ? rnd() : 0;
		h.cookie = below(2) ? rnd() : 0;
		h.status = below(4) ? 0 : below(5);
		n = sdr_hello_encode(p, below(2) ? SDR_REL_HELLO : SDR_REL_HELLO_ACK, &h);
		damage(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN, below(4));
		return below(8) ? n : below((uint32_t)n);
	case 4:
		n = sdr_retry_encode(p, below(2) ? SDR_REL_RETRY : SDR_REL_RESET, &retry);
		return below(8) ? n : n - 1;
	case 5:
	case 6:
		n = sdr_packet_encode(p, rnd(), (uint32_t)rnd());
		fill(p + n, 600);
		p[n] = (uint8_t)below(9); /* a frame's type */
		return n + below(600);
	case 7:
		n = sdr_wire_cts_encode(p, &cts);
		p[3] = (uint8_t)below(4);
		return below(8) ? n : below((uint32_t)n);
	case 8: /* of another version: asked in, or what answers it */
		n = below(2)   ? sdr_v1_hello_encode(p, rnd(), rnd())
		    : below(2) ? sdr_v1_refusal_encode(p, &version)
			       : sdr_version_encode(p, &version);
		p[1] = (uint8_t)(below(2) ? p[1] : below(6));
		damage(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN, below(3));
		return below(8) ? n : below((uint32_t)n);
	default:
		n = SDR_CLASS_LEN + below(1400);
		fill(p, n);
		sdr_class_encode(p, SDR_CLASS_DGRAM, 0);
		p[1] = (uint8_t)(p[1] + below(2)); /* perhaps another version */
		return n;
	}
}

static size_t mutated_make(uint8_t *buf)
{
	struct sdr_wire_data d;
	size_t len, hdr, n;
	uint32_t i;

	if (below(4)) {
		hdr = SDR_CTL_HDR;
		n = ctl_payload(buf + hdr);
		len = ctl_seal(buf, n);
	} else {
		hdr = SDR_DATA_HDR;
		n = below(8) ? below(SDR_MTU_DEFAULT + 1) : below(SDR_MTU_MAX + 1);
		d = (struct sdr_wire_data){
			.qpn = below(2) ? below(256) : below(1u << 24),
			.psn = below(1u << 24),
			.va = below(2) ? (uint64_t)below(1u << 20) * SDR_MTU_DEFAULT : rnd(),
			.rkey = (uint32_t)rnd(),
			.len = (uint32_t)n,
			.imm = (uint32_t)rnd(),
		};
		if (!below(4)) { /* says that it is a piece */
			d.piece = (uint16_t)(below(2) ? n : below(1u << 14));
			d.whole = (uint16_t)below(1u << 14);
		}
		sdr_wire_data_encode(buf, &d);
		fill(buf + hdr, n);
		len = seal(buf, hdr, n);
	}
	switch (below(8)) {
	case 0:
	case 1:
		for (i = 1 + below(8); i; i--)
			buf[below((uint32_t)len)] ^= (uint8_t)(1u << below(8));
		return len;
	case 2:
		return below((uint32_t)len);
	case 3:
		damage(buf, hdr, 1 + below(3)); /* and the ICRC agrees with it */
		return seal(buf, hdr, n);
	default:
		return len;
	}
}

static size_t random_make(uint8_t *buf)
{
	static const uint32_t most[] = { 64, 200, 1500, 4200, DGRAM_MAX };
	size_t n = below(most[below(5)]);

	fill(buf, n);
	return n;
}

/* ---- sending --------------------------------------------------------------------------------- */

static int sock_open(int buf_bytes)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		return -1;
	if (ntohl(to[0].sin_addr.s_addr) >> 24 != 127)
		any.sin_addr.s_addr = 0;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buf_bytes, sizeof(buf_bytes));
	if (bind(fd, (struct sockaddr *)&any, sizeof(any))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void rain(const char *name, uint64_t count, size_t (*make)(uint8_t *))
{
	static uint8_t buf[BATCH][DGRAM_MAX + 64];
	static struct mmsghdr m[BATCH];
	static struct iovec iov[BATCH];
	uint64_t sent = 0, bytes = 0, refused = 0;
	int fd = sock_open(1 << 20), n, i, ret;

	if (fd < 0)
		fail("socket");
	while (sent + refused < count) {
		n = count - sent - refused < BATCH ? (int)(count - sent - refused) : BATCH;
		for (i = 0; i < n; i++) {
			iov[i].iov_base = buf[i];
			iov[i].iov_len = make(buf[i]);
			m[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i],
							.msg_iovlen = 1,
							.msg_name = &to[below(nto)],
							.msg_namelen = sizeof(to[0]) };
		}
		for (i = 0; i < n;) {
			ret = sendmmsg(fd, m + i, (unsigned int)(n - i), 0);
			if (ret <= 0) { /* e.g. an ICMP error about an earlier one */
				refused++;
				i++;
				continue;
			}
			sent += (uint64_t)ret;
			for (; ret > 0; ret--)
				bytes += iov[i++].iov_len;
		}
	}
	close(fd);
	printf("%s sent=%" PRIu64 " bytes=%" PRIu64 " unsent=%" PRIu64 "\n", name, sent, bytes,
	       refused);
}

/* ---- HELLOs from many ports ------------------------------------------------------------------ */

struct hello_count {
	uint64_t sent, tx_bytes, rx_bytes, ack, refused, retry, paid, other;
};

static void hello_out(int fd, uint64_t cookie, struct hello_count *k)
{
	uint8_t buf[DGRAM_MAX];
	struct sdr_hello h;
	size_t len;

	hello_make(&h);
	h.cookie = cookie;
	len = ctl_seal(buf, sdr_hello_encode(buf + SDR_CTL_HDR, SDR_REL_HELLO, &h));
	if (sendto(fd, buf, len, 0, (struct sockaddr *)&to[below(nto)], sizeof(to[0])) !=
	    (ssize_t)len)
		return;
	k->sent++;
	k->tx_bytes += len;
}

static void answers_take(int fd, bool pay, struct hello_count *k)
{
	const uint8_t *p;
	uint8_t buf[DGRAM_MAX], type;
	struct sdr_wire_ctl c;
	struct sdr_retry r;
	struct sdr_hello h;
	ssize_t len;
	size_t n;

	while ((len = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) >= 0) {
		k->rx_bytes += (uint64_t)len;
		if (sdr_wire_ctl_decode(buf, (size_t)len, &c, &p, &n) ||
		    !sdr_icrc_check(sdr_icrc_seed_masked(), buf, (size_t)len) ||
		    sdr_class_decode(p, n, &type) != SDR_CLASS_REL) {
			k->other++;
		} else if (type == SDR_REL_RETRY &&
			   !sdr_retry_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN, &r)) {
			k->retry++;
			if (pay) {
				hello_out(fd, r.cookie, k);
				k->paid++;
			}
		} else if (type == SDR_REL_HELLO_ACK &&
			   !sdr_hello_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN, &h)) {
			if (h.status)
				k->refused++;
			else
				k->ack++;
		} else {
			k->other++;
		}
	}
}

static void hellos(uint64_t count, unsigned int nsocks, bool pay)
{
	struct rlimit lim;
	struct hello_count k = { 0 };
	unsigned int n = 0, i;
	uint64_t done;
	int *fd;

	if (!getrlimit(RLIMIT_NOFILE, &lim)) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
	fd = calloc(nsocks, sizeof(*fd));
	if (!fd)
		fail("memory");
	while (n < nsocks && (fd[n] = sock_open(65536)) >= 0)
		n++;
	if (!n)
		fail("socket");
	for (done = 0; done < count; done++) {
		hello_out(fd[done % n], 0, &k);
		if (done >= HELLO_BURST)
			answers_take(fd[(done - HELLO_BURST) % n], pay, &k);
	}
	for (i = 0; i < LINGER_MS / 50; i++) {
		unsigned int j;

		for (j = 0; j < n; j++)
			answers_take(fd[j], pay, &k);
		poll(NULL, 0, 50);
	}
	for (i = 0; i < n; i++)
		close(fd[i]);
	free(fd);
	printf("hello sent=%" PRIu64 " ports=%u tx_bytes=%" PRIu64 " rx_bytes=%" PRIu64
	       " ack=%" PRIu64 " refused=%" PRIu64 " retry=%" PRIu64 " paid=%" PRIu64
	       " other=%" PRIu64 "\n",
	       k.sent, n, k.tx_bytes, k.rx_bytes, k.ack, k.refused, k.retry, k.paid, k.other);
}

/* ---- command line ---------------------------------------------------------------------------- */

static void usage(FILE *f)
{
	fprintf(f,
		"usage: sdr_garbage [options] ADDR PORT...   IPv4 address, up to %d ports\n"
		"  -r N      N random datagrams\n"
		"  -m N      N datagrams that are right up to some layer\n"
		"  -H N      N well-formed HELLOs; answers are counted by kind\n"
		"  -k N      ... from N source ports (default 64)\n"
		"  -p        ... and each RETRY is answered with its cookie\n"
		"  -L        bind the first port and hold it until killed\n"
		"  -s SEED   (default 1)\n",
		PORTS_MAX);
}

static uint64_t number(const char *s, uint64_t max)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(s, &end, 0);
	if (end == s || *end || errno || *s == '-' || v > max) {
		fprintf(stderr, "sdr_garbage: \"%s\" is not a number up to %" PRIu64 "\n", s, max);
		exit(2);
	}
	return v;
}

static void hold(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&to[0], sizeof(to[0])))
		fail("bind");
	printf("holding\n");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	uint64_t nrandom = 0, nmutated = 0, nhello = 0;
	unsigned int nsocks = 64;
	bool pay = false, holds = false;
	int c, i;

	rng = 1;
	while ((c = getopt(argc, argv, "r:m:H:k:pLs:h")) != -1) {
		switch (c) {
		case 'r':
			nrandom = number(optarg, 1ull << 40);
			break;
		case 'm':
			nmutated = number(optarg, 1ull << 40);
			break;
		case 'H':
			nhello = number(optarg, 1ull << 40);
			break;
		case 'k':
			nsocks = (unsigned int)number(optarg, 60000);
			break;
		case 'p':
			pay = true;
			break;
		case 'L':
			holds = true;
			break;
		case 's':
			rng = number(optarg, UINT64_MAX);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (argc - optind < 2 || argc - optind > PORTS_MAX + 1 || !nsocks) {
		usage(stderr);
		return 2;
	}
	for (i = optind + 1; i < argc; i++, nto++) {
		to[nto].sin_family = AF_INET;
		to[nto].sin_port = htons((uint16_t)number(argv[i], 65535));
		if (inet_pton(AF_INET, argv[optind], &to[nto].sin_addr) != 1) {
			fprintf(stderr, "sdr_garbage: \"%s\" is not an IPv4 address\n",
				argv[optind]);
			return 2;
		}
	}
	if (holds)
		hold();
	if (nrandom)
		rain("random", nrandom, random_make);
	if (nmutated)
		rain("mutated", nmutated, mutated_make);
	if (nhello)
		hellos(nhello, nsocks, pay);
	return 0;
}
