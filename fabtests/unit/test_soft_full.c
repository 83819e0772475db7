/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine when the kernel takes only part, or refuses: the two send calls ask a script
 * first (test_soft_sends.h), and so do those that set and read a socket's options.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uc/sdr_uc_addr.h"
#include "test_soft_sends.h"
#include "test_soft_util.h"

static struct {
	long budget;   /* messages that still go; < 0: any number */
	int err;       /* what the next one gets then */
	int train_err; /* what a train gets; 0: it goes */
	/* IP bytes above which a datagram is refused, 0 none; what routing says of it */
	uint32_t carries, route;
	int long_err; /* what a train of such gets; 0: EMSGSIZE, as a single one */
	uint32_t calls, asked;
	uint32_t grants; /* bytes of a buffer at most, as for a user without rights; 0: any */
} script;

/* The longest IP packet of a message. */
static uint32_t script_packet(const struct msghdr *m)
{
	const struct cmsghdr *cm = CMSG_FIRSTHDR(m);
	uint32_t head = m->msg_namelen == sizeof(struct sockaddr_in6) ? 48 : 28;
	size_t i, bytes = 0;
	uint16_t seg = 0;

	for (i = 0; i < m->msg_iovlen; i++)
		bytes += m->msg_iov[i].iov_len;
	if (cm)
		memcpy(&seg, CMSG_DATA(cm), sizeof(seg));
	return head + (uint32_t)(seg && seg < bytes ? seg : bytes);
}

static bool script_refuses(const struct msghdr *m)
{
	if (script.carries && script_packet(m) > script.carries) {
		errno = m->msg_controllen && script.long_err ? script.long_err : EMSGSIZE;
		return true;
	}
	if (script.train_err && m->msg_controllen) {
		errno = script.train_err;
		return true;
	}
	if (!script.budget) {
		errno = script.err;
		return true;
	}
	script.budget -= script.budget > 0;
	return false;
}

static void script_call(void)
{
	script.calls++;
}

const struct soft_sends soft_sends = { .call = script_call, .refuses = script_refuses };

int setsockopt(int fd, int level, int name, const void *v, socklen_t len)
{
	int most = (int)script.grants;

	if (script.grants && level == SOL_SOCKET) {
		if (name == SO_RCVBUFFORCE || name == SO_SNDBUFFORCE) {
			errno = EPERM;
			return -1;
		}
		if ((name == SO_RCVBUF || name == SO_SNDBUF) && *(const int *)v > most)
			v = &most;
	}
	return (int)syscall(SYS_setsockopt, fd, level, name, v, len);
}

int getsockopt(int fd, int level, int name, void *v, socklen_t *len)
{
	if (script.route && ((level == IPPROTO_IP && name == IP_MTU) ||
			     (level == IPPROTO_IPV6 && name == IPV6_MTU))) {
		script.asked++;
		*(int *)v = (int)script.route;
		return 0;
	}
	return (int)syscall(SYS_getsockopt, fd, level, name, v, len);
}

#define RUN 200u /* packets of the first run */
#define MSG (256u * PAIR_MTU)

/*
 * ctl, run of 200, ctl, run of 56 less 3 bytes: posted until all are taken; checks that all came,
 * in order.
 */
static void message_in_pieces(uint8_t off, long budget, int err, int train_err, uint32_t path)
{
	struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	uint8_t *src = malloc(MSG), *dst = calloc(1, MSG);
	uint32_t next = 0, tries = 0;
	struct sdr_uc_tx v[4], *t = v;
	int left = 4, ret, n, i, ctl = 0;
	struct pair p;

	memset(&script, 0, sizeof(script));
	script.budget = -1;
	fill(src, MSG, 23);
	pair_open(&p, &(struct pair_opt){ .msg = MSG, .off = off });
	if (path)
		p.a->ops->qp_path(p.qa, p.ia.data_over + path);
	assert_int_equal(p.b->ops->slot_bind(p.qb, 1, 2, dst, MSG, NULL), 0);
	v[0] = pair_ctl(&p.ib.addr, "one", 3);
	v[1] = pair_write(&p, 1, 2, src, 0, RUN * PAIR_MTU);
	v[2] = pair_ctl(&p.ib.addr, "two", 3);
	v[3] = pair_write(&p, 1, 2, src, RUN, MSG - RUN * PAIR_MTU - 3);
	script.err = err;
	script.train_err = train_err;
	while (left) {
		script.budget = budget;
		ret = p.a->ops->post(p.a, t, left);
		assert_true(ret >= 0 && ret <= left);
		t += ret;
		left -= ret;
		assert_true(++tries < (path ? 10000 : 1000));
		/* What is left of a run says where it goes on. */
		if (left && t->kind == SDR_UC_TX_WRITE) {
			assert_ptr_equal(t->buf, src + (size_t)t->w.first * PAIR_MTU);
			assert_true(t->len > 0);
		}
		while ((n = p.b->ops->poll(p.b, p.ev, PAIR_EVS)) > 0) {
			for (i = 0; i < n; i++) {
				if (p.ev[i].kind == SDR_UC_EV_CTL) {
					assert_memory_equal(p.ev[i].c.buf, ctl ? "two" : "one", 3);
					assert_int_equal(next, ctl ? RUN : 0);
					ctl++;
				} else {
					assert_int_equal(sdr_imm_off(&split, p.ev[i].p.imm), next);
					next++;
				}
			}
		}
	}
	assert_int_equal(ctl, 2);
	assert_int_equal(next, 256);
	assert_memory_equal(src, dst, MSG - 3);
	assert_int_equal(pair_stats(p.a).pkts_tx, 256);
	assert_int_equal(pair_stats(p.a).bytes_tx, MSG - 3);
	assert_int_equal(pair_stats(p.a).ctl_tx, 2);
	assert_int_equal(pair_stats(p.b).pkts_bad + pair_stats(p.b).pkts_late, 0);
	if (budget >= 0 && err == EAGAIN)
		assert_int_equal(pair_stats(p.a).tx_again, tries - 1);
	pair_close(&p);
	free(src);
	free(dst);
}

static void message_through(uint8_t off, long budget, int err, int train_err)
{
	message_in_pieces(off, budget, err, train_err, 0);
}

/* No piece is sent twice, none is left out, whatever the kernel takes at a time. */
static void full__in_the_middle_of_a_packet(void **state)
{
	static const uint32_t paths[] = { PAIR_MTU / 4, 300, 64, PAIR_MTU - 4 };
	uint32_t i;
	long b;

	(void)state;
	for (i = 0; i < 4; i++) {
		for (b = 1; b < 5; b++) {
			message_in_pieces(0, b, EAGAIN, 0, paths[i]);
			message_in_pieces(SDR_SOFT_NO_GSO, 3 * b - 2, EAGAIN, 0, paths[i]);
		}
		message_in_pieces(0, -1, 0, EIO, paths[i]);
		message_in_pieces(0, -1, 0, EINVAL, paths[i]);
		message_in_pieces(0, 13, EAGAIN, EINVAL, paths[i]);
		message_in_pieces(0, 5, EAGAIN, EINVAL, paths[i]);
	}
}

static void full__at_every_message(void **state)
{
	long b;

	(void)state;
	for (b = 1; b < 7; b++) {
		message_through(0, b, EAGAIN, 0);
		message_through(0, b, ENOBUFS, 0);
	}
	for (b = 1; b < 70; b += 9)
		message_through(SDR_SOFT_NO_GSO, b, EAGAIN, 0);
}

static void full__nothing_taken(void **state)
{
	uint8_t src[3 * PAIR_MTU] = { 0 };
	struct sdr_uc_tx v[2], keep[2];
	struct pair p;

	(void)state;
	memset(&script, 0, sizeof(script));
	script.err = EAGAIN;
	pair_open(&p, &(struct pair_opt){ 0 });
	v[0] = pair_write(&p, 0, 0, src, 0, sizeof(src));
	v[1] = pair_ctl(&p.ib.addr, "x", 1);
	memcpy(keep, v, sizeof(v));
	assert_int_equal(p.a->ops->post(p.a, v, 2), 0);
	assert_memory_equal(keep, v, sizeof(v));
	assert_int_equal(pair_stats(p.a).pkts_tx, 0);
	assert_int_equal(pair_stats(p.a).tx_again, 1);
	assert_int_equal(p.a->ops->post(p.a, v, 0), 0);
	script.budget = -1;
	pair_close(&p);
}

static void full__device_cannot_segment(void **state)
{
	(void)state;
	/* EIO: never again; EINVAL, EMSGSIZE: this train in single packets. */
	message_through(0, -1, 0, EIO);
	message_through(0, -1, 0, EINVAL);
	message_through(0, -1, 0, EMSGSIZE);
	message_through(0, 13, EAGAIN, EIO);
	message_through(0, 13, EAGAIN, EINVAL);
}

static void full__segmentation_is_given_up(void **state)
{
	uint8_t src[8 * PAIR_MTU] = { 0 };
	struct sdr_soft_stats st;
	struct pair p;
	int i;

	(void)state;
	memset(&script, 0, sizeof(script));
	script.budget = -1;
	script.train_err = EIO;
	pair_open(&p, &(struct pair_opt){ 0 });
	for (i = 0; i < 5; i++)
		pair_post(&p, pair_write(&p, 0, 0, src, 0, sizeof(src)));
	sdr_soft_stats_get(p.a, &st);
	assert_int_equal(st.tx_gso_off, 1);
	assert_int_equal(pair_stats(p.a).tx_lost, 0);
	assert_int_equal(pair_stats(p.a).pkts_tx, 40);
	pair_close(&p);
}

static void full__refused_for_good_is_a_loss(void **state)
{
	uint8_t src[8 * PAIR_MTU] = { 0 };
	struct pair p;

	(void)state;
	memset(&script, 0, sizeof(script));
	script.err = EPERM;
	pair_open(&p, &(struct pair_opt){ 0 });
	pair_post(&p, pair_write(&p, 0, 0, src, 0, sizeof(src)));
	pair_post(&p, pair_ctl(&p.ib.addr, "x", 1));
	script.err = ENETUNREACH;
	pair_post(&p, pair_ctl(&p.ib.addr, "x", 1));
	assert_int_equal(pair_stats(p.a).tx_lost, 10);
	assert_int_equal(pair_stats(p.a).tx_denied, 9);
	assert_int_equal(pair_stats(p.a).tx_toobig + pair_stats(p.a).tx_nobufs, 0);
	assert_int_equal(pair_stats(p.a).pkts_tx, 0);
	assert_int_equal(pair_stats(p.a).ctl_tx, 0);
	assert_int_equal(pair_stats(p.a).tx_again, 0);
	script.budget = -1;
	pair_close(&p);
}

/* The next event of a, which says what the way to b carries. */
static void path_event(struct pair *p, uint32_t bytes)
{
	assert_int_equal(p->a->ops->deadline(p->a), 0);
	assert_int_equal(p->a->ops->poll(p->a, p->ev, PAIR_EVS), 1);
	assert_int_equal(p->ev[0].kind, SDR_UC_EV_PATH);
	assert_true(sdr_uc_addr_equal(p->ev[0].path.to, &p->ib.addr));
	assert_int_equal(p->ev[0].path.bytes, bytes);
	pair_quiet(p->a);
	assert_int_equal(p->a->ops->deadline(p->a), UINT64_MAX);
}

/* A route becomes narrow, then narrower: everything arrives, in pieces, and the owner is told. */
static void full__a_narrow_route_loses_nothing(void **state)
{
	static const struct {
		const char *name;
		uint8_t off;
		int err;
	} rows[] = { { "soft:127.0.0.1", 0, 0 },
		     { "soft:127.0.0.1", 0, EINVAL },
		     { "soft:127.0.0.1", SDR_SOFT_NO_GSO, 0 },
		     { "soft:[::1]", 0, 0 },
		     { "soft:[::1]", SDR_SOFT_NO_GSO, 0 } };
	static const uint32_t room[] = { 1000, 500, 200 };
	static uint8_t src[64 * PAIR_MTU], dst[64 * PAIR_MTU];
	struct pair p;
	uint32_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(&script, 0, sizeof(script));
		script.budget = -1;
		pair_open(&p, &(struct pair_opt){ .name = rows[i].name, .off = rows[i].off });
		fill(src, sizeof(src), i);
		memset(dst, 0, sizeof(dst));
		assert_int_equal(p.b->ops->slot_bind(p.qb, 1, 0, dst, sizeof(dst), NULL), 0);
		script.long_err = rows[i].err;
		for (k = 0; k < 4; k++) {
			struct sdr_uc_tx v[3];

			/* The last step says nothing new: the limit holds. */
			if (k < 3)
				script.carries = script.route = p.ia.data_over + room[k];
			v[0] = pair_write(&p, 1, 0, src, 16 * k, 10 * PAIR_MTU);
			v[1] = pair_ctl(&p.ib.addr, "x", 1);
			v[2] = pair_write(&p, 1, 0, src, 16 * k + 10, 6 * PAIR_MTU);
			assert_int_equal(p.a->ops->post(p.a, v, 3), 3);
			assert_int_equal(pair_wait(p.b, p.ev, 17), 17);
			assert_memory_equal(dst + 16 * k * PAIR_MTU, src + 16 * k * PAIR_MTU,
					    16 * PAIR_MTU);
			if (k < 3)
				path_event(&p, script.route);
			else
				pair_quiet(p.a);
		}
		assert_int_equal(script.asked, 3);
		assert_int_equal(pair_stats(p.a).tx_lost, 0);
		assert_int_equal(pair_stats(p.a).pkts_tx, 64);
		assert_int_equal(pair_stats(p.a).bytes_tx, sizeof(src));
		assert_true(pair_stats(p.a).pieces_tx >= 16 * (2 + 4 + 8 + 8));
		assert_int_equal(pair_stats(p.a).ctl_tx, 4);
		/* Trains are not given up. */
		script.calls = 0;
		pair_post(&p, pair_write(&p, 1, 0, src, 0, 4 * PAIR_MTU));
		assert_int_equal(script.calls, 1);
		pair_close(&p);
	}
}

/* Control datagrams are not cut: lost, counted by cause, and the owner is told once. */
static void full__a_datagram_too_long_for_its_route(void **state)
{
	uint8_t buf[2000] = { 0 };
	struct sdr_uc_tx v[4];
	struct pair p;
	int i;

	(void)state;
	memset(&script, 0, sizeof(script));
	script.budget = -1;
	pair_open(&p, &(struct pair_opt){ 0 });
	script.carries = script.route = p.ia.ctl_over + 1400;
	v[0] = pair_ctl(&p.ib.addr, buf, 2000);
	v[1] = pair_ctl(&p.ib.addr, buf, 2000);
	v[2] = pair_ctl(&p.ib.addr, buf, 1400);
	v[3] = pair_ctl(&p.ib.addr, buf, 1404);
	assert_int_equal(p.a->ops->post(p.a, v, 4), 4);
	assert_int_equal(pair_wait(p.b, p.ev, 1), 1);
	assert_int_equal(p.ev[0].len, 1400);
	pair_quiet(p.b);
	path_event(&p, script.route);
	assert_int_equal(script.asked, 1);
	assert_int_equal(pair_stats(p.a).tx_toobig, 3);
	assert_int_equal(pair_stats(p.a).tx_lost, 3);
	assert_int_equal(pair_stats(p.a).ctl_tx, 1);
	pair_close(&p);
	/* Routing does not know why, or has no answer: asked now and then, not each time. */
	for (i = 0; i < 2; i++) {
		memset(&script, 0, sizeof(script));
		script.budget = -1;
		pair_open(&p, &(struct pair_opt){ 0 });
		script.carries = 500;
		script.route = 65536;
		for (i = 0; i < 50; i++)
			pair_post(&p, pair_write(&p, 1, 0, buf, 0, PAIR_MTU));
		assert_true(script.asked >= 1 && script.asked < 10);
		assert_int_equal(pair_stats(p.a).tx_toobig, 50);
		pair_quiet(p.a);
		pair_close(&p);
	}
}

/* A path that is too narrow even for the pieces that there may be: lost, and no call too many. */
static void full__narrower_than_pieces(void **state)
{
	uint8_t src[8 * PAIR_MTU] = { 0 };
	struct pair p;

	(void)state;
	memset(&script, 0, sizeof(script));
	script.budget = -1;
	pair_open(&p, &(struct pair_opt){ 0 });
	script.carries = script.route = p.ia.data_over + PAIR_MTU / 16 - 4;
	pair_post(&p, pair_write(&p, 0, 0, src, 0, sizeof(src)));
	assert_int_equal(pair_stats(p.a).tx_toobig, 8 * 16);
	assert_true(script.calls < 8 * 16 + 8);
	path_event(&p, script.route);
	pair_close(&p);
}

/* No memory: again later, but not for ever. */
static void full__never_any_memory(void **state)
{
	uint32_t again = 0;
	struct sdr_uc_tx t;
	struct pair p;

	(void)state;
	memset(&script, 0, sizeof(script));
	script.err = ENOBUFS;
	pair_open(&p, &(struct pair_opt){ 0 });
	t = pair_ctl(&p.ib.addr, "x", 1);
	while (p.a->ops->post(p.a, &t, 1) == 0)
		assert_true(++again < 1000);
	assert_true(again > 4);
	assert_int_equal(pair_stats(p.a).tx_again, again);
	assert_int_equal(pair_stats(p.a).tx_nobufs, 1);
	assert_int_equal(pair_stats(p.a).tx_lost, 1);
	script.budget = -1;
	pair_close(&p);
}

/* What the kernel grants of the buffers, and the remedy where that is less than was asked for. */
static void full__buffers_asked_and_granted(void **state)
{
	static const struct {
		uint32_t rcv, snd, most;
		const char *text, *other;
	} rows[] = {
		{ 1u << 20, 1u << 18, 65536, "net.core.rmem_max=1048576 net.core.wmem_max=262144",
		  "65536 of 1048576 bytes of receive" },
		{ 1u << 20, 1u << 15, 65536, "net.core.rmem_max=1048576", "of receive buffer" },
		{ 1u << 15, 1u << 20, 65536, "net.core.wmem_max=1048576", "of send buffer" },
		{ 1u << 15, 1u << 15, 65536, NULL, NULL },
	};
	struct sdr_uc_info info;
	struct sdr_uc *uc;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sdr_uc_open_attr a = { .rcvbuf = rows[i].rcv, .sndbuf = rows[i].snd };

		memset(&script, 0, sizeof(script));
		script.grants = rows[i].most;
		assert_int_equal(sdr_uc_open("soft:127.0.0.1", &a, &uc), 0);
		uc->ops->info(uc, &info);
		assert_int_equal(info.rcvbuf_asked, rows[i].rcv);
		assert_int_equal(info.sndbuf_asked, rows[i].snd);
		assert_int_equal(info.rcvbuf_got,
				 rows[i].rcv < rows[i].most ? rows[i].rcv : rows[i].most);
		assert_int_equal(info.sndbuf_got,
				 rows[i].snd < rows[i].most ? rows[i].snd : rows[i].most);
		if (rows[i].text) {
			assert_non_null(info.note);
			assert_non_null(strstr(info.note, rows[i].text));
			assert_non_null(strstr(info.note, rows[i].other));
		} else {
			assert_null(info.note);
		}
		uc->ops->close(uc);
	}
	memset(&script, 0, sizeof(script));
	script.budget = -1;
}

/* What came while the receive buffer was full is counted when the next datagram tells. */
static void full__what_the_receive_queue_dropped(void **state)
{
	static uint8_t src[256 * PAIR_MTU];
	struct sdr_uc_info info;
	struct pair p;
	uint64_t sent, came = 0;
	int i, n;

	(void)state;
	memset(&script, 0, sizeof(script));
	script.budget = -1;
	script.grants = 65536;
	pair_open(&p, &(struct pair_opt){ .msg = sizeof(src), .off = SDR_SOFT_NO_GSO });
	p.b->ops->info(p.b, &info);
	assert_int_equal(info.rcvbuf_got, 65536);
	pair_post(&p, pair_write(&p, 0, 0, src, 0, 4 * PAIR_MTU));
	pair_wait(p.b, p.ev, 1);
	assert_int_equal(pair_stats(p.b).rx_full, 0);
	for (i = 0; i < 2; i++) {
		pair_post(&p, pair_write(&p, 0, 0, src, 0, sizeof(src)));
		pair_wait(p.b, p.ev, 1); /* all of it is late: no slot is bound */
		for (n = 0; n < 2; n++) {
			pair_post(&p, pair_ctl(&p.ib.addr, "told", 4));
			assert_int_equal(pair_wait(p.b, p.ev, 1), 1);
		}
		sent = pair_stats(p.a).pkts_tx;
		came = pair_stats(p.b).pkts_late;
		assert_true(came < sent);
		assert_int_equal(pair_stats(p.b).rx_full, sent - came);
	}
	pair_close(&p);
}

/* PSNs count what left: a packet that the kernel did not take keeps its number. */
static void full__psn_goes_back(void **state)
{
	uint8_t src[40 * PAIR_MTU] = { 0 }, pkt[PAIR_MTU + 100];
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	struct sdr_uc_addr to;
	struct sdr_uc_tx t;
	struct pair p;
	uint32_t i;
	int fd;

	(void)state;
	memset(&script, 0, sizeof(script));
	script.budget = -1;
	script.err = EAGAIN;
	pair_open(&p, &(struct pair_opt){ .off = SDR_SOFT_NO_GSO });
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	sdr_uc_addr_to_sockaddr(&p.ib.addr, &sa);
	((struct sockaddr_in *)&sa)->sin_port = 0;
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(struct sockaddr_in)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	sdr_uc_addr_from_sockaddr(&to, (struct sockaddr *)&sa);
	p.a->ops->qp_readdress(p.qa, &to);
	t = pair_write(&p, 0, 0, src, 0, sizeof(src));
	for (i = 0; t.len; i++) {
		script.budget = 7;
		if (p.a->ops->post(p.a, &t, 1) == 1)
			break;
	}
	for (i = 0; i < 40; i++) {
		struct sdr_wire_data d;
		const uint8_t *payload;
		ssize_t n = recv(fd, pkt, sizeof(pkt), 0);

		assert_true(n > 0);
		assert_int_equal(sdr_wire_data_decode(pkt, (size_t)n, &d, &payload), 0);
		assert_int_equal(d.psn, (p.wb.psn + i) & SDR_PSN_MASK);
	}
	script.budget = -1;
	close(fd);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full__at_every_message),
		cmocka_unit_test(full__in_the_middle_of_a_packet),
		cmocka_unit_test(full__nothing_taken),
		cmocka_unit_test(full__device_cannot_segment),
		cmocka_unit_test(full__segmentation_is_given_up),
		cmocka_unit_test(full__refused_for_good_is_a_loss),
		cmocka_unit_test(full__a_narrow_route_loses_nothing),
		cmocka_unit_test(full__a_datagram_too_long_for_its_route),
		cmocka_unit_test(full__narrower_than_pieces),
		cmocka_unit_test(full__never_any_memory),
		cmocka_unit_test(full__buffers_asked_and_granted),
		cmocka_unit_test(full__what_the_receive_queue_dropped),
		cmocka_unit_test(full__psn_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
