/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers of other versions.  What node 1 sends is rewritten on its way as a later version would say
 * it: a wider range of versions, more feature bits, extensions and frames that nobody here knows.
 * Or it is a peer that has no version in common, earlier or later.
 */
#include "../bed/bed.h"
#include "rel/conn/sdr_wire_err.h"
#include "wire/sdr_tlv.h"
#include "wire/sdr_version.h"

/* ---- a peer that speaks more than we do ------------------------------------------------------ */

struct future {
	uint32_t rewritten;
};

static size_t future_hello(const uint8_t *in, size_t len, uint8_t *out)
{
	uint8_t ext[64];
	struct sdr_hello h;
	size_t n = 0;

	assert_int_equal(sdr_hello_decode(in + SDR_CLASS_LEN, len - SDR_CLASS_LEN, &h), 0);
	h.version_max = 9;
	h.features = ~0ull;
	h.codes |= 0xf0;
	n += sdr_tlv_put(ext, sizeof(ext), 0xaa, "of a later version", 18);
	n += sdr_tlv_put(ext + n, sizeof(ext) - n, SDR_HELLO_PROBE_MAX, "\0\x30\0\0", 4);
	n += sdr_tlv_put(ext + n, sizeof(ext) - n, 0xab, "", 0);
	h.ext = ext;
	h.ext_len = (uint32_t)n;
	return sdr_hello_encode(out, (enum sdr_rel_type)in[3], &h);
}

/* Frames that nobody knows stand in front, and behind if there is room. */
static size_t future_packet(const uint8_t *in, size_t len, uint8_t *out)
{
	size_t n = SDR_PACKET_HDR, room = SDR_CTL_MAX - len;

	memcpy(out, in, n);
	if (room >= 16)
		n += sdr_frame_long_encode(out + n, 16, 0x99, "unheard of", 10);
	memcpy(out + n, in + SDR_PACKET_HDR, len - SDR_PACKET_HDR);
	n += len - SDR_PACKET_HDR;
	if (SDR_CTL_MAX - n >= 8)
		n += sdr_frame_long_encode(out + n, 8, SDR_FRAME_PADDING, NULL, 5);
	return n;
}

static bool future_filter(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	const uint8_t *in = sdr_sim_packet_payload(p);
	struct future *f = b->user;
	uint8_t out[SDR_CTL_MAX + 64];
	size_t n;

	if (p->src != 1 || p->kind != SDR_SIM_CTL)
		return true;
	if (what & (BED_HELLO | BED_HELLO_ACK))
		n = future_hello(in, p->len, out);
	else if (what & BED_PACKET)
		n = future_packet(in, p->len, out);
	else
		return true;
	f->rewritten++;
	assert_int_equal(sdr_sim_inject_ctl(b->w, 2, 0, BED_DELAY, out, n), 0);
	return false;
}

static void both_ways(struct bed *b, size_t len)
{
	uint8_t *p[2];
	struct bed_op *r[2], *s[2];

	for (uint32_t i = 0; i < 2; i++) {
		p[i] = bed_buf(b, len, 0);
		r[i] = bed_recv(b, i, p[i], len);
	}
	for (uint32_t i = 0; i < 2; i++)
		s[i] = bed_send(b, i, 1 - i, bed_buf(b, len, 7 + i), len, 0);
	for (uint32_t i = 0; i < 2; i++) {
		bed_wait(b, r[i], BED_SEC);
		bed_wait(b, s[i], BED_SEC);
		bed_assert_ok(r[i]);
		bed_assert_ok(s[i]);
		assert_true(bed_same(p[i], len, 8 - i));
	}
}

/* Whoever begins. */
static void future__a_peer_of_more_versions_is_a_peer(void **state)
{
	(void)state;
	for (uint32_t from = 0; from < 2; from++) {
		struct future f = { 0 };
		struct bed *b = bed_open(2);
		struct sdr_rel_stats st;

		b->user = &f;
		b->filter = future_filter;
		b->node[0].ep->rel->features = SDR_FEATURE_ECN | SDR_FEATURE_PROBE;
		bed_recv(b, 1 - from, bed_buf(b, 10, 0), 10);
		bed_wait(b, bed_send(b, from, 1 - from, bed_buf(b, 10, 3), 10, 0), BED_SEC);
		both_ways(b, 50);
		both_ways(b, 3000);
		both_ways(b, 1 << 20);
		/* a bit is in force when both know it, any other is as if it were not there */
		assert_int_equal(bed_conn(b, 0, 1)->hs.features,
				 SDR_FEATURE_ECN | SDR_FEATURE_PROBE);
		assert_int_equal(bed_conn(b, 1, 0)->hs.features, 0);
		assert_int_equal(bed_conn(b, 0, 1)->codes.kinds, SDR_WIRE_CODE_KINDS);
		st = bed_stats(b, 0);
		assert_true(f.rewritten > 10);
		assert_true(st.frames_skipped >= 10);
		assert_int_equal(st.pkts_bad, 0);
		assert_int_equal(st.hello_other, 0);
		b->filter = NULL;
		bed_close(b);
	}
}

static void future__the_type_says_whether_a_frame_is_acknowledged(void **state)
{
	static const struct {
		uint8_t type;
		bool wants;
	} t[] = { { 0xb2, false },
		  { 0xbf, false },
		  { 0xc2, true },
		  { 0xff, true },
		  { SDR_FRAME_PADDING, false } };
	struct bed *b = bed_open(2);

	(void)state;
	bed_warm(b, 0, 1);
	bed_run(b, BED_SEC);
	for (uint32_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct sdr_conn *c = bed_conn(b, 0, 1);
		uint64_t acks = bed_seen(b, 0, BED_ACK);
		uint8_t frame[16];
		size_t n = sdr_frame_long_encode(frame, sizeof(frame), t[i].type, "x", 1);

		bed_forge(b, 1, 0, c->id.cid, c->rx.pns.r[0].hi + 1, frame, n);
		bed_run(b, BED_SEC);
		assert_int_equal(bed_seen(b, 0, BED_ACK) - acks, t[i].wants);
	}
	bed_close(b);
}

/* What peers say of an operation: what both know, and whatever a later version may say. */
static void future__a_status_is_total(void **state)
{
	static const int32_t known[] = { 0, 6, 7, 8, 9, 10, 12, 13, 15, 19, 20, 21, 22 };
	uint32_t k = 0;

	(void)state;
	for (int32_t s = INT16_MIN; s <= INT16_MAX; s++) {
		if (k < sizeof(known) / sizeof(known[0]) && s == known[k]) {
			assert_int_equal(sdr_rel_err_of_status(s), s);
			k++;
		} else {
			assert_int_equal(sdr_rel_err_of_status(s), SDR_REL_ERR_PROTO);
		}
	}
	assert_int_equal(k, sizeof(known) / sizeof(known[0]));
}

/* ---- no version in common -------------------------------------------------------------------- */

struct other {
	uint8_t min, max; /* that node 1 speaks */
	uint32_t asked;	  /* HELLOs of node 0 that it saw */
	uint32_t v1;	  /* of those, in the form of version 1 */
	uint8_t last[SDR_CTL_MAX];
	uint32_t last_len; /* what node 0 said last */
};

/* Node 1 is a peer of versions min to max; or of version 1, which knows no other. */
static bool other_filter(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	const uint8_t *in = sdr_sim_packet_payload(p);
	struct other *o = b->user;
	struct sdr_version v = { sdr_get_le64(in + SDR_CLASS_LEN + 8), o->min, o->max };
	uint8_t out[SDR_V1_HELLO_LEN];
	size_t n;

	(void)what;
	if (p->kind != SDR_SIM_CTL)
		return true;
	if (p->src != 0)
		return false;
	memcpy(o->last, in, p->len);
	o->last_len = p->len;
	if (in[3] != SDR_REL_HELLO)
		return false;
	o->asked++;
	o->v1 += in[1] == 1;
	if (o->max > 1) {
		n = sdr_version_encode(out, &v);
		out[1] = o->max;
	} else if (in[1] == 1) { /* as version 1 refuses: nothing of versions in it */
		v.min = v.max = 0;
		n = sdr_v1_refusal_encode(out, &v);
	} else {
		return false; /* it drops what is of another version */
	}
	assert_int_equal(sdr_sim_inject_ctl(b->w, 2, 0, BED_DELAY, out, n), 0);
	return false;
}

static void no_common_version(struct other *o, const char *peer, uint64_t limit)
{
	char text[SDR_REL_ERR_TEXT];
	struct bed *b = bed_open(2);
	struct bed_op *s;

	b->user = o;
	b->filter = other_filter;
	for (uint32_t k = 0; k < 2; k++) { /* and once more: there is nothing left behind */
		s = bed_send(b, 0, 1, bed_buf(b, 100, 1), 100, 0);
		bed_wait(b, s, limit);
		assert_int_equal(s->n, 1);
		assert_int_equal(s->e.err, -EPROTONOSUPPORT);
		assert_int_equal(sdr_rel_err_kind(s->e.prov_err), SDR_REL_ERR_VERSION);
		sdr_rel_err_text(s->e.prov_err, text, sizeof(text));
		assert_non_null(strstr(text, peer));
		assert_non_null(strstr(text, "this side version 2"));
		bed_run(b, BED_SEC);
		assert_int_equal(b->node[0].ep->rel->nconns, 0);
	}
	b->filter = NULL;
	bed_close(b);
}

static void future__only_later_versions_end_the_operation_at_once(void **state)
{
	struct other o = { .min = 3, .max = 5 };

	(void)state;
	no_common_version(&o, "the peer speaks versions 3 to 5", 2 * BED_RTT);
	assert_int_equal(o.asked, 2);
	o = (struct other){ .min = 7, .max = 7 };
	no_common_version(&o, "the peer speaks version 7", 2 * BED_RTT);
}

/* It answers nothing but its own: our HELLOs go unanswered until we ask in its form. */
static void past__a_peer_of_version_1_ends_the_operation(void **state)
{
	struct other o = { .min = 1, .max = 1 };

	(void)state;
	no_common_version(&o, "the peer speaks version 1 ", 10 * BED_SEC);
	assert_true(o.asked >= 4 && o.v1 == 2);
}

/* The form that version 1 demands (224 bytes, its QP info), and that it refuses. */
static void past__the_question_is_what_version_1_refuses(void **state)
{
	struct sdr_wire_qp_info qp;
	uint8_t p[SDR_V1_HELLO_LEN], *q = p + SDR_CLASS_LEN;

	(void)state;
	assert_int_equal(sdr_v1_hello_encode(p, 5, 77), 228);
	assert_int_equal(p[1], 1);
	assert_int_equal(sdr_get_le64(q + 8), 77);
	assert_int_equal(q[57], 1);
	q[57] = SDR_WIRE_VERSION; /* otherwise its info has the form of ours */
	assert_int_equal(sdr_wire_qp_info_decode(q + 56, SDR_QP_INFO_LEN, &qp), 0);
	assert_int_equal(qp.mtu, SDR_MTU_MAX);
	assert_in_range(sdr_get_le32(q + 36), 1, SDR_EP_MTU_MIN - 1); /* seg_bytes: fit no mtu */
	assert_in_range(sdr_get_le32(q + 48), SDR_CTL_MIN, SDR_CTL_MAX);
	assert_int_equal(sdr_get_le64(q + 216), 0); /* no parity */
}

/* ---- asked in another version ---------------------------------------------------------------- */

static bool listen(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	struct other *o = b->user;

	(void)what;
	if (p->kind == SDR_SIM_CTL && p->src == 0) {
		memcpy(o->last, sdr_sim_packet_payload(p), p->len);
		o->last_len = p->len;
		o->asked++;
	}
	return true;
}

static void future__a_hello_of_another_version_is_answered(void **state)
{
	struct other o = { 0 };
	struct bed *b = bed_open(2);
	struct sdr_foreign f;
	struct sdr_version v;
	struct sdr_hello h;
	uint8_t p[SDR_CTL_MAX];
	size_t n;

	(void)state;
	bed_warm(b, 0, 1);
	bed_run(b, BED_SEC);
	b->user = &o;
	b->filter = listen;
	for (uint32_t i = 0; i < 5; i++) {
		o.last_len = o.asked = 0;
		sdr_hello_init(&h);
		h.cid = 4711 + i;
		h.version_min = 3;
		h.version_max = 5;
		if (i == 3)
			n = sdr_v1_hello_encode(p, 1, h.cid);
		else
			n = sdr_hello_encode(p, SDR_REL_HELLO, &h);
		if (i == 1) /* all that later versions promise to keep */
			n = SDR_CLASS_LEN + SDR_HELLO_HEAD;
		if (i == 1 || i == 2)
			p[1] = (uint8_t)(2 + i);
		if (i == 4) { /* an answer is not answered, in whatever version */
			v = (struct sdr_version){ h.cid, 3, 5 };
			n = sdr_version_encode(p, &v);
			p[1] = 5;
		}
		assert_int_equal(sdr_sim_inject_ctl(b->w, 2, 0, 0, p, n), 0);
		bed_run(b, BED_SEC);
		assert_int_equal(o.asked, i < 4);
		if (i == 4)
			break;
		assert_true(o.last_len <= n); /* no amplification at all */
		assert_int_equal(sdr_foreign_decode(o.last, o.last_len, &f), 0);
		assert_int_equal(f.kind, SDR_FOREIGN_SAYS);
		assert_int_equal(f.v.cid, 4711 + i);
		assert_int_equal(f.v.min, SDR_WIRE_VERSION_MIN);
		assert_int_equal(f.v.max, SDR_WIRE_VERSION_MAX);
		if (i == 3) { /* as version 1 understands it: refused, for its own HELLO */
			assert_int_equal(o.last[1], 1);
			assert_int_equal(o.last[3], SDR_REL_HELLO_ACK);
			assert_int_equal(o.last_len, SDR_V1_HELLO_LEN);
			assert_int_equal(sdr_get_le64(o.last + 4 + 16), 4711 + i);
			assert_int_equal(sdr_get_le32(o.last + 4 + 32), SDR_HELLO_REFUSED_GEOMETRY);
		} else {
			assert_int_equal(o.last[3], SDR_REL_VERSION);
		}
	}
	assert_int_equal(bed_stats(b, 0).hello_other, 4);
	assert_int_equal(b->node[0].ep->rel->nconns, 1); /* and no state */
	b->filter = NULL;
	bed_warm(b, 0, 1);
	bed_close(b);
}

/* Two of this version whose HELLOs are lost: what is asked in version 1 does no harm. */
static void past__asking_does_not_disturb_a_peer_of_ours(void **state)
{
	struct bed *b = bed_open(2);
	struct bed_rule *r = bed_drop(b, 0, BED_HELLO, 0, 6);
	struct bed_op *rx = bed_recv(b, 1, bed_buf(b, 100, 0), 100);
	struct bed_op *s = bed_send(b, 0, 1, bed_buf(b, 100, 1), 100, 0);

	(void)state;
	bed_wait(b, s, 10 * BED_SEC);
	bed_assert_ok(s);
	bed_assert_ok(rx);
	assert_int_equal(r->hit, 6);
	assert_true(bed_stats(b, 1).hello_other >= 3);
	assert_int_equal(bed_stats(b, 0).pkts_bad, 0);
	bed_close(b);
}

/* ---- who may say so -------------------------------------------------------------------------- */

static void inject_version(struct bed *b, uint32_t from_number, uint64_t cid, uint8_t min,
			   uint8_t max)
{
	struct sdr_version v = { cid, min, max };
	uint8_t p[SDR_VERSION_LEN];

	assert_int_equal(sdr_sim_inject_ctl(b->w, from_number, 0, 0, p, sdr_version_encode(p, &v)),
			 0);
	bed_run(b, 1000);
}

static void version__is_believed_of_who_knows_the_hello(void **state)
{
	struct bed *b = bed_open(3);
	struct bed_rule *r = bed_drop(b, 0, BED_HELLO, 0, 1);
	struct bed_op *rx = bed_recv(b, 1, bed_buf(b, 100, 0), 100);
	struct bed_op *s = bed_send(b, 0, 1, bed_buf(b, 100, 1), 100, 0);
	uint64_t cid;

	(void)state;
	bed_run(b, 1000);
	assert_int_equal(r->hit, 1);
	cid = bed_conn(b, 0, 1)->id.cid;
	inject_version(b, 2, cid ^ 1, 3, 5); /* off the path: does not know the number */
	inject_version(b, 3, cid, 3, 5);     /* another address than was asked */
	inject_version(b, 2, cid, 5, 3);     /* no range */
	inject_version(b, 2, cid, 0, 3);
	assert_int_equal(bed_stats(b, 0).pkts_bad, 4);
	inject_version(b, 2, cid, 1, 2); /* it speaks ours too */
	inject_version(b, 2, cid, 2, 9);
	assert_int_equal(bed_stats(b, 0).pkts_bad, 4);
	assert_int_equal(s->n, 0);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(s);
	bed_assert_ok(rx);
	cid = bed_conn(b, 0, 1)->id.cid;
	inject_version(b, 2, cid, 3, 5); /* it is certain that it speaks our version */
	assert_ptr_not_equal(bed_conn(b, 0, 1), NULL);
	assert_int_equal(bed_stats(b, 0).pkts_bad, 5);
	bed_warm(b, 0, 1);
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(future__a_peer_of_more_versions_is_a_peer),
		cmocka_unit_test(future__the_type_says_whether_a_frame_is_acknowledged),
		cmocka_unit_test(future__a_status_is_total),
		cmocka_unit_test(future__only_later_versions_end_the_operation_at_once),
		cmocka_unit_test(future__a_hello_of_another_version_is_answered),
		cmocka_unit_test(past__a_peer_of_version_1_ends_the_operation),
		cmocka_unit_test(past__the_question_is_what_version_1_refuses),
		cmocka_unit_test(past__asking_does_not_disturb_a_peer_of_ours),
		cmocka_unit_test(version__is_believed_of_who_knows_the_hello),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
