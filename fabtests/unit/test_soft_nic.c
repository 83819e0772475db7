/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine with an RDMA device as its peer: what it sends is what a device takes, what a
 * device sends is placed, and nothing else is.  That real devices agree: fabtests/rxe.
 */
#include "test_soft_nic.h"

/* ---- to the device --------------------------------------------------------------------------- */

static struct sdr_uc_tx bed_write(struct bed *b, uint8_t flags, const uint8_t *src)
{
	struct sdr_uc_tx t = { .kind = SDR_UC_TX_WRITE, .gen = 3, .flags = flags };

	t.len = BED_PKTS * BED_MTU - 3;
	t.buf = src;
	t.w.qp = b->q;
	t.w.slot = 7;
	t.w.first = 2;
	t.w.user_imm = 0xa1b2c3d4;
	t.w.epoch = 9;
	t.w.va = BED_VA;
	t.w.rkey = BED_RKEY;
	return t;
}

/* A run on each channel between control datagrams: everything a device looks at is right. */
static void sent(bool v6, uint8_t off, int train_err, uint8_t flags)
{
	uint32_t len = BED_PKTS * BED_MTU - 3, i, k = 0, trains = 0;
	struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	uint8_t *src = malloc(len + 3), c, ctl[64];
	static struct frame f;
	struct sdr_uc_addr to;
	struct sdr_uc_tx v[4];
	struct bed b;
	ssize_t n;

	fill(src, len + 3, 77);
	bed_open(&b, v6, 0, off);
	bed_connect(&b);
	b.uc->ops->qp_path(b.q, 700); /* devices get no pieces */
	script.train_err = train_err;
	bed_addr(&b, DEV, sock_port(b.ctl), &to);
	for (c = 0; c < 2; c++) {
		v[0] = pair_ctl(&to, "before", 6);
		v[1] = bed_write(&b, flags, src);
		v[1].channel = c;
		v[2] = pair_ctl(&to, "behind", 6);
		assert_int_equal(b.uc->ops->post(b.uc, v, 3), 3);
		for (i = 0; i < BED_PKTS; i++, k++) {
			assert_true(k < script.n);
			trains += script.ids[k] == 1;
			dev_recv(&b, b.dev, DEV, script.ids[k], &f);
			assert_int_equal(f.d.qpn, b.peer.tpn[3 * 2 + c]);
			assert_int_equal(f.d.psn, (b.peer.psn + i) & SDR_PSN_MASK);
			assert_int_equal(f.d.rkey, flags ? BED_RKEY : b.peer.rkey);
			assert_int_equal(f.d.va, (flags ? BED_VA : 7ull * BED_MSG) +
							 (uint64_t)(2 + i) * BED_MTU);
			assert_int_equal(f.d.imm,
					 sdr_imm_pack(&split, 7, 2 + i,
						      sdr_imm_frag(&split, 0xa1b2c3d4, 2 + i)));
			assert_int_equal(f.d.len, i == BED_PKTS - 1 ? BED_MTU - 3 : BED_MTU);
			assert_memory_equal(f.payload, src + (size_t)i * BED_MTU, f.d.len);
			if (!c)
				assert_int_equal(f.sport, b.port);
		}
		for (i = 0; i < 2; i++) { /* as between sockets */
			n = recv(b.ctl, ctl, sizeof(ctl), 0);
			assert_true(n > 0 &&
				    sdr_icrc_check(sdr_icrc_seed_masked(), ctl, (size_t)n));
			assert_memory_equal(ctl + SDR_CTL_HDR, i ? "behind" : "before", 6);
		}
	}
	assert_int_equal(k, script.n);
	if (off & SDR_SOFT_NO_GSO || train_err)
		assert_int_equal(trains, 0);
	else
		assert_true(trains >= 2);
	dev_silent(b.dev);
	assert_int_equal(pair_stats(b.uc).pkts_tx, 2 * BED_PKTS);
	bed_close(&b);
	free(src);
}

static void nic__sent_in_trains(void **state)
{
	(void)state;
	sent(false, 0, 0, SDR_UC_F_RKEYED);
}

static void nic__sent_alone(void **state)
{
	(void)state;
	sent(false, SDR_SOFT_NO_GSO, 0, SDR_UC_F_RKEYED);
}

static void nic__sent_without_a_grant(void **state)
{
	(void)state;
	sent(false, 0, 0, 0);
}

/* A train that is built again as single packets has other identifications. */
static void nic__sent_after_a_refused_train(void **state)
{
	(void)state;
	sent(false, 0, EIO, SDR_UC_F_RKEYED);
	sent(false, 0, EINVAL, SDR_UC_F_RKEYED);
}

static void nic__sent_over_ipv6(void **state)
{
	(void)state;
	sent(true, 0, 0, SDR_UC_F_RKEYED);
	sent(true, SDR_SOFT_NO_GSO, 0, SDR_UC_F_RKEYED);
}

/* Short payloads take the other way through the arena; corruption is seen. */
static void nic__sent_short_and_corrupt(void **state)
{
	static uint8_t pkt[FRAME_MAX];
	static struct frame f;
	struct sdr_uc_tx t;
	struct bed b;
	uint32_t len;
	uint16_t id;
	ssize_t n;

	(void)state;
	bed_open(&b, false, 0, 0);
	bed_connect(&b);
	for (len = 0; len < 9; len++) {
		t = bed_write(&b, SDR_UC_F_RKEYED, (const uint8_t *)"12345678");
		t.len = len;
		assert_int_equal(b.uc->ops->post(b.uc, &t, 1), 1);
		dev_recv(&b, b.dev, DEV, 0, &f);
		assert_int_equal(f.d.len, len);
		assert_memory_equal(f.payload, "12345678", len);
	}
	t.flags |= SDR_UC_F_CORRUPT;
	assert_int_equal(b.uc->ops->post(b.uc, &t, 1), 1);
	n = recv(b.dev, pkt, sizeof(pkt), 0);
	assert_true(n > 0);
	assert_false(sdr_icrc_check_v4_any_id(true_seed(false, ENG, DEV, f.sport, 0, (size_t)n),
					      sdr_icrc_v4_back((size_t)n), pkt, (size_t)n, &id));
	bed_close(&b);
}

/* ---- from the device ------------------------------------------------------------------------- */

static void received(bool v6)
{
	static const uint16_t ids[] = { 0, 1, 63, 64, 255, 256, 0x1234, 0x8000, 0xfffe, 0xffff };
	static const uint32_t lens[] = { BED_MTU, 1, 2, 3, 4, 1023, 0, 517, BED_MTU, 64 };
	static uint8_t src[BED_MTU], dst[BED_MSG], pkt[FRAME_MAX];
	struct sdr_uc_ev ev[4];
	struct sdr_wire_data d;
	struct bed b;
	uint32_t i;

	fill(src, sizeof(src), 5);
	bed_open(&b, v6, 0, 0);
	bed_connect(&b);
	memset(dst, 0, sizeof(dst));
	bed_bind(&b, dst);
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct pollfd p = { .fd = b.uc->ops->fd(b.uc), .events = POLLIN };
		int fd = i % 3 ? b.out : b.dev; /* two source ports */

		d = bed_data(&b, i, lens[i]);
		dev_send(&b, fd, pkt, dev_frame(&b, pkt, fd, DEV, &d, src, ids[i]), SDR_ROCE_PORT);
		assert_int_equal(poll(&p, 1, BED_WAIT), 1);
		assert_int_equal(pair_wait(b.uc, ev, 1), 1);
		assert_int_equal(ev[0].kind, SDR_UC_EV_PLACED);
		assert_int_equal(ev[0].gen, 1);
		assert_int_equal(ev[0].channel, i % 2);
		assert_int_equal(ev[0].len, lens[i]);
		assert_ptr_equal(ev[0].p.cookie, &b);
		assert_int_equal(ev[0].p.imm, d.imm);
		assert_memory_equal(dst + (size_t)i * BED_MTU, src, lens[i]);
	}
	pair_quiet(b.uc);
	assert_int_equal(pair_stats(b.uc).pkts_rx, i);
	assert_int_equal(pair_stats(b.uc).pkts_bad, 0);
	bed_close(&b);
}

static void nic__received(void **state)
{
	(void)state;
	received(false);
}

static void nic__received_over_ipv6(void **state)
{
	(void)state;
	received(true);
}

/* Devices send no pieces: what says that it is one is none of theirs. */
static void nic__no_pieces_from_a_device(void **state)
{
	static uint8_t src[BED_MTU], dst[BED_MSG], pkt[FRAME_MAX];
	struct sdr_wire_data d;
	struct bed b;

	(void)state;
	fill(src, sizeof(src), 5);
	bed_open(&b, false, 0, 0);
	bed_connect(&b);
	memset(dst, 0, sizeof(dst));
	bed_bind(&b, dst);
	d = bed_data(&b, 0, 64);
	d.piece = 64;
	d.whole = 128;
	dev_send(&b, b.dev, pkt, dev_frame(&b, pkt, b.dev, DEV, &d, src, 7), SDR_ROCE_PORT);
	pair_quiet(b.uc);
	assert_int_equal(pair_stats(b.uc).pkts_bad, 1);
	assert_int_equal(pair_stats(b.uc).pieces_rx, 0);
	assert_int_equal(dst[0], 0);
	bed_close(&b);
}

/* As trains, more than one poll reports. */
static void nic__received_in_trains(void **state)
{
	static uint8_t src[BED_MTU], dst[BED_MSG], pkt[60 * (SDR_DATA_OVERHEAD + BED_MTU)];
	static struct sdr_uc_ev ev[2 * 60];
	uint32_t off = 0, i;
	int seg, round;
	struct bed b;

	(void)state;
	bed_open(&b, false, 0, 0);
	bed_connect(&b);
	memset(dst, 0, sizeof(dst));
	bed_bind(&b, dst);
	fill(src, sizeof(src), 6);
	for (round = 0; round < 2; round++) {
		size_t len = 0;

		for (i = 0; i < 60; i++, off++) {
			struct sdr_wire_data d = bed_data(&b, off, BED_MTU);

			len += dev_frame(&b, pkt + len, b.out, DEV, &d, src,
					 (uint16_t)(40000 + 1000 * i));
		}
		seg = SDR_DATA_OVERHEAD + BED_MTU;
		assert_int_equal(setsockopt(b.out, IPPROTO_UDP, UDP_SEGMENT, &seg, sizeof(seg)), 0);
		dev_send(&b, b.out, pkt, len, SDR_ROCE_PORT);
	}
	assert_int_equal(pair_wait(b.uc, ev, 120), 120);
	for (i = 0; i < 120; i++)
		assert_memory_equal(dst + (size_t)i * BED_MTU, src, BED_MTU);
	assert_int_equal(pair_stats(b.uc).pkts_bad, 0);
	bed_close(&b);
}

/* Everything but the right packet is counted and writes nothing. */
static void refused(bool v6)
{
	static uint8_t src[BED_MTU], dst[BED_MSG], pkt[FRAME_MAX];
	uint64_t bad = 0;
	struct sdr_wire_data d;
	struct sdr_wire_ctl c = { .qkey = 0x80010000u, .src_qpn = SDR_QPN_CTL };
	struct bed b;
	size_t len, bit;
	int other;

	bed_open(&b, v6, 0, 0);
	bed_connect(&b);
	memset(dst, 2, sizeof(dst));
	bed_bind(&b, dst);
	other = sock_at(v6, OTHER, 0);
	d = bed_data(&b, 0, 40);

	/* Each bit, but for the byte that the network may change. */
	len = dev_frame(&b, pkt, b.out, DEV, &d, src, 4711);
	for (bit = 0; bit < len * 8; bit++) {
		if (bit / 8 == 4)
			continue;
		pkt[bit / 8] ^= (uint8_t)(1 << bit % 8);
		dev_send(&b, b.out, pkt, len, SDR_ROCE_PORT);
		pkt[bit / 8] ^= (uint8_t)(1 << bit % 8);
		pair_quiet(b.uc);
		assert_int_equal(pair_stats(b.uc).pkts_bad, ++bad);
	}
	/* From another address, its own ICRC right or the device's. */
	len = dev_frame(&b, pkt, other, OTHER, &d, src, 0);
	dev_send(&b, other, pkt, len, SDR_ROCE_PORT);
	len = dev_frame(&b, pkt, other, DEV, &d, src, 0);
	dev_send(&b, other, pkt, len, SDR_ROCE_PORT);
	/* To the engine's own port. */
	len = dev_frame(&b, pkt, b.out, DEV, &d, src, 0);
	dev_send(&b, b.out, pkt, len, b.port);
	/* The ICRC of soft engines, on either port. */
	sdr_put_le32(
		pkt + len - SDR_ICRC_LEN,
		sdr_icrc_final(sdr_icrc_headers(sdr_icrc_seed_masked(), pkt, len - SDR_ICRC_LEN)));
	dev_send(&b, b.out, pkt, len, SDR_ROCE_PORT);
	dev_send(&b, b.out, pkt, len, b.port);
	/* Control datagrams belong to the other port. */
	sdr_wire_ctl_encode(pkt, &c, 4);
	len = SDR_CTL_OVERHEAD + 4;
	sdr_put_le32(
		pkt + len - SDR_ICRC_LEN,
		sdr_icrc_final(sdr_icrc_headers(sdr_icrc_seed_masked(), pkt, len - SDR_ICRC_LEN)));
	dev_send(&b, b.ctl, pkt, len, SDR_ROCE_PORT);
	pair_quiet(b.uc);
	/*
	 * The two to the engine's own port had no UDP check sum: over IPv6 the kernel keeps them.
	 */
	assert_int_equal(pair_stats(b.uc).pkts_bad, bad + (v6 ? 4 : 6));
	assert_int_equal(pair_stats(b.uc).pkts_rx + pair_stats(b.uc).ctl_rx, 0);
	for (bit = 0; bit < sizeof(dst); bit++)
		assert_int_equal(dst[bit], 2);
	close(other);
	bed_close(&b);
}

static void nic__refused(void **state)
{
	(void)state;
	refused(false);
}

static void nic__refused_over_ipv6(void **state)
{
	(void)state;
	refused(true);
}

/* A slot that is bound because of a control datagram takes the data that came behind it. */
static void nic__control_datagrams_first(void **state)
{
	static uint8_t src[BED_MTU], dst[BED_MSG], pkt[FRAME_MAX];
	struct sdr_wire_ctl c = { .qkey = 0x80010000u, .src_qpn = SDR_QPN_CTL };
	uint32_t rounds, i, k, tries;
	struct sdr_uc_ev ev[PAIR_EVS];
	struct sdr_wire_data d;
	struct bed b;
	size_t len;
	bool bound;
	int n;

	(void)state;
	bed_open(&b, false, 0, 0);
	bed_connect(&b);
	for (rounds = 1; rounds <= 24; rounds++) {
		/* Junk that makes no event fills the first receive calls. */
		for (i = 0; i < 3 * rounds; i++)
			dev_send(&b, b.ctl, src, 9, b.port);
		for (i = 0; i < rounds; i++) {
			sdr_wire_ctl_encode(pkt, &c, 4);
			len = SDR_CTL_OVERHEAD + 4;
			sdr_put_le32(pkt + SDR_CTL_HDR, i);
			sdr_put_le32(pkt + len - SDR_ICRC_LEN,
				     sdr_icrc_final(sdr_icrc_headers(sdr_icrc_seed_masked(), pkt,
								     len - SDR_ICRC_LEN)));
			dev_send(&b, b.ctl, pkt, len, b.port);
		}
		d = bed_data(&b, 0, 9);
		dev_send(&b, b.out, pkt, dev_frame(&b, pkt, b.out, DEV, &d, src, 3), SDR_ROCE_PORT);
		bound = false;
		for (i = 0, tries = 0; i < rounds + 1 && tries < 1000; tries++) {
			n = b.uc->ops->poll(b.uc, ev, PAIR_EVS);
			for (k = 0; k < (uint32_t)n; k++, i++) {
				assert_int_equal(ev[k].kind,
						 i < rounds ? SDR_UC_EV_CTL : SDR_UC_EV_PLACED);
				assert_true(i < rounds || bound);
			}
			/* The last one binds, once its poll has returned. */
			if (i == rounds && !bound) {
				bed_bind(&b, dst);
				bound = true;
			}
		}
		assert_int_equal(i, rounds + 1);
		b.uc->ops->slot_unbind(b.q, BED_SLOT);
	}
	assert_int_equal(pair_stats(b.uc).pkts_late, 0);
	bed_close(&b);
}

/* ---- port 4791 ------------------------------------------------------------------------------- */

static void nic__port_taken(void **state)
{
	static struct frame f;
	struct sdr_uc_tx t;
	struct bed b;
	int fd;

	(void)state;
	bed_open(&b, false, 0, 0);
	assert_string_equal(b.uc->ops->reason(b.uc), "");
	fd = sock_at(false, ENG, SDR_ROCE_PORT);
	assert_int_equal(bed_try_connect(&b), -EADDRINUSE);
	assert_non_null(strstr(b.uc->ops->reason(b.uc), "UDP port 4791"));
	assert_non_null(strstr(b.uc->ops->reason(b.uc), "rdma_rxe"));
	/* A soft peer does not need it. */
	b.peer.flags = 0;
	bed_connect(&b);
	close(fd);
	b.peer.flags = SDR_QP_F_NIC | SDR_QP_F_RKEYED;
	bed_connect(&b);
	assert_string_equal(b.uc->ops->reason(b.uc), "");
	t = bed_write(&b, SDR_UC_F_RKEYED, (const uint8_t *)"x");
	t.len = 1;
	assert_int_equal(b.uc->ops->post(b.uc, &t, 1), 1);
	dev_recv(&b, b.dev, DEV, 0, &f);
	/* Numbers of transport QPs that do not fit. */
	b.peer.ntps = BED_TPS / 2;
	assert_int_equal(bed_try_connect(&b), -EPROTO);
	bed_close(&b);
}

/* An engine that is itself at port 4791 hears devices and soft engines there. */
static void own_port(bool v6)
{
	static uint8_t src[BED_MTU], dst[BED_MSG], pkt[FRAME_MAX];
	struct sdr_wire_qp_info soft;
	struct sdr_uc_qp_attr qa = {
		.generations = 4, .channels = 2, .mtu = BED_MTU, .max_msg = BED_MSG
	};
	struct sdr_uc_qp *q2;
	struct sdr_wire_data d;
	struct sdr_uc_ev ev[1];
	struct bed b;
	size_t len;

	bed_open(&b, v6, SDR_ROCE_PORT, 0);
	assert_int_equal(b.port, SDR_ROCE_PORT);
	bed_connect(&b);
	memset(dst, 0, sizeof(dst));
	fill(src, sizeof(src), 8);
	bed_bind(&b, dst);
	d = bed_data(&b, 0, BED_MTU);
	dev_send(&b, b.out, pkt, dev_frame(&b, pkt, b.out, DEV, &d, src, 99), SDR_ROCE_PORT);
	assert_int_equal(pair_wait(b.uc, ev, 1), 1);
	assert_memory_equal(dst, src, BED_MTU);

	qa.split = (struct sdr_imm_split)SDR_IMM_SPLIT_DEFAULT;
	qa.rand[0] = qa.rand[1] = 77;
	assert_int_equal(b.uc->ops->qp_create(b.uc, &qa, &q2), 0);
	b.uc->ops->qp_info(q2, &soft);
	assert_int_equal(soft.flags | soft.ntps | soft.ctl_qpn, 0);
	assert_int_equal(b.uc->ops->slot_bind(q2, 0, 0, dst + BED_MTU, BED_MTU, NULL), 0);
	d = (struct sdr_wire_data){ .qpn = soft.qpn, .rkey = soft.rkey, .len = BED_MTU };
	len = dev_frame(&b, pkt, b.out, DEV, &d, src, 0);
	dev_send(&b, b.out, pkt, len, SDR_ROCE_PORT); /* as from a device: bad */
	pair_quiet(b.uc);
	assert_int_equal(pair_stats(b.uc).pkts_bad, 1);
	sdr_put_le32(
		pkt + len - SDR_ICRC_LEN,
		sdr_icrc_final(sdr_icrc_headers(sdr_icrc_seed_masked(), pkt, len - SDR_ICRC_LEN)));
	dev_send(&b, b.out, pkt, len, SDR_ROCE_PORT);
	assert_int_equal(pair_wait(b.uc, ev, 1), 1);
	assert_memory_equal(dst + BED_MTU, src, BED_MTU);
	b.uc->ops->qp_destroy(q2);
	bed_close(&b);
}

static void nic__own_port(void **state)
{
	(void)state;
	own_port(false);
}

static void nic__own_port_over_ipv6(void **state)
{
	(void)state;
	own_port(true);
}

static void nic__moves(void **state)
{
	static uint8_t src[BED_MTU], dst[BED_MSG], pkt[FRAME_MAX];
	struct sdr_uc_addr to, v6 = { .len = 19, .b = { 6, 0, 1, 0xfd } };
	static struct frame f;
	struct sdr_wire_data d;
	struct sdr_uc_ev ev[1];
	struct sdr_uc_tx t;
	struct bed b;
	int other;

	(void)state;
	bed_open(&b, false, 0, 0);
	bed_connect(&b);
	/* a device has one address */
	b.uc->ops->sockname(b.uc, &to);
	assert_int_equal(b.uc->ops->qp_via(b.q, 1, 0, &to), -EINVAL);
	memset(dst, 0, sizeof(dst));
	fill(src, sizeof(src), 9);
	bed_bind(&b, dst);
	t = bed_write(&b, SDR_UC_F_RKEYED, src);
	t.len = 100;
	assert_int_equal(b.uc->ops->post(b.uc, &t, 1), 1);
	dev_recv(&b, b.dev, DEV, 0, &f);
	d = bed_data(&b, 0, 100);
	dev_send(&b, b.out, pkt, dev_frame(&b, pkt, b.out, DEV, &d, src, 1), SDR_ROCE_PORT);
	assert_int_equal(pair_wait(b.uc, ev, 1), 1);

	other = sock_at(false, OTHER, SDR_ROCE_PORT);
	bed_addr(&b, OTHER, 5000, &to);
	b.uc->ops->qp_readdress(b.q, &to);
	b.uc->ops->qp_readdress(b.q, &v6); /* nonsense: stays */
	t = bed_write(&b, SDR_UC_F_RKEYED, src);
	t.len = 100; /* the same length: seeds were not kept */
	assert_int_equal(b.uc->ops->post(b.uc, &t, 1), 1);
	dev_recv(&b, other, OTHER, 0, &f);
	dev_silent(b.dev);
	dev_send(&b, b.out, pkt, dev_frame(&b, pkt, b.out, DEV, &d, src, 1), SDR_ROCE_PORT);
	pair_quiet(b.uc);
	assert_int_equal(pair_stats(b.uc).pkts_bad, 1);
	dev_send(&b, other, pkt, dev_frame(&b, pkt, other, OTHER, &d, src, 1), SDR_ROCE_PORT);
	assert_int_equal(pair_wait(b.uc, ev, 1), 1);
	close(other);
	bed_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nic__sent_in_trains),
		cmocka_unit_test(nic__sent_alone),
		cmocka_unit_test(nic__sent_without_a_grant),
		cmocka_unit_test(nic__sent_after_a_refused_train),
		cmocka_unit_test(nic__sent_over_ipv6),
		cmocka_unit_test(nic__sent_short_and_corrupt),
		cmocka_unit_test(nic__received),
		cmocka_unit_test(nic__received_over_ipv6),
		cmocka_unit_test(nic__no_pieces_from_a_device),
		cmocka_unit_test(nic__received_in_trains),
		cmocka_unit_test(nic__refused),
		cmocka_unit_test(nic__refused_over_ipv6),
		cmocka_unit_test(nic__control_datagrams_first),
		cmocka_unit_test(nic__port_taken),
		cmocka_unit_test(nic__own_port),
		cmocka_unit_test(nic__own_port_over_ipv6),
		cmocka_unit_test(nic__moves),
	};

	return cmocka_run_group_tests(tests, private_net_open, NULL);
}
