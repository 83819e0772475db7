/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A soft engine and an RDMA device that is a socket on UDP port 4791 of another address: it makes
 * and checks ICRCs as devices do.  Where both live: test_soft_nic_host.h.
 *
 * The engine's send calls are defined here: they note which segment of a train each packet is,
 * which is its IPv4 identification, and refuse trains when told to.
 */
#ifndef TEST_SOFT_NIC_H
#define TEST_SOFT_NIC_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uc/sdr_uc_addr.h"
#include "test_soft_nic_host.h"
#include "test_soft_util.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

#define BED_MTU	  PAIR_MTU
#define BED_MSG	  (128u * BED_MTU)
#define BED_TPS	  8u /* 4 generations, 2 channels */
#define BED_PKTS  100u
#define BED_VA	  0x7f0012345678ull
#define BED_RKEY  0x00c0ffeeu
#define BED_WAIT  5000 /* ms that a datagram may take */
#define FRAME_MAX (SDR_DATA_OVERHEAD + SDR_MTU_MAX)

struct bed {
	bool v6;
	struct sdr_uc *uc;
	struct sdr_uc_qp *q;
	struct sdr_uc_info info;
	struct sdr_wire_qp_info own, peer;
	int dev, out, ctl; /* the device's sockets: port 4791, the one it sends from, control */
	uint16_t port;	   /* the engine's */
};

struct frame {
	struct sdr_wire_data d;
	uint8_t payload[SDR_MTU_MAX];
	uint16_t sport;
};

static struct {
	uint16_t ids[1024]; /* of packets to port 4791, in order */
	uint32_t n;
	int train_err; /* what the next train gets; 0: it goes */
} script;

/* ---- send calls of the engine ---------------------------------------------------------------- */

static ssize_t script_send(int fd, const struct msghdr *m, int flags)
{
	/* the port lies at the same place in both families */
	const struct sockaddr_in *to = m->msg_name;
	uint16_t seg = 0, n = 1, i;
	size_t bytes = 0, k;
	ssize_t ret;

	for (k = 0; k < m->msg_iovlen; k++)
		bytes += m->msg_iov[k].iov_len;
	if (m->msg_controllen) {
		if (script.train_err) {
			errno = script.train_err;
			return -1;
		}
		memcpy(&seg, CMSG_DATA(CMSG_FIRSTHDR(m)), sizeof(seg));
		n = (uint16_t)((bytes + seg - 1) / seg);
	}
	ret = syscall(SYS_sendmsg, fd, m, flags);
	for (i = 0;
	     ret > 0 && to && ntohs(to->sin_port) == SDR_ROCE_PORT && i < n && script.n < 1024; i++)
		script.ids[script.n++] = i;
	return ret;
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	return script_send(fd, m, flags);
}

int sendmmsg(int fd, struct mmsghdr *m, unsigned int n, int flags)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		ssize_t ret = script_send(fd, &m[i].msg_hdr, flags);

		if (ret < 0)
			return i ? (int)i : -1;
		m[i].msg_len = (unsigned int)ret;
	}
	return (int)n;
}

/* ---- the two ends ---------------------------------------------------------------------------- */

static void bed_addr(const struct bed *b, enum host h, uint16_t port, struct sdr_uc_addr *out)
{
	struct sockaddr_storage sa;

	host_sa(b->v6, h, port, &sa);
	assert_int_equal(sdr_uc_addr_from_sockaddr(out, (struct sockaddr *)&sa), 0);
}

/* The engine and its QP; port 0: any.  bed_connect makes the device its peer. */
static void bed_open(struct bed *b, bool v6, uint16_t port, uint8_t off)
{
	struct sdr_uc_open_attr oa = { .off = off, .channels = 2, .mtu = BED_MTU };
	struct sdr_uc_qp_attr qa = {
		.generations = 4, .channels = 2, .mtu = BED_MTU, .max_msg = BED_MSG
	};
	char name[80], text[64], err[SDR_UC_ERR_LEN] = "";
	struct sdr_uc_addr addr;
	uint32_t i;

	memset(&script, 0, sizeof(script));
	memset(b, 0, sizeof(*b));
	b->v6 = v6;
	b->dev = b->out = b->ctl = -1;
	if (v6 && !private_net) {
		print_message("no network namespace with IPv6 available: not tested\n");
		skip();
	}
	port_free_or_skip();
	bed_addr(b, ENG, port, &addr);
	sdr_uc_addr_format(&addr, text, sizeof(text));
	snprintf(name, sizeof(name), "soft:%s", text);
	oa.err = err;
	oa.err_len = sizeof(err);
	if (sdr_uc_open(name, &oa, &b->uc))
		fail_msg("%s: %s", name, err);
	b->uc->ops->sockname(b->uc, &addr);
	b->port = sdr_get_be16(addr.b + 1);
	b->uc->ops->info(b->uc, &b->info);
	qa.split = (struct sdr_imm_split)SDR_IMM_SPLIT_DEFAULT;
	qa.cookie = b;
	qa.rand[0] = 0x123456789abcdef0;
	qa.rand[1] = 0xfeedface12345678;
	assert_int_equal(b->uc->ops->qp_create(b->uc, &qa, &b->q), 0);
	b->uc->ops->qp_info(b->q, &b->own);

	b->dev = sock_at(v6, DEV, SDR_ROCE_PORT);
	b->out = sock_at(v6, DEV, 0);
	b->ctl = sock_at(v6, DEV, 0);
	b->peer = b->own;
	b->peer.flags = SDR_QP_F_NIC | SDR_QP_F_RKEYED;
	b->peer.rkey = 0x5eed5eed;
	b->peer.psn = 0xfffff0; /* wraps soon */
	b->peer.ntps = BED_TPS;
	for (i = 0; i < BED_TPS; i++)
		b->peer.tpn[i] = 0x11 + (i * 0x3f1705 & 0xffff00);
	b->peer.qpn = b->peer.tpn[0];
}

static int bed_try_connect(struct bed *b)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	struct sdr_uc_addr addr;

	assert_int_equal(getsockname(b->ctl, (struct sockaddr *)&sa, &len), 0);
	sdr_uc_addr_from_sockaddr(&addr, (struct sockaddr *)&sa);
	return b->uc->ops->qp_connect(b->q, &b->peer, &addr);
}

static void bed_connect(struct bed *b)
{
	assert_int_equal(bed_try_connect(b), 0);
}

static void bed_close(struct bed *b)
{
	b->uc->ops->qp_destroy(b->q);
	b->uc->ops->close(b->uc);
	close(b->dev);
	close(b->out);
	close(b->ctl);
}

/* What a device puts in front of an ICRC. */
static uint32_t true_seed(bool v6, enum host src, enum host dst, uint16_t sport, uint16_t id,
			  size_t len)
{
	uint8_t s[16], d[16];

	host_ip(v6, src, s);
	host_ip(v6, dst, d);
	return v6 ? sdr_icrc_seed_v6(s, d, sport, SDR_ROCE_PORT, len)
		  : sdr_icrc_seed_v4(s, d, sport, SDR_ROCE_PORT, id, true, len);
}

/* Receives on fd, which is at `at`, a frame from the engine whose identification is id. */
static void dev_recv(struct bed *b, int fd, enum host at, uint16_t id, struct frame *f)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	static uint8_t pkt[FRAME_MAX];
	struct sockaddr_storage from, want;
	socklen_t len = sizeof(from);
	const uint8_t *payload;
	ssize_t n;

	assert_int_equal(poll(&p, 1, BED_WAIT), 1);
	n = recvfrom(fd, pkt, sizeof(pkt), 0, (struct sockaddr *)&from, &len);
	assert_true(n > 0);
	f->sport = ntohs(((struct sockaddr_in *)(void *)&from)->sin_port);
	host_sa(b->v6, ENG, f->sport, &want);
	assert_memory_equal(&from, &want, len);
	assert_int_equal(sdr_wire_data_decode(pkt, (size_t)n, &f->d, &payload), 0);
	assert_int_equal(pkt[1] & 0xcf, 0x40); /* MigReq, version 0 */
	memcpy(f->payload, payload, f->d.len);
	assert_true(
		sdr_icrc_check(true_seed(b->v6, ENG, at, f->sport, id, (size_t)n), pkt, (size_t)n));
	if (!b->v6) /* and under no other identification */
		assert_false(sdr_icrc_check(true_seed(b->v6, ENG, at, f->sport, id + 1, (size_t)n),
					    pkt, (size_t)n));
}

static void dev_silent(int fd)
{
	uint8_t c;

	assert_int_equal(recv(fd, &c, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
}

static uint16_t sock_port(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	return ntohs(((struct sockaddr_in *)(void *)&sa)->sin_port);
}

/* Frame from a socket at src to the engine, ICRC included; returns its length. */
static size_t dev_frame(struct bed *b, uint8_t *pkt, int fd, enum host src,
			const struct sdr_wire_data *d, const uint8_t *payload, uint16_t id)
{
	size_t n = SDR_DATA_HDR + d->len + sdr_wire_pad(d->len), len = n + SDR_ICRC_LEN;

	memset(pkt, 0, len);
	sdr_wire_data_encode(pkt, d);
	memcpy(pkt + SDR_DATA_HDR, payload, d->len);
	sdr_put_le32(pkt + n, sdr_icrc_final(sdr_icrc_headers(
				      true_seed(b->v6, src, ENG, sock_port(fd), id, len), pkt, n)));
	return len;
}

static void dev_send(struct bed *b, int fd, const uint8_t *pkt, size_t len, uint16_t port)
{
	struct sockaddr_storage sa;
	socklen_t sa_len = host_sa(b->v6, ENG, port, &sa);

	assert_int_equal(sendto(fd, pkt, len, 0, (struct sockaddr *)&sa, sa_len), len);
}

/* The packet at offset off of slot 5 in generation 1, epoch 3, which is what bed_bind binds. */
#define BED_SLOT 5u
#define BED_USE	 13u
static struct sdr_wire_data bed_data(const struct bed *b, uint32_t off, uint32_t len)
{
	struct sdr_wire_data d = { .len = len };

	d.qpn = b->own.qpn + 1 * 2 + off % 2; /* either channel */
	d.va = BED_SLOT * (uint64_t)BED_MSG + (uint64_t)off * BED_MTU;
	d.rkey = sdr_rkey_of_epoch(b->own.rkey, 3);
	d.imm = sdr_imm_pack(&b->own.split, BED_SLOT, off, 0);
	return d;
}

static void bed_bind(struct bed *b, uint8_t *dst)
{
	assert_int_equal(b->uc->ops->slot_bind(b->q, BED_SLOT, BED_USE, dst, BED_MSG, NULL), 0);
}

#endif /* TEST_SOFT_NIC_H */
