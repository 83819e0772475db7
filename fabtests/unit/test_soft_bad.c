/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine against a socket that sends what nobody should: forged, cut and random datagrams.
 * Each costs a counter; no byte is written and good packets between them still arrive.
 */
#include <arpa/inet.h>
#include <unistd.h>

#include "uc/sdr_uc_addr.h"
#include "test_soft_util.h"

#define PKT_MAX (SDR_DATA_OVERHEAD + SDR_PROBE_MAX)

struct forge {
	struct pair p;
	int fd;
	struct sockaddr_storage to;
	socklen_t to_len;
	uint8_t src[PAIR_MTU], dst[2 * PAIR_MTU];
	struct sdr_imm_split split;
};

static void forge_open(struct forge *f, const char *name)
{
	int len;

	memset(f, 0, sizeof(*f));
	pair_open(&f->p, &(struct pair_opt){ .name = name });
	f->split = (struct sdr_imm_split)SDR_IMM_SPLIT_DEFAULT;
	len = sdr_uc_addr_to_sockaddr(&f->p.ib.addr, &f->to);
	assert_true(len > 0);
	f->to_len = (socklen_t)len;
	f->fd = socket(f->to.ss_family, SOCK_DGRAM, 0);
	assert_true(f->fd >= 0);
	memset(f->src, 1, sizeof(f->src));
	memset(f->dst, 2, sizeof(f->dst));
	assert_int_equal(f->p.b->ops->slot_bind(f->p.qb, 3, 1, f->dst, PAIR_MTU, NULL), 0);
}

static void forge_close(struct forge *f)
{
	size_t i;

	for (i = 0; i < sizeof(f->dst); i++)
		assert_int_equal(f->dst[i], 2);
	close(f->fd);
	pair_close(&f->p);
}

static void raw_send(struct forge *f, const void *buf, size_t len)
{
	assert_int_equal(sendto(f->fd, buf, len, 0, (struct sockaddr *)&f->to, f->to_len), len);
}

/* The packet that would be accepted: slot 3, generation 1, offset 0. */
static struct sdr_wire_data good(const struct forge *f)
{
	struct sdr_wire_data d = { .qpn = f->p.wb.qpn + 1, .rkey = f->p.wb.rkey, .len = PAIR_MTU };

	d.va = 3 * (uint64_t)PAIR_MSG;
	d.imm = sdr_imm_pack(&f->split, 3, 0, 0);
	return d;
}

static size_t build(const struct forge *f, uint8_t *pkt, const struct sdr_wire_data *d)
{
	uint32_t pad = sdr_wire_pad(d->len);
	size_t n = SDR_DATA_HDR + d->len + pad;

	memset(pkt, 0, n);
	sdr_wire_data_encode(pkt, d);
	memcpy(pkt + SDR_DATA_HDR, f->src, d->len < PAIR_MTU ? d->len : PAIR_MTU);
	sdr_put_le32(pkt + n, sdr_icrc_final(sdr_icrc_headers(sdr_icrc_seed_masked(), pkt, n)));
	return n + SDR_ICRC_LEN;
}

static void expect(struct forge *f, uint64_t bad, uint64_t late)
{
	pair_quiet(f->p.b);
	assert_int_equal(pair_stats(f->p.b).pkts_bad, bad);
	assert_int_equal(pair_stats(f->p.b).pkts_late, late);
	assert_int_equal(pair_stats(f->p.b).pkts_rx, 0);
}

static void bad__the_good_one_is_accepted(void **state)
{
	uint8_t pkt[PKT_MAX];
	struct sdr_wire_data d;
	struct forge f;

	(void)state;
	forge_open(&f, NULL);
	d = good(&f);
	raw_send(&f, pkt, build(&f, pkt, &d));
	assert_int_equal(pair_wait(f.p.b, f.p.ev, 1), 1);
	assert_memory_equal(f.dst, f.src, PAIR_MTU);
	memset(f.dst, 2, sizeof(f.dst));
	forge_close(&f);
}

/* Zeros in place of the ICRC: sound from a process of this host, and from nobody else. */
static void bad__without_an_icrc(void **state)
{
	static const uint8_t zeros[SDR_ICRC_LEN];
	uint8_t pkt[PKT_MAX];
	struct sdr_wire_data d;
	struct forge f;
	size_t n;

	(void)state;
	forge_open(&f, NULL);
	d = good(&f);
	n = build(&f, pkt, &d);
	memcpy(pkt + n - sizeof(zeros), zeros, sizeof(zeros));
	assert_true(f.p.wa.host && f.p.wa.host == f.p.wb.host);
	for (uint32_t i = 1; i <= 2; i++) {
		f.p.wa.host = i == 1 ? 0 : ~f.p.wb.host;
		assert_int_equal(f.p.b->ops->qp_connect(f.p.qb, &f.p.wa, NULL), 0);
		raw_send(&f, pkt, n);
		expect(&f, i, 0);
	}
	f.p.wa.host = f.p.wb.host;
	assert_int_equal(f.p.b->ops->qp_connect(f.p.qb, &f.p.wa, NULL), 0);
	raw_send(&f, pkt, n);
	assert_int_equal(pair_wait(f.p.b, f.p.ev, 1), 1);
	assert_memory_equal(f.dst, f.src, PAIR_MTU);
	memset(f.dst, 2, sizeof(f.dst));
	/* one that is there is looked at, and a piece has one */
	pkt[n - 1] = 1;
	raw_send(&f, pkt, n);
	pair_quiet(f.p.b);
	assert_int_equal(pair_stats(f.p.b).pkts_bad, 3);
	d.len = d.piece = PAIR_MTU / 2;
	d.whole = PAIR_MTU;
	n = build(&f, pkt, &d);
	for (uint32_t i = 0; i < 2; i++) {
		raw_send(&f, pkt, n);
		pair_quiet(f.p.b);
		assert_int_equal(pair_stats(f.p.b).pkts_bad, 3 + i);
		assert_int_equal(pair_stats(f.p.b).pieces_rx, 1);
		memcpy(pkt + n - sizeof(zeros), zeros, sizeof(zeros));
	}
	memset(f.dst, 2, sizeof(f.dst));
	forge_close(&f);
}

static void bad__fields(void **state)
{
	uint8_t pkt[PKT_MAX];
	struct sdr_wire_data d;
	struct forge f;
	uint64_t bad = 0;
	int i;

	(void)state;
	forge_open(&f, NULL);
	for (i = 0; i < 12; i++) {
		d = good(&f);
		switch (i) {
		case 0: /* a QPN behind the QP's */
			d.qpn += 3;
			break;
		case 1: /* one in front of them */
			d.qpn -= 2;
			break;
		case 2: /* right index bits, other random bits */
			d.qpn ^= 1u << 23;
			break;
		case 3:
			d.qpn = 0xffffff;
			break;
		case 4:
			d.rkey ^= 1;
			break;
		case 5: /* address of another slot than the immediate's */
			d.va += PAIR_MSG;
			break;
		case 6: /* not at the packet's offset */
			d.va += 4;
			break;
		case 7: /* address that wraps */
			d.va = UINT64_MAX - PAIR_MTU + 1;
			break;
		case 8: /* offset behind the bound buffer */
			d.va += PAIR_MTU;
			d.imm = sdr_imm_pack(&f.split, 3, 1, 0);
			break;
		case 9: /* last offset there is */
			d.va += (uint64_t)PAIR_MTU * ((1u << 18) - 1);
			d.imm = sdr_imm_pack(&f.split, 3, (1u << 18) - 1, 0);
			break;
		case 10: /* more than the mtu */
			d.len = PAIR_MTU + 4;
			break;
		case 11:
			d.len = SDR_MTU_MAX;
			break;
		}
		raw_send(&f, pkt, build(&f, pkt, &d));
		expect(&f, ++bad, 0);
	}
	/* Right in everything but that nothing is bound there, or another generation. */
	d = good(&f);
	d.va = 0;
	d.imm = 0;
	raw_send(&f, pkt, build(&f, pkt, &d));
	d.va = 1023 * (uint64_t)PAIR_MSG;
	d.imm = sdr_imm_pack(&f.split, 1023, 0, 0);
	raw_send(&f, pkt, build(&f, pkt, &d));
	d = good(&f);
	d.qpn++;
	raw_send(&f, pkt, build(&f, pkt, &d));
	expect(&f, bad, 3);
	forge_close(&f);
}

/* Every bit flipped alone, except those of BTH byte 4 that a NIC may change on the way. */
static void bad__each_bit(void **state)
{
	uint8_t pkt[PKT_MAX];
	struct sdr_wire_data d;
	struct forge f;
	uint64_t bad = 0;
	size_t len, i;

	(void)state;
	forge_open(&f, NULL);
	d = good(&f);
	d.len = 21;
	len = build(&f, pkt, &d);
	for (i = 0; i < len * 8; i++) {
		if (i / 8 == 4)
			continue;
		pkt[i / 8] ^= (uint8_t)(1 << (i % 8));
		raw_send(&f, pkt, len);
		pkt[i / 8] ^= (uint8_t)(1 << (i % 8));
		expect(&f, ++bad, 0);
	}
	forge_close(&f);
}

static void bad__each_length(void **state)
{
	uint8_t pkt[PKT_MAX];
	struct sdr_wire_data d;
	struct forge f;
	uint64_t bad = 0;
	size_t len, i;

	(void)state;
	forge_open(&f, NULL);
	d = good(&f);
	d.len = 64;
	len = build(&f, pkt, &d);
	for (i = 0; i < len + 40; i++) {
		if (i == len)
			continue;
		raw_send(&f, pkt, i);
		expect(&f, ++bad, 0);
	}
	/* The longest datagram there is. */
	{
		uint8_t *big = calloc(1, 65507);

		memcpy(big, pkt, len);
		raw_send(&f, big, 65507);
		expect(&f, ++bad, 0);
		free(big);
	}
	forge_close(&f);
}

static void bad__control(void **state)
{
	struct sdr_wire_ctl c = { .qkey = 0x80010000u, .src_qpn = 1 };
	uint8_t pkt[PKT_MAX];
	struct forge f;
	size_t n;
	int i;

	(void)state;
	forge_open(&f, NULL);
	for (i = 0; i < 5; i++) {
		n = SDR_CTL_HDR + 8;
		memset(pkt, 0, sizeof(pkt));
		c.qkey = i == 1 ? 5 : 0x80010000u;
		if (i == 2)
			n = SDR_CTL_HDR + SDR_PROBE_MAX + 4;
		sdr_wire_ctl_encode(pkt, &c, n - SDR_CTL_HDR);
		if (i == 3)
			pkt[7] = 2; /* another QPN than 1 */
		sdr_put_le32(pkt + n,
			     sdr_icrc_final(sdr_icrc_headers(sdr_icrc_seed_masked(), pkt, n)));
		if (i == 4)
			pkt[n] ^= 1;
		raw_send(&f, pkt, n + SDR_ICRC_LEN);
		if (!i) {
			assert_int_equal(pair_wait(f.p.b, f.p.ev, 1), 1);
			assert_int_equal(f.p.ev[0].kind, SDR_UC_EV_CTL);
		}
	}
	expect(&f, 4, 0);
	forge_close(&f);
}

/* Random bytes and mutated packets in front of, between and behind good ones: all good ones arrive.
 */
static void flood(const char *name)
{
	uint8_t pkt[PKT_MAX], junk[2048];
	struct sdr_wire_data d;
	struct sdr_uc_stats st;
	struct forge f;
	uint64_t rng = 7, sent = 0;
	uint32_t i, k, good_ones = 0;
	size_t len;

	(void)name;
	forge_open(&f, name);
	for (i = 0; i < 200; i++) {
		for (k = 0; k < 20; k++, sent++) {
			uint64_t r = sdr_get_le64((uint8_t *)&rng);

			rng = r * 6364136223846793005u + 1442695040888963407u;
			fill(junk, sizeof(junk), (uint32_t)(rng >> 32));
			if (k % 2) {
				d = good(&f);
				d.len = (uint32_t)(rng >> 40) % PAIR_MTU;
				len = build(&f, pkt, &d);
				/* Never byte 4: those bits are the network's to change. */
				pkt[5 + (rng >> 20) % (len - 5)] ^=
					(uint8_t)(1 + (rng >> 50) % 255);
				raw_send(&f, pkt, len);
			} else {
				junk[0] = k % 4 ? SDR_OP_UC_WRITE_ONLY_IMM : junk[0];
				raw_send(&f, junk, (rng >> 33) % sizeof(junk));
			}
		}
		pair_post(&f.p, pair_ctl(&f.p.ib.addr, "ok", 2));
		assert_int_equal(pair_wait(f.p.b, f.p.ev, 1), 1);
		assert_int_equal(f.p.ev[0].kind, SDR_UC_EV_CTL);
		assert_memory_equal(f.p.ev[0].c.buf, "ok", 2);
		good_ones++;
	}
	st = pair_stats(f.p.b);
	assert_int_equal(st.ctl_rx, good_ones);
	assert_int_equal(st.pkts_bad, sent);
	assert_int_equal(st.pkts_rx, 0);
	forge_close(&f);
}

static void bad__flood(void **state)
{
	(void)state;
	flood(NULL);
}

static void bad__flood_ipv6(void **state)
{
	(void)state;
	flood("soft:[::1]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad__the_good_one_is_accepted),
		cmocka_unit_test(bad__without_an_icrc),
		cmocka_unit_test(bad__fields),
		cmocka_unit_test(bad__each_bit),
		cmocka_unit_test(bad__each_length),
		cmocka_unit_test(bad__control),
		cmocka_unit_test(bad__flood),
		cmocka_unit_test(bad__flood_ipv6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
