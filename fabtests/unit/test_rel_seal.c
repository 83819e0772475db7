/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The place where control datagrams leave and enter: each is counted once, whoever it goes to, and
 * each leaves the room that a tag will take, to the byte.
 */
#include "../bed/bed.h"
#include "wire/sdr_tag.h"

struct count {
	uint64_t n[BED_NODES]; /* control datagrams sent */
	uint32_t most;	       /* bytes of the largest */
};

static bool count_ctl(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	struct count *k = b->user;

	(void)what;
	if (p->kind != SDR_SIM_CTL)
		return true;
	k->n[p->src]++;
	if (p->len > k->most)
		k->most = p->len;
	return true;
}

/* Inline, just too long for it, and many at once, so that packets are full. */
static void traffic(struct bed *b)
{
	struct sdr_rel *rel = b->node[0].ep->rel;
	uint32_t fits = sdr_seal_inline_max(rel, rel->ctl_max);
	struct bed_op *r[40], *s[40];
	uint8_t *p[40];

	for (uint32_t i = 0; i < 40; i++) {
		uint32_t len = i < 4 ? fits - 1 + i : 100 + i;

		p[i] = bed_buf(b, len, 0);
		r[i] = bed_recv(b, 1, p[i], len);
		s[i] = bed_send(b, 0, 1, bed_buf(b, len, i + 1), len, 0);
	}
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t len = i < 4 ? fits - 1 + i : 100 + i;

		bed_wait(b, r[i], BED_SEC);
		bed_wait(b, s[i], BED_SEC);
		bed_assert_ok(r[i]);
		bed_assert_ok(s[i]);
		assert_true(bed_same(p[i], len, i + 1));
	}
}

static void seal__every_datagram_has_room_for_the_tag(void **state)
{
	static const uint32_t tags[] = { 0, SDR_TAG_LEN, 64 };

	(void)state;
	for (uint32_t t = 0; t < 3; t++) {
		struct count k = { .most = 0 };
		struct bed *b = bed_open(2);
		uint32_t max = b->node[0].ep->rel->ctl_max;

		b->user = &k;
		b->filter = count_ctl;
		for (uint32_t i = 0; i < 2; i++)
			b->node[i].ep->rel->tag_len = tags[t];
		traffic(b);
		assert_in_range(k.most, max - 60, max);
		/* what fits inside a record fits beside the tag, and nothing longer */
		assert_int_equal(sdr_seal_inline_max(b->node[0].ep->rel, max) + SDR_PACKET_HDR +
					 SDR_REC_HDR_MAX + tags[t],
				 max);
		b->filter = NULL;
		bed_close(b);
	}
}

static void seal__every_datagram_is_counted_once(void **state)
{
	static const uint8_t ping[1] = { SDR_FRAME_PING };
	struct count k = { .most = 0 };
	struct bed *b = bed_new(3);

	(void)state;
	b->cfg[2].channels = 2; /* is refused */
	b->user = &k;
	b->filter = count_ctl;
	bed_boot(b);
	bed_warm(b, 0, 1);
	bed_wait(b, bed_send(b, 2, 1, "x", 1, 0), BED_SEC);
	bed_forge(b, 0, 1, 0x1234567890abcdefull, 5, ping, 1); /* is answered by RESET */
	bed_run(b, BED_SEC);
	assert_int_equal(bed_seen(b, 1, BED_RESET), 1);
	assert_int_equal(bed_seen(b, 1, BED_HELLO_ACK), 2);
	traffic(b);
	bed_run(b, BED_SEC);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(bed_stats(b, i).ctl_tx, k.n[i]);
	b->filter = NULL;
	bed_close(b);
}

/* There is no key: what comes with a tag is not looked at. */
static void seal__a_datagram_with_a_tag_is_dropped(void **state)
{
	struct bed *b = bed_open(2);
	struct sdr_conn *c;
	struct sdr_tag tag = { .key = 1 };
	uint8_t p[128];
	uint64_t bad;
	size_t n;

	(void)state;
	bed_warm(b, 0, 1);
	c = bed_conn(b, 1, 0);
	n = sdr_packet_encode(p, c->id.cid, c->rx.pns.r[0].hi + 1);
	n += sdr_frame_ping_encode(p + n, sizeof(p) - n);
	n += sdr_tag_put(p + n, &tag);
	p[2] |= SDR_CLASS_SEALED;
	bad = bed_stats(b, 1).pkts_bad;
	assert_int_equal(sdr_sim_inject_ctl(b->w, 1, 1, 0, p, n), 0);
	bed_run(b, BED_RTT);
	assert_int_equal(bed_stats(b, 1).pkts_bad, bad + 1);
	bed_warm(b, 0, 1);
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seal__every_datagram_has_room_for_the_tag),
		cmocka_unit_test(seal__every_datagram_is_counted_once),
		cmocka_unit_test(seal__a_datagram_with_a_tag_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
