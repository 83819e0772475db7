/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A peer that moves, and everybody else who says that he is the peer: packets with the number of a
 * connection from another address than its peer's.
 *
 * Behind the addresses of forgers there is no node: what is sent there is counted, for it may not
 * be more than three times what came from there, and a forger may answer it.
 */
#include "base/sdr_rand.h"
#include "../bed/bed.h"
#include "rel/conn/sdr_conn_path.h"
#include "rel/conn/sdr_pn_skip.h"

#define FORGER	 77u /* number of an address, and those behind it */
#define FORGERS	 64u
#define PORT	 256u /* from one number to that of another port of the same host */
#define OVERHEAD (SDR_CTL_OVERHEAD + 28u)

struct moving {
	struct bed *b;
	struct sdr_conn *c[2]; /* of each node, to the other */
	uint64_t in[FORGERS], out[FORGERS];
	uint32_t nout[FORGERS];
	/* forgers answer challenges */
	bool answers;
	uint32_t pn;
};

static struct moving *moving_of(struct bed *b)
{
	return b->user;
}

static void forge_from(struct moving *m, uint32_t number, uint32_t node, uint32_t pn,
		       const void *frames, size_t n, uint64_t delay)
{
	uint8_t p[SDR_CTL_MAX];
	size_t k = sdr_packet_encode(p, m->c[node]->id.cid, pn);

	memcpy(p + k, frames, n);
	k += n;
	if (number - FORGER < FORGERS)
		m->in[number - FORGER] += k + OVERHEAD;
	assert_int_equal(sdr_sim_inject_ctl(m->b->w, number, node, delay, p, k), 0);
}

/* What has been sent to a forger, who may answer at once. */
static void astray(struct bed *b, const struct sdr_sim_packet *p)
{
	struct moving *m = moving_of(b);
	const uint8_t *at = sdr_sim_packet_payload(p), *end = at + p->len;
	uint32_t who = p->to - FORGER;
	struct sdr_frame f;
	uint8_t buf[64] = { 0 };

	if (who >= FORGERS)
		return;
	m->out[who] += p->wire;
	m->nout[who]++;
	if (!m->answers || p->kind != SDR_SIM_CTL)
		return;
	at += SDR_PACKET_HDR;
	while (sdr_frame_next(&at, end, &f) > 0)
		if (f.type == SDR_FRAME_PATH_CHALLENGE)
			forge_from(m, p->to, p->src, m->pn++, buf,
				   sdr_frame_path_encode(buf, sizeof(buf), SDR_FRAME_PATH_RESPONSE,
							 &f.path),
				   0);
}

static void moving_open(struct moving *m)
{
	*m = (struct moving){ .b = bed_open(3), .pn = 100000 };
	m->b->user = m;
	m->b->astray = astray;
	for (uint32_t i = 0; i < 8; i++) /* the estimate of the round trip settles */
		bed_warm(m->b, 0, 1);
	m->c[0] = bed_conn(m->b, 0, 1);
	m->c[1] = bed_conn(m->b, 1, 0);
	bed_run(m->b, BED_SEC);
}

/* The oracle of all of these: nobody who did not prove himself gets more than three times his. */
static void moving_close(struct moving *m)
{
	for (uint32_t i = 0; i < FORGERS && !m->answers; i++)
		if (m->out[i] > SDR_PATH_AMPLIFY * m->in[i])
			fail_msg("%llu bytes to a forger for %llu", (unsigned long long)m->out[i],
				 (unsigned long long)m->in[i]);
	bed_close(m->b);
}

static bool is_at(const struct sdr_conn *c, uint32_t number)
{
	struct sdr_uc_addr a;

	sdr_sim_addr_make(number, &a);
	return sdr_uc_addr_equal(&c->addr, &a);
}

static size_t ping(uint8_t *buf)
{
	return sdr_frame_ping_encode(buf, 16);
}

/* len bytes from a node to the other; ns that it took.  rebind: its receiver moves meanwhile. */
static uint64_t transfer(struct moving *m, uint32_t from, size_t len)
{
	uint64_t t0 = bed_now(m->b);
	uint8_t *p = bed_buf(m->b, len, 0);
	struct bed_op *r = bed_recv(m->b, 1 - from, p, len), *s;
	struct sdr_rel_iov iov = { bed_buf(m->b, len, 5), len };
	struct sdr_rel_wr wr = { .kind = SDR_REL_SEND, .niov = 1, .iov = &iov };

	s = bed_op(m->b, from, 1);
	wr.peer = m->c[from]->peer; /* whatever address it has now */
	wr.ctx = s;
	assert_int_equal(sdr_rel_post(m->b->node[from].ep->rel, &wr), 0);
	m->b->node[from].ep->dirty = true;
	bed_wait(m->b, r, 20 * BED_SEC);
	bed_wait(m->b, s, 20 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, len, 5));
	return bed_now(m->b) - t0;
}

struct rebind {
	struct moving *m;
	uint32_t node, number;
};

static void rebind_now(void *user)
{
	struct rebind *r = user;

	assert_int_equal(sdr_sim_node_rebind(r->m->b->w, r->node, r->number), 0);
}

static void rebind_at(struct rebind *r, uint64_t delay)
{
	assert_int_equal(sdr_sim_world_at(r->m->b->w, bed_now(r->m->b) + delay, rebind_now, r), 0);
}

/* ---- forgers --------------------------------------------------------------------------------- */

#define BIG	  (128u << 20)
#define FORGED	  10000u
#define FORGED_NS 10000u /* from one to the next */

/* What a forger says: everything that would do harm if it counted. */
static size_t harm(const struct sdr_conn *c, uint32_t nth, uint8_t *buf)
{
	struct sdr_frame_ack a = { .n = 1, .r = { { c->tx.pn - 1, 0 } } };
	struct sdr_frame_rec r = { .op = SDR_REC_SEND,
				   .flags = SDR_REC_F_ORDER,
				   .rseq = c->rec.rx_next,
				   .mseq = c->rec.rx_mseq,
				   .payload = buf };
	struct sdr_frame_path path = { .path = (uint8_t)nth };

	switch (nth % 6) {
	case 0:
		return sdr_frame_ack_encode(buf, 64, &a);
	case 1:
		return sdr_frame_rec_encode(buf, 64, &r);
	case 2:
		return sdr_frame_close_encode(buf, 64, &(struct sdr_frame_close){ SDR_CLOSE_BYE });
	case 3:
		return sdr_frame_path_encode(buf, 64, SDR_FRAME_PATH_CHALLENGE, &path);
	case 4:
		return sdr_frame_path_encode(buf, 64, SDR_FRAME_PATH_RESPONSE, &path);
	default:
		return ping(buf);
	}
}

/* In the midst of a transfer, to either side, from one address or many; answered or not. */
static void move__forged_packets_beside_a_transfer(void **state)
{
	uint64_t alone, beside;
	struct moving m;

	(void)state;
	for (uint32_t how = 0; how < 8; how++) {
		uint32_t victim = how & 1, crowd = how & 2 ? FORGERS : 1;
		uint8_t buf[64] = { 0 };

		moving_open(&m);
		alone = transfer(&m, 0, BIG);
		m.answers = how & 4;
		for (uint32_t i = 0; i < FORGED; i++)
			forge_from(&m, FORGER + i % crowd, victim,
				   m.c[victim]->rx.pns.r[0].hi + 1 + i, buf,
				   harm(m.c[victim], i, buf), i * (uint64_t)FORGED_NS);
		beside = transfer(&m, 0, BIG);
		if (beside > alone + alone / 10)
			fail_msg("way %u: %.3f ms alone, %.3f beside forgers", how,
				 (double)alone / 1e6, (double)beside / 1e6);
		bed_run(m.b, BED_SEC);
		assert_true(is_at(m.c[victim], 2 - victim));
		assert_int_equal(m.c[victim]->st.moves, 0);
		assert_int_equal(m.c[victim]->st.pkts_bad + m.c[victim]->st.acks_false, 0);
		assert_true(m.c[victim]->st.pkts_astray >= FORGED);
		assert_true(m.c[victim]->st.moves_refuted > 1);
		moving_close(&m);
	}
}

/* Nothing is under way, so the peer itself must be asked. */
static void move__forged_packets_of_an_idle_connection(void **state)
{
	struct moving m;
	uint8_t buf[64] = { 0 };

	(void)state;
	for (uint32_t answers = 0; answers < 2; answers++) {
		moving_open(&m);
		m.answers = answers;
		for (uint32_t i = 0; i < 100; i++) {
			forge_from(&m, FORGER, 0, m.pn++, buf, ping(buf), 0);
			bed_run(m.b, 7 * MS);
			assert_true(is_at(m.c[0], 2));
		}
		bed_run(m.b, BED_SEC);
		assert_int_equal(m.c[0]->st.moves, 0);
		assert_true(m.c[0]->st.moves_refuted > 1);
		assert_false(m.c[0]->path.doubt);
		assert_int_equal(sdr_conn_path_deadline(m.c[0]), NEVER);
		assert_true(transfer(&m, 0, 1 << 20) < 3 * BED_RTT);
		moving_close(&m);
	}
}

/* An old packet, seen and sent again, is no reason to ask; nor is one from too far ahead. */
static void move__only_the_newest_packet_says_that_the_peer_moved(void **state)
{
	static const uint32_t ahead[] = { 0, 0u - 3, SDR_PNSET_AHEAD + 1, 1u << 30, 1u << 31 };
	struct moving m;
	uint8_t buf[64] = { 0 };

	(void)state;
	moving_open(&m);
	for (uint32_t i = 0; i < 5; i++) {
		forge_from(&m, FORGER, 0, m.c[0]->rx.pns.r[0].hi + ahead[i], buf, ping(buf), 0);
		bed_run(m.b, MS);
		assert_false(m.c[0]->path.doubt);
	}
	assert_int_equal(m.nout[0], 0);
	assert_int_equal(m.c[0]->st.pkts_bad, 2);
	forge_from(&m, FORGER, 0, m.c[0]->rx.pns.r[0].hi + SDR_PNSET_AHEAD, buf, ping(buf), 0);
	bed_run(m.b, MS);
	assert_true(m.c[0]->path.doubt);
	assert_int_equal(m.nout[0], 1);
	moving_close(&m);
}

/* BYE, its answer, RESET: the connection and what is posted stay. */
static void move__nothing_from_elsewhere_ends_a_connection(void **state)
{
	struct sdr_frame_close bye[] = { { SDR_CLOSE_BYE }, { SDR_CLOSE_BYE_ACK } };
	uint8_t buf[64] = { 0 }, reset[SDR_RETRY_LEN];
	struct sdr_retry r = { .cookie = 0 };
	struct moving m;
	struct bed_op *s;

	(void)state;
	moving_open(&m);
	s = bed_send(m.b, 0, 1, bed_buf(m.b, 3 << 20, 1), 3 << 20, 0);
	bed_run(m.b, MS);
	r.cid = m.c[0]->id.peer_cid;
	sdr_retry_encode(reset, SDR_REL_RESET, &r);
	for (uint32_t i = 0; i < 50; i++) {
		forge_from(&m, FORGER, 0, m.pn++, buf,
			   sdr_frame_close_encode(buf, sizeof(buf), &bye[i % 2]), 0);
		assert_int_equal(sdr_sim_inject_ctl(m.b->w, FORGER, 0, 0, reset, sizeof(reset)), 0);
		bed_run(m.b, 5 * MS);
	}
	assert_int_equal(s->n, 0);
	assert_ptr_equal(bed_conn(m.b, 0, 1), m.c[0]);
	bed_recv(m.b, 1, bed_buf(m.b, 3 << 20, 0), 3 << 20);
	bed_wait(m.b, s, BED_SEC);
	bed_assert_ok(s);
	moving_close(&m);
}

/* The peer itself says that it is where somebody else is, and acknowledges what is sent there. */
static void move__a_peer_cannot_point_at_a_third_party(void **state)
{
	struct moving m;
	struct bed_op *s;
	uint8_t buf[64] = { 0 };

	(void)state;
	moving_open(&m);
	bed_recv(m.b, 1, bed_buf(m.b, 64 << 20, 0), 64 << 20);
	s = bed_send(m.b, 0, 1, bed_buf(m.b, 64 << 20, 1), 64 << 20, 0);
	s->expect = -1;
	bed_run(m.b, 2 * BED_RTT);
	bed_drop(m.b, 1, BED_ALL, 0, UINT64_MAX / 2); /* from now on only from there */
	for (uint32_t i = 0; i < 2000; i++) {
		struct sdr_frame_ack a = { .n = 1, .r = { { m.c[0]->tx.pn - 1, 0 } } };

		forge_from(&m, FORGER, 0, m.pn++, buf, sdr_frame_ack_encode(buf, 64, &a), 0);
		bed_run(m.b, MS / 4);
		assert_true(m.out[0] <= SDR_PATH_AMPLIFY * m.in[0]);
	}
	assert_true(is_at(m.c[0], 2));
	assert_true(m.nout[0] > 0 && m.nout[0] < 40);
	m.b->op[m.b->nops - 2].expect = -1;
	moving_close(&m);
}

/* A peer that does not know of paths stays where it was, as far as we are concerned. */
static void move__a_peer_without_the_feature_is_never_followed(void **state)
{
	struct moving m = { .b = bed_open(3), .pn = 1000 };
	uint8_t buf[64] = { 0 };

	(void)state;
	m.b->user = &m;
	m.b->astray = astray;
	m.answers = true;
	assert_true(m.b->node[0].ep->rel->features & SDR_FEATURE_PATHS);
	m.b->node[1].ep->rel->features &= ~SDR_FEATURE_PATHS;
	bed_warm(m.b, 0, 1);
	m.c[0] = bed_conn(m.b, 0, 1);
	m.c[1] = bed_conn(m.b, 1, 0);
	for (uint32_t i = 0; i < 20; i++) {
		forge_from(&m, FORGER, 0, m.pn++, buf, ping(buf), 0);
		bed_run(m.b, 10 * MS);
	}
	assert_true(is_at(m.c[0], 2));
	assert_int_equal(m.nout[0], 0);
	assert_int_equal(m.c[0]->st.pkts_astray, 20);
	transfer(&m, 0, 100000);
	moving_close(&m);
}

/* ---- challenges ------------------------------------------------------------------------------ */

/* Where it came from, with its data, one for one. */
static void challenge__is_answered_over_the_path_that_it_came_by(void **state)
{
	struct sdr_frame_path path = { .path = 3, .data = "1234567" };
	uint8_t buf[64] = { 0 };
	struct moving m;
	size_t n;

	(void)state;
	moving_open(&m);
	n = sdr_frame_path_encode(buf, sizeof(buf), SDR_FRAME_PATH_CHALLENGE, &path);
	/* old, so that it is no reason to ask back */
	forge_from(&m, FORGER + 1, 0, 0, buf, n, 0);
	bed_run(m.b, MS);
	assert_int_equal(m.nout[1], 1);
	assert_true(m.out[1] <= m.in[1]);
	/* two of them */
	n += sdr_frame_path_encode(buf + n, sizeof(buf) - n, SDR_FRAME_PATH_CHALLENGE, &path);
	forge_from(&m, FORGER + 1, 0, 0, buf, n, 0);
	bed_run(m.b, MS);
	assert_int_equal(m.nout[1], 1);
	assert_int_equal(m.c[0]->st.pkts_bad, 1);
	moving_close(&m);
}

/* Data of another challenge, of another address, or a guess. */
static void challenge__a_wrong_response_proves_nothing(void **state)
{
	struct sdr_frame_path path = { .path = 1 };
	struct sdr_uc_addr other;
	struct moving m;
	uint8_t buf[64] = { 0 };

	(void)state;
	moving_open(&m);
	sdr_sim_blackout(m.b->w, 1, 0, bed_now(m.b), UINT64_MAX / 2); /* the peer is silent */
	forge_from(&m, FORGER, 0, m.pn++, buf, ping(buf), 0);
	bed_run(m.b, MS);
	assert_true(m.c[0]->path.doubt);
	sdr_sim_addr_make(FORGER + 1, &other);
	for (uint32_t i = 0; i < 3; i++) {
		sdr_put_le64(path.data,
			     i ? sdr_hash64(&other, sizeof(other), m.c[0]->path.key) : 0);
		forge_from(&m, FORGER, 0, m.pn++, buf,
			   sdr_frame_path_encode(buf, sizeof(buf), SDR_FRAME_PATH_RESPONSE, &path),
			   0);
		bed_run(m.b, MS);
		assert_false(m.c[0]->path.proved);
	}
	bed_run(m.b, BED_SEC);
	assert_true(is_at(m.c[0], 2));
	/* and then it is forgotten, after so many */
	assert_true(m.nout[0] <= SDR_PATH_TRIES);
	assert_false(m.c[0]->path.doubt);
	moving_close(&m);
}

/* ---- real moves ------------------------------------------------------------------------------ */

/*
 * One round trip and what it varies by, or 100 ms, from the first packet until the other side
 * knows; another until what was under way is known to be lost.  But who sends data notices nothing
 * before his window is full and a probe is due, and who waits for data asks after 4 timeouts and
 * 100 ms.
 */
#define MOVE_MOST  (SDR_PATH_PATIENCE_NS + 6 * BED_RTT)
#define QUIET_MOST (SDR_PATH_PATIENCE_NS + 100 * MS + 12 * BED_RTT)

static void move__a_host_that_moves_in_mid_transfer(void **state)
{
	struct moving m;

	(void)state;
	for (uint32_t how = 0; how < 4; how++) {
		uint32_t mover = how & 1, other = 1 - mover;
		struct rebind r = { &m, mover, how & 2 ? 200 : mover + 1 + PORT };
		uint64_t alone, took, samples;

		moving_open(&m);
		alone = transfer(&m, 0, BIG);
		samples = m.c[other]->main.rtt.samples;
		rebind_at(&r, alone / 2);
		took = transfer(&m, 0, BIG);
		if (took > alone + (mover ? QUIET_MOST : MOVE_MOST))
			fail_msg("way %u: %.3f ms, %.3f with a move", how, (double)alone / 1e6,
				 (double)took / 1e6);
		assert_true(is_at(m.c[other], r.number));
		assert_true(is_at(m.c[mover], other + 1));
		assert_int_equal(m.c[other]->st.moves, 1);
		assert_int_equal(m.c[mover]->st.moves, 0);
		/* the same host: the estimate goes on */
		assert_int_equal(m.c[other]->main.rtt.samples > samples, !(how & 2));
		transfer(&m, 1, BIG);
		moving_close(&m);
	}
}

/* An idle one is noticed with the next packet, one that says something or one that asks. */
static void move__a_mapping_that_changes_while_nothing_happens(void **state)
{
	struct moving m;

	(void)state;
	for (uint32_t from = 0; from < 2; from++) {
		moving_open(&m);
		for (uint32_t i = 1; i <= 6; i++) {
			struct rebind r = { &m, 1, 2 + i * PORT };
			uint64_t took;

			rebind_now(&r);
			bed_run(m.b, 2 * BED_SEC);
			/* who is behind the translator speaks first: nobody else can */
			took = transfer(&m, 1, from ? 100 : 1 << 20);
			if (took > SDR_PATH_PATIENCE_NS + 5 * BED_RTT)
				fail_msg("move %u took %.3f ms", i, (double)took / 1e6);
			assert_true(is_at(m.c[0], r.number));
			assert_int_equal(m.c[0]->st.moves, i);
			transfer(&m, 0, 1 << 20);
		}
		moving_close(&m);
	}
}

/* Five times in the midst of a transfer, either way. */
static void move__a_mapping_that_changes_again_and_again(void **state)
{
	struct moving m;

	(void)state;
	for (uint32_t from = 0; from < 2; from++) {
		struct rebind r[5];
		uint64_t alone, took;

		moving_open(&m);
		alone = transfer(&m, from, 4 * BIG);
		for (uint32_t i = 0; i < 5; i++) {
			r[i] = (struct rebind){ &m, 1, 2 + (i + 1) * PORT };
			rebind_at(&r[i], (i + 1) * 80 * MS + (from ? 0 : i * 160 * MS));
		}
		took = transfer(&m, from, 4 * BIG);
		if (took > alone + 5 * (from ? MOVE_MOST : QUIET_MOST))
			fail_msg("%.3f ms, %.3f with 5 moves", (double)alone / 1e6,
				 (double)took / 1e6);
		bed_run(m.b, 2 * BED_SEC);
		transfer(&m, 1, 100); /* it may have been over before the last */
		assert_true(is_at(m.c[0], r[4].number));
		assert_in_range(m.c[0]->st.moves, 3, 5); /* or a mapping was never seen */
		moving_close(&m);
	}
}

/* The peer moves while forgers are being asked, who answer or do not. */
static void move__beside_forgers(void **state)
{
	struct moving m;
	uint8_t buf[64] = { 0 };

	(void)state;
	for (uint32_t crowd = 1; crowd <= FORGERS; crowd += FORGERS - 1) {
		struct rebind r = { &m, 1, 2 + PORT };
		uint64_t alone, took;

		moving_open(&m);
		alone = transfer(&m, 0, BIG);
		for (uint32_t i = 0; i < 2 * FORGED; i++)
			forge_from(&m, FORGER + i % crowd, 0, m.c[0]->rx.pns.r[0].hi + 1 + i, buf,
				   ping(buf), i * (uint64_t)FORGED_NS);
		rebind_at(&r, alone / 2);
		took = transfer(&m, 0, BIG);
		if (took > alone + 2 * QUIET_MOST)
			fail_msg("%.3f ms, %.3f with a move beside %u forgers", (double)alone / 1e6,
				 (double)took / 1e6, crowd);
		assert_true(is_at(m.c[0], r.number));
		assert_int_equal(m.c[0]->st.moves, 1);
		bed_run(m.b, BED_SEC);
		moving_close(&m);
	}
}

/* The first challenge, the first response, or both of them twice. */
static void move__challenges_and_responses_that_are_lost(void **state)
{
	struct moving m;

	(void)state;
	for (uint32_t how = 0; how < 3; how++) {
		struct rebind r = { &m, 1, 2 + PORT };

		moving_open(&m);
		if (how != 1) /* the first are for the old address */
			bed_drop(m.b, 0, BED_PATH_CHALLENGE, 0, SDR_PATH_COPIES + 1);
		if (how)
			bed_drop(m.b, 1, BED_PATH_RESPONSE, 0, how);
		rebind_now(&r);
		transfer(&m, 1, 1 << 20);
		bed_run(m.b, BED_SEC);
		assert_true(is_at(m.c[0], r.number));
		moving_close(&m);
	}
}

/* Somebody answered while the peer could not be heard: the peer takes its connection back. */
static void move__the_peer_comes_home(void **state)
{
	struct moving m;
	uint8_t buf[64] = { 0 };

	(void)state;
	moving_open(&m);
	m.answers = true;
	sdr_sim_blackout_both(m.b->w, 0, 1, bed_now(m.b), bed_now(m.b) + 300 * MS);
	forge_from(&m, FORGER, 0, m.pn++, buf, ping(buf), 0);
	bed_run(m.b, 300 * MS);
	assert_true(is_at(m.c[0], FORGER));
	assert_true(transfer(&m, 1, 1 << 20) < 20 * BED_RTT);
	assert_true(is_at(m.c[0], 2));
	/* and the other has no second chance, however often he answers */
	for (uint32_t i = 0; i < 100; i++) {
		forge_from(&m, FORGER, 0, m.c[0]->rx.pns.r[0].hi + 100, buf, ping(buf), 0);
		bed_run(m.b, 5 * MS);
		assert_true(is_at(m.c[0], 2));
	}
	assert_int_equal(m.c[0]->st.moves, 2);
	moving_close(&m);
}

/* ---- numbers that are left out --------------------------------------------------------------- */

static void messages(struct moving *m, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct bed_op *r = bed_recv(m->b, 1, bed_buf(m->b, 8, 0), 8);
		struct bed_op *s = bed_send(m->b, 0, 1, "12345678", 8, 0);

		bed_wait(m->b, r, BED_SEC);
		bed_wait(m->b, s, BED_SEC);
	}
}

/* One after the other, each is filled, nothing is taken for lost, and no gap stays. */
static void skip__numbers_that_are_left_out_cost_nothing(void **state)
{
	uint32_t gaps = 0, most = 0, before;
	struct moving m;

	(void)state;
	moving_open(&m);
	before = m.c[0]->tx.skip;
	for (uint32_t i = 0; i < 1500; i++) {
		messages(&m, 1);
		gaps += m.c[0]->tx.skip != before;
		before = m.c[0]->tx.skip;
		if (m.c[1]->rx.pns.n > most)
			most = m.c[1]->rx.pns.n;
	}
	assert_in_range(gaps, 1500 / (SDR_PN_SKIP_MIN + SDR_PN_SKIP_SPREAD), 100);
	assert_in_range(most, 2, 2);
	assert_int_equal(m.c[1]->rx.pns.n, 1);
	assert_int_equal(m.c[0]->st.acks_false, 0);
	bed_assert_no_repair(m.b);
	moving_close(&m);
}

/* What takes its number without asking (a probe, a copy) had the one that was to be left out. */
static void skip__goes_on_when_the_number_was_taken(void **state)
{
	struct bed *b = bed_pair();
	struct sdr_conn *c;

	(void)state;
	c = bed_conn(b, 0, 1);
	c->tx.skipped = false;
	c->tx.skip = c->tx.pn - 1;
	bed_warm(b, 0, 1);
	assert_true(c->tx.skipped || sdr_seq_lt(c->tx.pn, c->tx.skip));
	bed_close(b);
}

/* Who acknowledges what was never sent is not believed, not even what did arrive. */
static void skip__blind_acknowledgements_are_not_believed(void **state)
{
	struct moving m;
	struct bed_op *s;
	uint32_t live;

	(void)state;
	moving_open(&m);
	m.c[0]->tx.skip = m.c[0]->tx.pn; /* the next */
	bed_drop(m.b, 1, BED_ALL, 0, UINT64_MAX / 2);
	s = bed_send(m.b, 0, 1, "12345678", 8, 0);
	s->expect = -1;
	bed_run(m.b, MS);
	live = m.c[0]->tx.live;
	assert_true(live > 0);
	for (uint32_t i = 1; i <= 3; i++) {
		struct sdr_frame_ack a = { .n = 1, .r = { { m.c[0]->tx.pn - 1, 0 } } };
		uint8_t buf[64] = { 0 };
		size_t n = sdr_frame_ack_encode(buf, sizeof(buf), &a);

		bed_forge(m.b, 1, 0, m.c[0]->id.cid, m.pn++, buf, n);
		bed_run(m.b, 1000);
		assert_int_equal(m.c[0]->st.acks_false, i);
		assert_int_equal(m.c[0]->tx.live, live);
		assert_int_equal(s->n, 0);
		assert_true(sdr_conn_live(m.c[0]));
	}
	moving_close(&m);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(move__forged_packets_beside_a_transfer),
		cmocka_unit_test(move__forged_packets_of_an_idle_connection),
		cmocka_unit_test(move__only_the_newest_packet_says_that_the_peer_moved),
		cmocka_unit_test(move__nothing_from_elsewhere_ends_a_connection),
		cmocka_unit_test(move__a_peer_cannot_point_at_a_third_party),
		cmocka_unit_test(move__a_peer_without_the_feature_is_never_followed),
		cmocka_unit_test(challenge__is_answered_over_the_path_that_it_came_by),
		cmocka_unit_test(challenge__a_wrong_response_proves_nothing),
		cmocka_unit_test(move__a_host_that_moves_in_mid_transfer),
		cmocka_unit_test(move__a_mapping_that_changes_while_nothing_happens),
		cmocka_unit_test(move__a_mapping_that_changes_again_and_again),
		cmocka_unit_test(move__beside_forgers),
		cmocka_unit_test(move__challenges_and_responses_that_are_lost),
		cmocka_unit_test(move__the_peer_comes_home),
		cmocka_unit_test(skip__numbers_that_are_left_out_cost_nothing),
		cmocka_unit_test(skip__goes_on_when_the_number_was_taken),
		cmocka_unit_test(skip__blind_acknowledgements_are_not_believed),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
