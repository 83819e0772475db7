/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_stranger: what hosts that can reach an sdr endpoint's port can do to it, one way a run.
 *
 *   early       messages that come before their turn, which never comes
 *   unexpected  messages that are never received, from connections that follow each other
 *   clients     clients at many addresses: each connects, is validated, says BYE and is gone
 *   idle        connections at many addresses, validated and left alone
 *   refused     transfers of 2^20 message numbers that the victim refuses, some sixty a packet
 *   ends        a long list of transfers that never come, and then ENDs
 *   seen        packets with the number of somebody else's connection, from another address
 *
 * Each is bounded in count and in time, reports what it did in one line, and ends well when it
 * could do it all.  A victim may defend itself: connections that it closes or leaves unanswered are
 * counted and opened anew, up to a limit, after which the run ends early and says so (status 3).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "stranger.h"

#define CROWD	    48u /* handshakes at a time: fewer than an endpoint takes without cookies */
#define CROWD_MS    100 /* between two tries of one client */
#define CROWD_TRIES 50u
/* records to a connection before the next one has its turn: within the first credit */
#define ROUND_RECS    1000u
#define REFUSED_RECS  60u	 /* in a packet: what fits */
#define REFUSED_MSGS  (1u << 20) /* message numbers of one of them */
#define REFUSED_CHUNK SDR_MTU_DEFAULT
/* transfers: an endpoint that counts what strangers announce takes so many */
#define ENDS_LISTED 30000u
#define ENDS_FAR    0x40000000u /* message numbers far outside of any window */

enum { EXIT_DONE = 0, EXIT_BAD = 1, EXIT_USAGE = 2, EXIT_EARLY = 3 };

static struct {
	struct sockaddr_in to;
	uint64_t bytes, count, payload, rate, seconds, patience;
	bool stay;
} opt = { .seconds = 60, .payload = 3900, .patience = 64 };

static struct {
	uint64_t recs, pkts, bytes, opened, given_up, again;
	uint64_t seed, until_ms, start_ms;
	int last; /* negative errno of the last connection that failed */
} run;

static bool time_left(void)
{
	return now_ms() < run.until_ms;
}

static double seconds(void)
{
	return (double)(now_ms() - run.start_ms) / 1000;
}

static int told(const char *mode, bool all)
{
	printf("%s recs=%" PRIu64 " packets=%" PRIu64 " bytes=%" PRIu64 " again=%" PRIu64
	       " connections=%" PRIu64 " given_up=%" PRIu64 "%s%s seconds=%.2f%s\n",
	       mode, run.recs, run.pkts, run.bytes, run.again, run.opened, run.given_up,
	       run.given_up ? " last=" : "", run.given_up ? strerrorname_np(-run.last) : "",
	       seconds(), all ? "" : " EARLY");
	fflush(stdout);
	return all ? EXIT_DONE : EXIT_EARLY;
}

static void counted(struct stranger_link *l)
{
	run.pkts += l->sent;
	run.bytes += l->bytes;
	run.again += l->again;
	l->sent = l->bytes = l->again = 0;
}

/* A connection at a new socket, or a new instance at the old one.  False: the run is over. */
static bool opened(struct stranger_link *l, bool same)
{
	int ret;

	while (run.given_up < opt.patience && time_left()) {
		counted(l);
		if (!same) {
			link_close(l);
			ret = link_open(l, &opt.to, ++run.seed);
		} else {
			ret = link_reopen(l, ++run.seed);
		}
		if (!ret) {
			run.opened++;
			return true;
		}
		run.last = ret;
		run.given_up++;
		same = false;
	}
	return false;
}

static void lost(struct stranger_link *l, int ret)
{
	counted(l);
	run.last = ret;
	run.given_up++;
}

static bool over(void)
{
	return run.given_up >= opt.patience || !time_left();
}

/* ---- messages -------------------------------------------------------------------------------- */

struct batch {
	uint8_t f[STRANGER_FRAMES_MAX];
	size_t n;
	uint32_t recs;
};

static int batch_out(struct stranger_link *l, struct batch *b)
{
	int ret = b->n ? link_put(l, b->f, b->n, b->recs) : 0;

	b->n = 0;
	b->recs = 0;
	return ret;
}

static int batch_rec(struct stranger_link *l, struct batch *b, struct sdr_frame_rec f,
		     const void *payload)
{
	int ret = 0;
	size_t n = stranger_rec(&l->s, b->f + b->n, sizeof(b->f) - b->n, f, payload);

	if (!n) {
		ret = batch_out(l, b);
		n = stranger_rec(&l->s, b->f, sizeof(b->f), f, payload);
	}
	b->n += n;
	b->recs++;
	run.recs++;
	return ret;
}

/*
 * nrecs messages of a connection from mseq on, at most `span` numbers long and then from there
 * again.
 */
static int messages(struct stranger_link *l, uint32_t mseq, uint32_t span, uint64_t nrecs)
{
	static const uint8_t payload[SDR_CTL_MAX];
	struct batch b = { .n = 0 };
	int ret = 0;

	for (uint64_t i = 0; !ret && i < nrecs && time_left(); i++)
		ret = batch_rec(l, &b,
				(struct sdr_frame_rec){ .op = SDR_REC_SEND,
							.flags = SDR_REC_F_ORDER,
							.id = (uint32_t)i,
							.mseq = mseq + (uint32_t)(i % span),
							.len = opt.payload,
							.payload_len = (uint32_t)opt.payload },
				payload);
	if (!ret)
		ret = batch_out(l, &b);
	return ret ? ret : link_drain(l);
}

/* opt.count connections, all open until the end, share opt.bytes. */
static int early(void)
{
	uint64_t nrecs = opt.bytes / (opt.payload + 20), todo = nrecs, i;
	struct stranger_link *l = calloc(opt.count, sizeof(*l));

	for (i = 0; l && i < opt.count; i++)
		l[i].fd = -1;
	for (i = 0; l && todo && !over(); i = (i + 1) % opt.count) {
		uint64_t n = opt.count == 1 ? todo : nrecs / opt.count + 1;
		int ret;

		n = n < todo ? n : todo;
		if (l[i].fd < 0 && !opened(&l[i], false))
			break;
		/* Number 0 is the next one. */
		ret = messages(&l[i], 1, ROUND_RECS, n);
		if (ret) {
			lost(&l[i], ret);
			link_close(&l[i]);
			continue;
		}
		todo -= n;
		counted(&l[i]);
	}
	for (i = 0; l && i < opt.count; i++)
		link_close(&l[i]);
	free(l);
	return told("early", !todo);
}

/* One connection after another, every other one from the same port. */
static int unexpected(void)
{
	uint64_t todo = opt.bytes / (opt.payload + 20), nth = 0;
	struct stranger_link l = { .fd = -1 };

	while (todo && !over()) {
		uint64_t n = todo < ROUND_RECS ? todo : ROUND_RECS;
		int ret;

		if (!opened(&l, nth++ % 2 && l.fd >= 0))
			break;
		ret = messages(&l, 0, ROUND_RECS, n);
		if (ret)
			lost(&l, ret);
		else
			todo -= n;
	}
	counted(&l);
	link_close(&l);
	return told("unexpected", !todo);
}

/* ---- transfers ------------------------------------------------------------------------------- */

static void paced(uint64_t nth)
{
	uint64_t due = opt.rate ? run.start_ms + nth * 1000 / opt.rate : 0, now = now_ms();

	if (due > now)
		poll(NULL, 0, (int)(due - now));
}

/* opt.count records; each counts 2^20 messages, half of them parity. */
static int refused(void)
{
	struct sdr_frame_rec f = {
		.op = SDR_REC_WRITE,
		.flags = SDR_REC_F_LEN | SDR_REC_F_BULK | SDR_REC_F_RMA | SDR_REC_F_CODE,
		.len = (uint64_t)REFUSED_CHUNK * (REFUSED_MSGS / 2),
		.key = 0x5ca1ab1e0ddba11ull,
		.code = { .kind = 1, .k = 4, .m = 1, .chunk = REFUSED_CHUNK, .seg = REFUSED_CHUNK },
	};
	struct stranger_link l = { .fd = -1 };
	struct batch b = { .n = 0 };
	bool open = false;
	int ret;

	while (run.recs < opt.count && !over()) {
		if (!open && !opened(&l, false))
			break;
		if (!open)
			f.msn = 0;
		open = true;
		paced(run.recs / REFUSED_RECS);
		ret = 0;
		for (uint32_t i = 0; !ret && i < REFUSED_RECS; i++, f.id++, f.msn += REFUSED_MSGS)
			ret = batch_rec(&l, &b, f, NULL);
		ret = ret ? ret : batch_out(&l, &b);
		if (!ret && run.recs >= opt.count)
			ret = link_drain(&l);
		if (ret) {
			lost(&l, ret);
			b.n = b.recs = 0;
			open = false;
		}
	}
	counted(&l);
	link_close(&l);
	return told("refused", run.recs >= opt.count);
}

/*
 * Bulk messages of one byte, numbered from msn on, as far as the credit allows or (near) as numbers
 * are granted.  What will be said next is left to the caller.
 */
static int ends_list(struct stranger_link *l, uint32_t msn, bool near)
{
	struct sdr_frame_rec f = {
		.op = SDR_REC_SEND,
		.flags = SDR_REC_F_LEN | SDR_REC_F_BULK | SDR_REC_F_ORDER,
		.len = 1,
		.msn = msn,
	};
	struct batch b = { .n = 0 };
	int ret = 0;

	while (!ret && f.id < ENDS_LISTED && !(near && f.msn == l->s.msn_limit) && time_left()) {
		if ((int32_t)(f.mseq - l->s.mseq_limit) >= 0) {
			uint32_t limit = l->s.mseq_limit;

			ret = batch_out(l, &b);
			ret = ret ? ret : link_drain(l);
			if (!ret && l->s.mseq_limit == limit)
				break;
			continue;
		}
		ret = batch_rec(l, &b, f, NULL);
		f.mseq++;
		f.id++;
		f.msn++;
	}
	ret = ret ? ret : batch_out(l, &b);
	return ret ? ret : link_drain(l);
}

/*
 * Transfers numbered far away, or, if that is not taken, those that are; then opt.count packets
 * full of ENDs.
 */
static int ends(void)
{
	struct stranger_link l = { .fd = -1 };
	struct batch b = { .n = 0 };
	uint32_t first = ENDS_FAR, mask = UINT32_MAX, nth = 0;
	uint64_t packets = 0;
	bool open = opened(&l, false);
	int ret = open ? ends_list(&l, first, false) : 0;

	if (ret == -ECONNRESET) {
		first = 0;
		mask = 1023; /* those that were listed, again and again */
		open = opened(&l, false);
		ret = open ? ends_list(&l, first, true) : 0;
	}
	while (open && !ret && packets < opt.count && time_left()) {
		size_t n;

		paced(packets);
		b.n = 0;
		do {
			struct sdr_frame_end e = { .msn = first * 2 + (nth & mask) };

			n = sdr_frame_end_encode(b.f + b.n, sizeof(b.f) - b.n, &e);
			b.n += n;
			nth += n > 0;
		} while (n);
		ret = batch_out(&l, &b);
		packets++;
	}
	ret = ret || !open ? ret : link_drain(&l);
	if (ret)
		lost(&l, ret);
	counted(&l);
	link_close(&l);
	return told("ends", open && packets >= opt.count);
}

/* ---- crowds ---------------------------------------------------------------------------------- */

struct client {
	struct stranger s;
	int fd; /* -1: none */
	uint32_t nth, tries;
	uint64_t due_ms; /* of its next try */
};

static struct {
	struct client c[CROWD];
	uint32_t next; /* address of the next one */
	uint64_t begun, done, refused, silent, taken;
	bool bye; /* they say so */
	int ep;
} crowd;

static void client_end(struct client *c)
{
	close(c->fd);
	c->fd = -1;
}

/* What it has to say now: HELLO, or PING, and BYE behind it. */
static void client_say(struct client *c)
{
	uint8_t buf[SDR_CTL_HDR + SDR_CTL_MAX + SDR_ICRC_LEN], f[64];
	size_t n = 0;

	c->due_ms = now_ms() + CROWD_MS;
	if (++c->tries > CROWD_TRIES) {
		crowd.silent++;
		client_end(c);
		return;
	}
	if (!c->s.peer_cid) {
		n = stranger_hello(&c->s, buf + SDR_CTL_HDR);
	} else {
		n = stranger_acks(&c->s, f, sizeof(f));
		n += sdr_frame_ping_encode(f + n, sizeof(f) - n);
		if (crowd.bye)
			n += sdr_frame_close_encode(
				f + n, sizeof(f) - n,
				&(struct sdr_frame_close){ .reason = SDR_CLOSE_BYE });
		n = stranger_packet(&c->s, buf + SDR_CTL_HDR, f, n);
	}
	run.pkts++;
	run.bytes += n;
	(void)stranger_send(c->fd, &opt.to, buf, n);
}

static void client_hear(struct client *c)
{
	uint8_t buf[SDR_CTL_HDR + SDR_CTL_MAX + SDR_ICRC_LEN + SDR_MTU_DEFAULT];
	struct stranger_news news;
	const uint8_t *p;
	size_t n;

	while (c->fd >= 0 && (p = stranger_recv(c->fd, buf, sizeof(buf), &n))) {
		switch (stranger_input(&c->s, p, n, &news)) {
		case STRANGER_AGAIN:
		case STRANGER_OPEN:
			client_say(c);
			break;
		case STRANGER_REFUSED:
			crowd.refused++;
			client_end(c);
			break;
		case STRANGER_RESET: /* the answer to a BYE said twice */
			crowd.done++;
			client_end(c);
			break;
		case STRANGER_PACKET:
			if (crowd.bye ? !news.bye_ack : !news.ack.n)
				break;
			crowd.done++;
			client_end(c);
			break;
		default:
			break;
		}
	}
}

static void client_begin(struct client *c)
{
	struct epoll_event ev = { .events = EPOLLIN, .data = { .ptr = c } };

	for (uint32_t i = 0; i < 1000; i++) {
		c->fd = stranger_socket(++crowd.next);
		if (c->fd >= 0)
			break;
		crowd.taken++; /* another program's port */
	}
	if (c->fd < 0 || epoll_ctl(crowd.ep, EPOLL_CTL_ADD, c->fd, &ev)) {
		perror("sdr_stranger: socket");
		exit(EXIT_BAD);
	}
	crowd.begun++;
	stranger_init(&c->s, ++run.seed);
	c->tries = 0;
	client_say(c);
}

static int crowd_run(const char *mode)
{
	struct epoll_event ev[CROWD];
	uint32_t open = 1;
	bool all;

	crowd.ep = epoll_create1(0);
	for (uint32_t i = 0; i < CROWD; i++)
		crowd.c[i].fd = -1;
	while (open && time_left()) {
		uint64_t now = now_ms();
		int n;

		open = 0;
		for (uint32_t i = 0; i < CROWD; i++) {
			struct client *c = &crowd.c[i];

			if (c->fd < 0 && crowd.begun < opt.count)
				client_begin(c);
			else if (c->fd >= 0 && c->due_ms <= now)
				client_say(c);
			open += c->fd >= 0;
		}
		n = open ? epoll_wait(crowd.ep, ev, CROWD, CROWD_MS) : 0;
		for (int i = 0; i < n; i++)
			client_hear(ev[i].data.ptr);
	}
	close(crowd.ep);
	all = crowd.done == opt.count;
	printf("%s done=%" PRIu64 " of=%" PRIu64 " refused=%" PRIu64 " silent=%" PRIu64
	       " packets=%" PRIu64 " bytes=%" PRIu64 " seconds=%.2f%s\n",
	       mode, crowd.done, opt.count, crowd.refused, crowd.silent, run.pkts, run.bytes,
	       seconds(), all ? "" : " EARLY");
	fflush(stdout);
	return all ? EXIT_DONE : EXIT_EARLY;
}

static int clients(void)
{
	crowd.bye = true;
	return crowd_run("clients");
}

static int idle(void)
{
	return crowd_run("idle");
}

/* ---- a connection of others ------------------------------------------------------------------ */

#define SEEN_AHEAD 20000u /* packets: newer than all that the peer itself sends meanwhile */

/* All that would do harm if it counted; and answers to challenges. */
static size_t seen_frames(uint64_t nth, uint32_t pn, uint8_t *p, size_t room)
{
	struct sdr_frame_ack ack = { .n = 1, .r = { { pn, pn ? pn - 1 : 0 } } };
	struct sdr_frame_close bye = { .reason = SDR_CLOSE_BYE };
	struct sdr_frame_path path = { .path = 1 };

	switch (nth % 4) {
	case 0:
		return sdr_frame_ack_encode(p, room, &ack);
	case 1:
		return sdr_frame_close_encode(p, room, &bye);
	case 2:
		return sdr_frame_path_encode(p, room, SDR_FRAME_PATH_CHALLENGE, &path);
	default:
		return sdr_frame_ping_encode(p, room);
	}
}

static void seen_say(int fd, uint64_t cid, uint32_t pn, const void *frames, size_t n)
{
	uint8_t buf[SDR_CTL_HDR + 128 + SDR_ICRC_LEN];
	size_t k = sdr_packet_encode(buf + SDR_CTL_HDR, cid, pn);

	memcpy(buf + SDR_CTL_HDR + k, frames, n);
	run.pkts++;
	run.bytes += k + n;
	(void)stranger_send(fd, &opt.to, buf, k + n);
}

/* Bytes that came back; what is asked gets the right answer when it is to. */
static uint64_t seen_hear(int fd, uint64_t cid, uint32_t *pn, bool answers)
{
	uint8_t buf[SDR_CTL_HDR + SDR_CTL_MAX + SDR_ICRC_LEN + SDR_MTU_DEFAULT], out[32];
	const uint8_t *p, *end;
	uint64_t bytes = 0;
	struct sdr_frame f;
	size_t n;

	while ((p = stranger_recv(fd, buf, sizeof(buf), &n))) {
		bytes += n;
		end = p + n;
		if (!answers || n <= SDR_PACKET_HDR)
			continue;
		p += SDR_PACKET_HDR;
		while (sdr_frame_next(&p, end, &f) > 0)
			if (f.type == SDR_FRAME_PATH_CHALLENGE)
				seen_say(fd, cid, (*pn)++, out,
					 sdr_frame_path_encode(out, sizeof(out),
							       SDR_FRAME_PATH_RESPONSE, &f.path));
	}
	return bytes;
}

/* Half of them from one who answers challenges, half from one who does not. */
static int seen(void)
{
	int look = seen_open(), fd[2] = { stranger_socket(1), stranger_socket(2) };
	uint64_t cid = 0, back = 0, i = 0;
	uint32_t pn = 0;
	uint8_t f[64];

	if (look < 0 || fd[0] < 0 || fd[1] < 0)
		return EXIT_BAD;
	if (seen_number(look, ntohs(opt.to.sin_port), run.until_ms, &cid, &pn)) {
		uint32_t at = pn + SEEN_AHEAD;

		for (; i < opt.count && time_left(); i++) {
			uint32_t who = i & 1;

			paced(i);
			seen_say(fd[who], cid, at++, f, seen_frames(i / 2, pn, f, sizeof(f)));
			back += seen_hear(fd[who], cid, &at, who);
		}
	}
	poll(NULL, 0, 100);
	for (uint32_t k = 0; k < 2; k++)
		back += seen_hear(fd[k], cid, &pn, false);
	printf("seen packets=%" PRIu64 " bytes=%" PRIu64 " back=%" PRIu64 " seconds=%.2f%s\n",
	       run.pkts, run.bytes, back, seconds(), i == opt.count ? "" : " EARLY");
	fflush(stdout);
	return i == opt.count ? EXIT_DONE : EXIT_EARLY;
}

/* ---- command line ---------------------------------------------------------------------------- */

static const struct mode {
	const char *name;
	int (*run)(void);
	uint64_t count, bytes;
	const char *what;
} modes[] = {
	{ "early", early, 1, 240000000,
	  "-M bytes of messages before their turn, over -n connections" },
	{ "unexpected", unexpected, 0, 100000000, "-M bytes of messages that are never received" },
	{ "clients", clients, 66500, 0, "-n clients: connect, validate, BYE" },
	{ "idle", idle, 10000, 0, "-n connections, validated and then silent" },
	{ "refused", refused, 600, 0, "-n transfers of 2^20 message numbers, all refused" },
	{ "ends", ends, 100, 0, "a list of transfers, then -n packets full of ENDs" },
	{ "seen", seen, 10000, 0,
	  "-n packets with the number of a connection that is seen on the loopback" },
};
#define MODES (sizeof(modes) / sizeof(modes[0]))

static void usage(FILE *f)
{
	fprintf(f,
		"usage: sdr_stranger [options] MODE ADDR PORT   IPv4 address of this machine's loopback\n");
	for (size_t i = 0; i < MODES; i++)
		fprintf(f, "  %-11s %s\n", modes[i].name, modes[i].what);
	fprintf(f,
		"options:\n"
		"  -n N     how many; each mode has its own default\n"
		"  -M N     bytes, for early and unexpected; k, m and g are understood\n"
		"  -p N     bytes of a message's payload, 0..3900 (default 3900)\n"
		"  -r N     packets per second, for refused, ends and seen (default: as fast as it goes)\n"
		"  -T N     maximum seconds (default 60)\n"
		"  -g N     connections that may fail before the run ends (default 64)\n"
		"  -s N     ms without an acknowledgement after which a connection has failed (default 5000)\n"
		"  -a N     first address of a crowd: another run does not use the same ones\n"
		"  -w       when done, wait for the end of standard input before the last packet\n"
		"status: 0 all done, 3 the victim let less happen, 1 it could not be tried, 2 usage\n");
}

static uint64_t number(const char *s, uint64_t max)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(s, &end, 0);
	if (end != s && *end && !end[1]) {
		v *= *end == 'k' ? 1000 : *end == 'm' ? 1000000 : *end == 'g' ? 1000000000 : 0;
		end++;
	}
	if (end == s || *end || errno || *s == '-' || v > max) {
		fprintf(stderr, "sdr_stranger: \"%s\" is not a number up to %" PRIu64 "\n", s, max);
		exit(EXIT_USAGE);
	}
	return v;
}

static void waited(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) > 0)
		;
}

int main(int argc, char **argv)
{
	const struct mode *m = modes;
	bool n_given = false, bytes_given = false;
	int c, ret;

	while ((c = getopt(argc, argv, "n:M:p:r:T:a:g:s:wh")) != -1) {
		switch (c) {
		case 'n':
			opt.count = number(optarg, 1000000);
			n_given = true;
			break;
		case 'M':
			opt.bytes = number(optarg, 1ull << 36);
			bytes_given = true;
			break;
		case 'p':
			opt.payload = number(optarg, 3900);
			break;
		case 'r':
			opt.rate = number(optarg, 1000000);
			break;
		case 'T':
			opt.seconds = number(optarg, 3600);
			break;
		case 'a':
			crowd.next = (uint32_t)number(optarg, 1u << 24);
			break;
		case 'g':
			opt.patience = number(optarg, 1000000);
			break;
		case 's':
			link_silence_ms = number(optarg, 60000);
			break;
		case 'w':
			opt.stay = true;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (argc - optind != 3) {
		usage(stderr);
		return EXIT_USAGE;
	}
	while (m < modes + MODES && strcmp(m->name, argv[optind]))
		m++;
	opt.to.sin_family = AF_INET;
	if (m == modes + MODES || inet_pton(AF_INET, argv[optind + 1], &opt.to.sin_addr) != 1 ||
	    ntohl(opt.to.sin_addr.s_addr) >> 24 != 127) {
		usage(stderr);
		return EXIT_USAGE;
	}
	opt.to.sin_port = htons((uint16_t)number(argv[optind + 2], 65535));
	opt.count = n_given ? opt.count : m->count;
	opt.bytes = bytes_given ? opt.bytes : m->bytes;
	if (m->count && !opt.count) {
		usage(stderr);
		return EXIT_USAGE;
	}
	/* two at a time are not each other's second incarnation */
	run.seed = (uint64_t)getpid() << 32;
	run.start_ms = now_ms();
	run.until_ms = run.start_ms + opt.seconds * 1000;
	ret = m->run();
	if (opt.stay)
		waited();
	return ret;
}
