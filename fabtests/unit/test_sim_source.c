/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Nodes with several sources, and the lanes of the links between them: which lane a packet takes,
 * what a lane has of its own, what it has from lane 0, and that lane 0 does not notice the others.
 */
#include "test_sim_util.h"

#define MS    1000000ull
#define SRC   4u /* sources of each node */
#define SHIFT 20 /* of a source's number */

static const uint8_t msg[24] = "by another way";

/* What arrived, in the order of arrivals. */
#define MANY 4096u
struct heard {
	uint64_t at;
	uint32_t to;
	uint8_t lane, source, kind;
};
struct lanes {
	struct pair p;
	struct heard got[MANY];
	uint32_t n;
	uint64_t hash0;	  /* of what happened on lane 0 */
	uint32_t seen[2]; /* by a translator: from, to */
};

static void lanes_trace(void *user, uint64_t now, enum sdr_sim_what what,
			const struct sdr_sim_packet *p)
{
	struct lanes *t = user;
	uint64_t v[4] = { now, what, p->va, p->due };

	pair_trace(&t->p, now, what, p);
	for (int i = 0; i < 4 && !p->lane; i++)
		t->hash0 = (t->hash0 ^ v[i]) * 0x100000001b3ull;
	if (what != SDR_SIM_T_ARRIVED)
		return;
	assert_true(t->n < MANY);
	t->got[t->n++] = (struct heard){ now, p->to, p->lane, p->source, p->kind };
}

static void lanes_open(struct lanes *t, uint64_t seed, const struct sdr_sim_link *link)
{
	struct sdr_sim_world_attr wa = { .seed = seed, .trace = lanes_trace, .user = t };
	struct sdr_sim_node_attr na = { .mtu = PAIR_MTU, .sources = SRC };

	memset(t, 0, sizeof(*t));
	if (link)
		wa.link = *link;
	pair_open(&t->p, &wa, &na);
	for (uint32_t k = 1; k < SRC; k++) {
		for (uint32_t i = 0; i < 2; i++) {
			struct sdr_uc_addr to;

			sdr_sim_node_addr(t->p.w, SDR_SIM_LANE(1 - i, k), &to);
			assert_int_equal(t->p.uc[i]->ops->qp_via(t->p.qp[i], k, k, &to), 0);
		}
	}
}

static void lanes_close(struct lanes *t)
{
	pair_close(&t->p);
}

static void addr_of(struct lanes *t, uint32_t node, uint32_t k, struct sdr_uc_addr *out)
{
	t->p.uc[node]->ops->source(t->p.uc[node], k, out);
}

static void ctl(struct lanes *t, uint32_t from, uint32_t source, uint32_t at)
{
	struct sdr_uc_tx tx = {
		.kind = SDR_UC_TX_CTL, .via = (uint8_t)source, .len = sizeof(msg), .buf = msg
	};
	struct sdr_uc_addr to;

	addr_of(t, 1 - from, at, &to);
	tx.to = &to;
	assert_int_equal(t->p.uc[from]->ops->post(t->p.uc[from], &tx, 1), 1);
}

/* A run of n packets by a way of the QP. */
static int run(struct lanes *t, int from, uint32_t via, uint32_t n)
{
	static uint8_t buf[64 * PAIR_MTU];
	struct sdr_uc_tx tx = pair_write(&t->p, from, 3, 0, 0, buf, n * PAIR_MTU);

	tx.via = (uint8_t)via;
	return t->p.uc[from]->ops->post(t->p.uc[from], &tx, 1);
}

static struct sdr_sim_link_stats stats(struct lanes *t, uint32_t from, uint32_t lane)
{
	struct sdr_sim_link_stats st;

	sdr_sim_link_stats(t->p.w, SDR_SIM_LANE(from, lane), 1 - from, &st);
	return st;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void source__addresses_of_one_host(void **state)
{
	struct sdr_uc_addr a, b, c;
	struct sdr_uc_info info;
	struct lanes t;

	(void)state;
	lanes_open(&t, 1, NULL);
	t.p.uc[0]->ops->info(t.p.uc[0], &info);
	assert_int_equal(info.sources, SRC);
	t.p.uc[0]->ops->sockname(t.p.uc[0], &a);
	addr_of(&t, 0, 0, &b);
	assert_true(sdr_uc_addr_equal(&a, &b));
	assert_true(sdr_uc_addr_equal(&a, &info.addr));
	for (uint32_t k = 1; k < SRC; k++) {
		addr_of(&t, 0, k, &b);
		assert_false(sdr_uc_addr_equal(&a, &b));
		assert_true(sdr_uc_addr_same_host(&a, &b));
		sdr_sim_addr_make(1 ^ k << SHIFT, &c);
		assert_true(sdr_uc_addr_equal(&b, &c));
		addr_of(&t, 1, k, &c);
		assert_false(sdr_uc_addr_same_host(&b, &c));
	}
	addr_of(&t, 0, SRC, &b);
	assert_int_equal(b.len, 0);
	lanes_close(&t);
}

static void source__as_many_as_were_asked_for(void **state)
{
	struct sdr_sim_world_attr wa = { .nodes = 3 };
	struct sdr_sim_world *w = sdr_sim_world_create(&wa);
	struct sdr_sim_node_attr na = { .sources = 0 };
	struct sdr_uc_info info;
	struct sdr_uc *uc;

	(void)state;
	assert_non_null(w);
	assert_int_equal(sdr_sim_node_open(w, 0, &na, &uc), 0);
	uc->ops->info(uc, &info);
	assert_int_equal(info.sources, 1);
	uc->ops->close(uc);
	na.sources = SDR_PATHS_MAX + 1;
	assert_int_equal(sdr_sim_node_open(w, 0, &na, &uc), -EINVAL);
	na.sources = SDR_PATHS_MAX;
	assert_int_equal(sdr_sim_node_open(w, 0, &na, &uc), 0);
	uc->ops->close(uc);
	/* another has what would be the number of a source */
	assert_int_equal(sdr_sim_node_rebind(w, 2, 2 ^ 3 << SHIFT), 0);
	assert_int_equal(sdr_sim_node_open(w, 1, &na, &uc), -EADDRINUSE);
	na.sources = 3;
	assert_int_equal(sdr_sim_node_open(w, 1, &na, &uc), 0);
	uc->ops->close(uc);
	na.sources = 1;
	assert_int_equal(sdr_sim_node_open(w, 1, &na, &uc), 0);
	assert_int_equal(sdr_sim_node_rebind(w, 2, 2 ^ 1 << SHIFT), 0); /* nobody's any more */
	uc->ops->close(uc);
	sdr_sim_world_destroy(w);
}

static void source__events_say_from_where_to_where(void **state)
{
	struct lanes t;

	(void)state;
	lanes_open(&t, 1, NULL);
	for (uint32_t i = 0; i < SRC; i++) {
		for (uint32_t j = 0; j < SRC; j++) {
			struct sdr_uc_addr from;

			ctl(&t, 0, i, j);
			pair_drain(&t.p);
			assert_int_equal(pair_poll(&t.p, 1), 1);
			assert_int_equal(t.p.ev[0].kind, SDR_UC_EV_CTL);
			assert_int_equal(t.p.ev[0].source, j);
			assert_memory_equal(t.p.ev[0].c.buf, msg, sizeof(msg));
			addr_of(&t, 0, i, &from);
			assert_true(sdr_uc_addr_equal(t.p.ev[0].c.from, &from));
			/* its own source's lane, from source 0 the other's */
			assert_int_equal(t.got[t.n - 1].lane, i ? i : j);
		}
	}
	ctl(&t, 0, SRC, 0); /* lost */
	assert_false(sdr_sim_world_step(t.p.w));
	lanes_close(&t);
}

static void source__moves_with_its_node_or_alone(void **state)
{
	const uint32_t at = 99;
	struct lanes t;

	(void)state;
	lanes_open(&t, 1, NULL);
	assert_int_equal(sdr_sim_node_rebind(t.p.w, 1, 1 ^ 2 << SHIFT), -EADDRINUSE);
	assert_int_equal(sdr_sim_node_rebind(t.p.w, SDR_SIM_LANE(1, SRC), at), -EINVAL);
	assert_int_equal(run(&t, 0, 1, 1), 1);
	assert_int_equal(sdr_sim_node_rebind(t.p.w, 1, at), 0);
	pair_drain(&t.p);
	assert_int_equal(t.n, 0); /* to the old address */
	for (uint32_t k = 0; k < SRC; k++) {
		struct sdr_uc_addr a, is;

		sdr_sim_addr_make(at ^ k << SHIFT, &a);
		addr_of(&t, 1, k, &is);
		assert_true(sdr_uc_addr_equal(&a, &is));
		ctl(&t, 0, 0, k);
	}
	pair_drain(&t.p);
	assert_int_equal(t.n, SRC);
	for (uint32_t k = 0; k < SRC; k++)
		assert_int_equal(t.got[k].to, at ^ k << SHIFT);
	t.n = 0;
	assert_int_equal(sdr_sim_node_rebind(t.p.w, SDR_SIM_LANE(1, 2), at), -EADDRINUSE);
	assert_int_equal(sdr_sim_node_rebind(t.p.w, SDR_SIM_LANE(1, 2), 777), 0);
	ctl(&t, 0, 0, 2);
	ctl(&t, 0, 0, 1);
	pair_drain(&t.p);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.got[0].to, 777);
	assert_int_equal(t.got[0].lane, 2); /* it is source 2 still */
	assert_int_equal(t.got[1].to, at ^ 1 << SHIFT);
	lanes_close(&t);
}

static bool translate(void *user, uint32_t node, uint32_t *from, uint32_t *to)
{
	struct lanes *t = user;

	(void)node;
	t->seen[0] = *from;
	t->seen[1] = *to;
	*from = 5000;
	return *to != (2 ^ 3 << SHIFT);
}

static void source__translators_see_it(void **state)
{
	struct sdr_sim_world_attr wa = { .trace = lanes_trace, .translate = translate };
	struct sdr_sim_node_attr na = { .mtu = PAIR_MTU, .sources = SRC };
	struct sdr_uc_addr from;
	struct lanes t;

	(void)state;
	memset(&t, 0, sizeof(t));
	wa.user = &t;
	pair_open(&t.p, &wa, &na);
	ctl(&t, 0, 2, 1);
	assert_int_equal(t.seen[0], 1 ^ 2 << SHIFT);
	assert_int_equal(t.seen[1], 2 ^ 1 << SHIFT);
	pair_drain(&t.p);
	assert_int_equal(pair_poll(&t.p, 1), 1);
	sdr_sim_addr_make(5000, &from);
	assert_true(sdr_uc_addr_equal(t.p.ev[0].c.from, &from));
	assert_int_equal(t.p.ev[0].source, 1);
	ctl(&t, 0, 2, 3);
	pair_drain(&t.p);
	assert_int_equal(pair_poll(&t.p, 1), 0);
	lanes_close(&t);
}

static void source__injected_to(void **state)
{
	struct lanes t;

	(void)state;
	lanes_open(&t, 1, NULL);
	assert_int_equal(sdr_sim_inject_ctl(t.p.w, 12345, SDR_SIM_LANE(1, 3), 0, msg, sizeof(msg)),
			 0);
	assert_int_equal(
		sdr_sim_inject_ctl(t.p.w, 12345, SDR_SIM_LANE(1, SRC), 0, msg, sizeof(msg)),
		-EINVAL);
	pair_drain(&t.p);
	assert_int_equal(pair_poll(&t.p, 1), 1);
	assert_int_equal(t.p.ev[0].source, 3);
	lanes_close(&t);
}

/* ---- ways of a QP ---------------------------------------------------------------------------- */

static void via__packets_go_by_it(void **state)
{
	struct sdr_sim_link_stats all;
	struct lanes t;

	(void)state;
	lanes_open(&t, 1, NULL);
	for (uint32_t k = 0; k < SRC; k++)
		assert_int_equal(run(&t, 0, k, 2), 1);
	pair_drain(&t.p);
	assert_int_equal(t.n, 2 * SRC);
	for (uint32_t i = 0; i < t.n; i++) {
		assert_int_equal(t.got[i].lane, i / 2);
		assert_int_equal(t.got[i].source, i / 2);
	}
	for (uint32_t k = 0; k < SRC; k++)
		assert_int_equal(stats(&t, 0, k).data, 2);
	sdr_sim_lanes_stats(t.p.w, 0, 1, &all);
	assert_int_equal(all.data, 2 * SRC);
	lanes_close(&t);
}

/* Who gets them knows which, where he has the way back: one in several datagrams, too. */
static void via__known_at_its_other_end(void **state)
{
	static uint8_t dst[64 * PAIR_MTU];
	const struct sdr_uc_ops *o;
	struct sdr_uc_addr to;
	struct lanes t;

	(void)state;
	lanes_open(&t, 1, NULL);
	o = t.p.uc[1]->ops;
	assert_int_equal(o->slot_bind(t.p.qp[1], 3, 0, dst, sizeof(dst), NULL), 0);
	addr_of(&t, 0, 3, &to);
	assert_int_equal(o->qp_via(t.p.qp[1], 2, 0, &to), 0); /* it leads elsewhere now */
	for (uint32_t cut = 0; cut < 2; cut++) {
		for (uint32_t k = 0; k < SRC; k++) {
			assert_int_equal(run(&t, 0, k, 1), 1);
			pair_drain(&t.p);
			assert_int_equal(pair_poll(&t.p, 1), 1);
			assert_int_equal(t.p.ev[0].kind, SDR_UC_EV_PLACED);
			assert_int_equal(t.p.ev[0].via, k == 2 ? 0 : k);
		}
		o->qp_path(t.p.qp[0], PAIR_MTU / 2 + SDR_SIM_DATA_OVER);
	}
	assert_true(pair_stats(&t.p, 1).pieces_rx >= 2 * SRC);
	lanes_close(&t);
}

/* Each is cut for itself, and none is longer than the QP's. */
static void via__size_of_its_own(void **state)
{
	static uint8_t dst[64 * PAIR_MTU];
	const uint32_t size[SRC] = { 0, PAIR_MTU / 2, 0, PAIR_MTU / 4 };
	const struct sdr_uc_ops *o;
	uint32_t pieces[2];
	struct lanes t;

	(void)state;
	lanes_open(&t, 1, NULL);
	o = t.p.uc[0]->ops;
	assert_int_equal(t.p.uc[1]->ops->slot_bind(t.p.qp[1], 3, 0, dst, sizeof(dst), NULL), 0);
	for (uint32_t k = 1; k < SRC; k++)
		if (size[k])
			o->via_path(t.p.qp[0], k, size[k] + SDR_SIM_DATA_OVER);
	for (uint32_t qp = 0; qp < 3; qp++) {
		for (uint32_t k = 0; k < SRC; k++) {
			uint32_t least = qp ? PAIR_MTU / qp : PAIR_MTU;

			least = size[k] && size[k] < least ? size[k] : least;
			pieces[0] = (uint32_t)pair_stats(&t.p, 1).pieces_rx;
			assert_int_equal(run(&t, 0, k, 2), 1);
			pair_drain(&t.p);
			assert_int_equal(pair_poll(&t.p, 1), 2);
			pieces[1] = (uint32_t)pair_stats(&t.p, 1).pieces_rx - pieces[0];
			assert_int_equal(pieces[1], least < PAIR_MTU ? 2 * PAIR_MTU / least : 0);
		}
		o->qp_path(t.p.qp[0], PAIR_MTU / (qp + 1) + SDR_SIM_DATA_OVER);
	}
	lanes_close(&t);
}

static void via__set_again_or_never(void **state)
{
	const struct sdr_uc_ops *o;
	struct sdr_uc_addr to, v6 = { .len = 23, .b = { 6 } };
	struct lanes t;

	(void)state;
	lanes_open(&t, 1, NULL);
	o = t.p.uc[0]->ops;
	addr_of(&t, 1, 0, &to);
	assert_int_equal(o->qp_via(t.p.qp[0], 0, 0, &to), -EINVAL);
	assert_int_equal(o->qp_via(t.p.qp[0], SDR_PATHS_MAX, 0, &to), -EINVAL);
	assert_int_equal(o->qp_via(t.p.qp[0], 1, SRC, &to), -EINVAL);
	assert_int_equal(o->qp_via(t.p.qp[0], 1, 0, &v6), -EAFNOSUPPORT);
	assert_int_equal(run(&t, 0, SRC, 1), 1); /* never set: lost */
	assert_int_equal(run(&t, 0, SDR_PATHS_MAX, 1), 1);
	assert_false(sdr_sim_world_step(t.p.w));
	/* ways beyond the number of sources: from one to several */
	assert_int_equal(o->qp_via(t.p.qp[0], SDR_PATHS_MAX - 1, 3, &to), 0);
	assert_int_equal(run(&t, 0, SDR_PATHS_MAX - 1, 1), 1);
	addr_of(&t, 1, 2, &to);
	assert_int_equal(o->qp_via(t.p.qp[0], SDR_PATHS_MAX - 1, 0, &to), 0);
	assert_int_equal(run(&t, 0, SDR_PATHS_MAX - 1, 1), 1);
	o->qp_readdress(t.p.qp[0], &to); /* is nothing to it */
	assert_int_equal(run(&t, 0, 1, 1), 1);
	assert_int_equal(run(&t, 0, 0, 1), 1);
	pair_drain(&t.p);
	assert_int_equal(t.n, 4);
	assert_int_equal(t.got[0].lane, 3);
	assert_int_equal(t.got[0].source, 0);
	assert_int_equal(t.got[1].lane, 2);
	assert_int_equal(t.got[1].source, 2);
	assert_int_equal(t.got[2].lane, 1);
	assert_int_equal(t.got[2].source, 1);
	assert_int_equal(t.got[3].source, 2);
	lanes_close(&t);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void lane__delay_and_rate_of_its_own(void **state)
{
	struct sdr_sim_link first = { .delay_ns = 10 * MS, .rate_bps = 1000000000 };
	struct sdr_sim_link slow = { .delay_ns = 40 * MS, .rate_bps = 100000000 };
	struct sdr_sim_link got;
	struct lanes t;
	uint64_t t0;

	(void)state;
	lanes_open(&t, 1, &first);
	assert_int_equal(sdr_sim_link_set_both(t.p.w, SDR_SIM_LANE(0, 2), 1, &slow), 0);
	sdr_sim_link_get(t.p.w, SDR_SIM_LANE(1, 2), 0, &got);
	assert_int_equal(got.delay_ns, 40 * MS);
	sdr_sim_link_get(t.p.w, SDR_SIM_LANE(1, 1), 0, &got);
	assert_int_equal(got.delay_ns, 10 * MS);
	t0 = sdr_sim_world_now(t.p.w);
	for (uint32_t k = 0; k < 3; k++)
		run(&t, 0, k, 1);
	ctl(&t, 1, 2, 2);
	pair_drain(&t.p);
	assert_int_equal(t.n, 4);
	/* the lines of lanes 0 and 1 are two */
	for (uint32_t k = 0; k < 2; k++) {
		assert_int_equal(t.got[k].lane, k);
		assert_int_equal(t.got[k].at - t0, 10 * MS + PAIR_WIRE * 8);
	}
	for (uint32_t k = 2; k < 4; k++) {
		assert_int_equal(t.got[k].lane, 2);
		assert_true(t.got[k].at - t0 > 40 * MS && t.got[k].at - t0 < 41 * MS);
	}
	lanes_close(&t);
}

/* Until it is set itself, at once or later, lanes follow lane 0. */
static void lane__follows_lane_0(void **state)
{
	struct sdr_sim_link l = { .delay_ns = 10 * MS }, got;
	struct lanes t;

	(void)state;
	lanes_open(&t, 1, &l);
	run(&t, 0, 1, 1); /* it is there */
	l.delay_ns = 20 * MS;
	assert_int_equal(sdr_sim_link_set(t.p.w, SDR_SIM_LANE(0, 2), 1, &l), 0);
	l.delay_ns = 30 * MS;
	assert_int_equal(sdr_sim_link_set(t.p.w, 0, 1, &l), 0);
	assert_int_equal(sdr_sim_link_mtu(t.p.w, 0, 1, 700, true), 0);
	for (uint32_t k = 0; k < SRC; k++) {
		sdr_sim_link_get(t.p.w, SDR_SIM_LANE(0, k), 1, &got);
		assert_int_equal(got.delay_ns, k == 2 ? 20 * MS : 30 * MS);
		assert_int_equal(got.mtu, k == 2 ? 0 : 700);
	}
	l.delay_ns = 50 * MS;
	assert_int_equal(sdr_sim_link_set_at(t.p.w, 5 * MS, SDR_SIM_LANE(0, 3), 1, &l), 0);
	sdr_sim_world_run_until(t.p.w, 6 * MS);
	sdr_sim_link_get(t.p.w, SDR_SIM_LANE(0, 3), 1, &got);
	assert_int_equal(got.delay_ns, 50 * MS);
	sdr_sim_link_get(t.p.w, 0, 1, &got);
	assert_int_equal(got.delay_ns, 30 * MS);
	assert_int_equal(sdr_sim_link_set(t.p.w, SDR_SIM_LANE(0, SDR_PATHS_MAX), 1, &l), -EINVAL);
	assert_int_equal(sdr_sim_link_set(t.p.w, SDR_SIM_LANE(2, 1), 1, &l), -EINVAL);
	lanes_close(&t);
}

static void lane__loss_of_its_own(void **state)
{
	struct sdr_sim_link bad = { .loss = 0.5 };
	struct lanes t;

	(void)state;
	lanes_open(&t, 7, NULL);
	assert_int_equal(sdr_sim_link_set(t.p.w, SDR_SIM_LANE(0, 1), 1, &bad), 0);
	for (int i = 0; i < 10; i++)
		for (uint32_t k = 0; k < 3; k++)
			run(&t, 0, k, 64);
	pair_drain(&t.p);
	assert_int_equal(stats(&t, 0, 0).lost, 0);
	assert_int_equal(stats(&t, 0, 2).lost, 0);
	assert_true(stats(&t, 0, 1).lost > 260 && stats(&t, 0, 1).lost < 380);
	assert_int_equal(stats(&t, 0, 3).data, 0);
	lanes_close(&t);
}

/* Two lanes that lose alike do not lose the same. */
static void lane__luck_of_its_own(void **state)
{
	struct sdr_sim_link bad = { .loss = 0.5 };
	uint8_t kept[2][64] = { { 0 } };
	uint32_t same = 0;
	struct lanes t;

	(void)state;
	lanes_open(&t, 7, &bad);
	for (uint32_t i = 0; i < 64; i++) {
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t had = t.n;

			run(&t, 0, k, 1);
			pair_drain(&t.p);
			kept[k][i] = t.n != had;
		}
		same += kept[0][i] == kept[1][i];
	}
	assert_true(same > 16 && same < 48);
	lanes_close(&t);
}

static void lane__blackout_of_its_own(void **state)
{
	struct lanes t;

	(void)state;
	lanes_open(&t, 1, NULL);
	assert_int_equal(sdr_sim_blackout_both(t.p.w, SDR_SIM_LANE(0, 1), 1, 10 * MS, 20 * MS), 0);
	for (uint64_t at = 5; at <= 25; at += 10) {
		sdr_sim_world_run_until(t.p.w, at * MS);
		for (uint32_t k = 0; k < SRC; k++) {
			run(&t, 0, k, 1);
			ctl(&t, 1, k, k);
		}
	}
	pair_drain(&t.p);
	assert_int_equal(t.n, 2 * (3 * SRC - 1));
	assert_int_equal(stats(&t, 0, 1).blackout, 1);
	assert_int_equal(stats(&t, 1, 1).blackout, 1);
	for (uint32_t k = 0; k < SRC; k++)
		assert_int_equal(stats(&t, 0, k).blackout + stats(&t, 1, k).blackout,
				 k == 1 ? 2 : 0);
	lanes_close(&t);
}

/* Lanes 0 and 1 lead through one line, lane 2 through another, lane 3 nowhere. */
static void lane__lines(void **state)
{
	struct sdr_sim_line slow = { .rate_bps = 10000000 }, fast = { .rate_bps = 1000000000 };
	struct sdr_sim_line_stats st;
	struct lanes t;
	int line[3];

	(void)state;
	lanes_open(&t, 1, NULL);
	line[0] = sdr_sim_line_add(t.p.w, &slow);
	line[1] = sdr_sim_line_add(t.p.w, &fast);
	line[2] = sdr_sim_line_add(t.p.w, &fast);
	assert_int_equal(sdr_sim_link_line(t.p.w, SDR_SIM_LANE(0, 2), 1, (uint32_t)line[1]), 0);
	assert_int_equal(sdr_sim_link_line(t.p.w, SDR_SIM_LANE(0, 3), 1, (uint32_t)line[2]), 0);
	assert_int_equal(sdr_sim_link_line(t.p.w, 0, 1, (uint32_t)line[0]), 0);
	for (uint32_t k = 0; k < SRC; k++)
		run(&t, 0, k, 4);
	assert_int_equal(sdr_sim_link_line(t.p.w, 0, 1, (uint32_t)line[1]), -EINVAL);
	assert_int_equal(sdr_sim_line_backlog(t.p.w, (uint32_t)line[0]), 7 * PAIR_WIRE);
	assert_int_equal(sdr_sim_line_backlog(t.p.w, (uint32_t)line[1]), 3 * PAIR_WIRE);
	pair_drain(&t.p);
	assert_int_equal(t.n, 4 * SRC);
	for (int i = 0; i < 3; i++) {
		sdr_sim_line_stats(t.p.w, (uint32_t)line[i], &st);
		assert_int_equal(st.out, i ? 4 : 8);
	}
	for (uint32_t k = 0; k < SRC; k++)
		assert_int_equal(stats(&t, 0, k).line_out, 4);
	/* the slow one's packets are the last, those of lane 0 in front of those of lane 1 */
	for (uint32_t i = 8; i < 16; i++)
		assert_int_equal(t.got[i].lane, i / 4 - 2);
	lanes_close(&t);
}

static void lane__full_queue_of_its_own(void **state)
{
	struct sdr_sim_link l = { .rate_bps = 1000000,
				  .queue_bytes = 2 * PAIR_WIRE,
				  .block = true };
	struct lanes t;

	(void)state;
	lanes_open(&t, 1, &l);
	for (uint32_t k = 0; k < SRC; k++) {
		assert_int_equal(run(&t, 0, k, 1), 1);
		assert_int_equal(run(&t, 0, k, 1), 1);
		assert_int_equal(run(&t, 0, k, 1), 0);
	}
	pair_drain(&t.p);
	assert_int_equal(t.n, 2 * SRC);
	lanes_close(&t);
}

/* A lane's narrow middle is told to the source that met it, and is nothing to the others. */
static void lane__mtu_of_its_own(void **state)
{
	struct lanes t;
	struct sdr_uc_addr to;

	(void)state;
	lanes_open(&t, 1, NULL);
	assert_int_equal(sdr_sim_link_mtu(t.p.w, SDR_SIM_LANE(0, 2), 1, 600, true), 0);
	run(&t, 0, 1, 1);
	run(&t, 0, 2, 1);
	pair_drain(&t.p);
	assert_int_equal(stats(&t, 0, 1).drop_mtu, 0);
	assert_int_equal(stats(&t, 0, 2).drop_mtu, 1);
	assert_int_equal(pair_poll(&t.p, 0), 1);
	assert_int_equal(t.p.ev[0].kind, SDR_UC_EV_PATH);
	assert_int_equal(t.p.ev[0].source, 2);
	assert_int_equal(t.p.ev[0].path.bytes, 600);
	addr_of(&t, 1, 2, &to);
	assert_true(sdr_uc_addr_equal(t.p.ev[0].path.to, &to));
	assert_int_equal(t.p.uc[0]->ops->path_mtu(t.p.uc[0], &to), 600);
	addr_of(&t, 1, 1, &to);
	assert_int_equal(t.p.uc[0]->ops->path_mtu(t.p.uc[0], &to), 0);
	addr_of(&t, 1, 0, &to);
	assert_int_equal(t.p.uc[0]->ops->path_mtu(t.p.uc[0], &to), 0);
	lanes_close(&t);
}

struct raws {
	struct sdr_sim_world *w;
	uint64_t at[2];
};

static void raw_taken(void *user, const struct sdr_sim_raw *r)
{
	struct raws *s = user;

	s->at[r->a] = sdr_sim_world_now(s->w);
}

static void lane__packets_of_others(void **state)
{
	struct sdr_sim_world_attr wa = { .nodes = 2 };
	struct sdr_sim_link l = { .delay_ns = 3 * MS };
	struct raws s = { sdr_sim_world_create(&wa), { 0 } };
	struct sdr_sim_raw r = { .a = 1, .wire = 100 };
	uint64_t t0 = sdr_sim_world_now(s.w);

	(void)state;
	assert_int_equal(sdr_sim_raw_open(s.w, 1, raw_taken, &s), 0);
	assert_int_equal(sdr_sim_link_set(s.w, SDR_SIM_LANE(0, 5), 1, &l), 0);
	assert_int_equal(sdr_sim_raw_send(s.w, SDR_SIM_LANE(0, 5), 1, &r), 0);
	r.a = 0;
	assert_int_equal(sdr_sim_raw_send(s.w, 0, 1, &r), 0);
	assert_int_equal(sdr_sim_raw_send(s.w, SDR_SIM_LANE(0, SDR_PATHS_MAX), 1, &r), -EINVAL);
	while (sdr_sim_world_step(s.w))
		;
	assert_int_equal(s.at[0] - t0, 0);
	assert_int_equal(s.at[1] - t0, 3 * MS);
	sdr_sim_world_destroy(s.w);
}

/* ---- the same again -------------------------------------------------------------------------- */

/* A link that does everything there is, on n ways; the hashes of all, and of lane 0. */
static void play(uint64_t seed, uint32_t ways, uint64_t hash[2])
{
	struct sdr_sim_link l = { .rate_bps = 1000000000,
				  .delay_ns = 2 * MS,
				  .loss = 0.1,
				  .dup = 0.05,
				  .reorder = 0.1,
				  .reorder_ns = MS,
				  .jitter_ns = MS / 10,
				  .cross_bps = 100000000 };
	static struct lanes t;

	lanes_open(&t, seed, &l);
	for (int i = 0; i < 20; i++) {
		for (uint32_t k = 0; k < ways; k++)
			run(&t, 0, k, 8);
		sdr_sim_world_run_until(t.p.w, (uint64_t)(i + 2) * MS);
	}
	pair_drain(&t.p);
	hash[0] = t.p.hash;
	hash[1] = t.hash0;
	lanes_close(&t);
}

static void lane__same_seed_same_trace(void **state)
{
	uint64_t a[2], b[2];

	(void)state;
	play(5, SRC, a);
	play(5, SRC, b);
	assert_int_equal(a[0], b[0]);
	play(6, SRC, b);
	assert_int_not_equal(a[0], b[0]);
}

static void lane__others_are_nothing_to_lane_0(void **state)
{
	uint64_t a[2], b[2];

	(void)state;
	play(5, 1, a);
	play(5, SRC, b);
	assert_int_not_equal(a[0], b[0]);
	assert_int_equal(a[1], b[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(source__addresses_of_one_host),
		cmocka_unit_test(source__as_many_as_were_asked_for),
		cmocka_unit_test(source__events_say_from_where_to_where),
		cmocka_unit_test(source__moves_with_its_node_or_alone),
		cmocka_unit_test(source__translators_see_it),
		cmocka_unit_test(source__injected_to),
		cmocka_unit_test(via__packets_go_by_it),
		cmocka_unit_test(via__known_at_its_other_end),
		cmocka_unit_test(via__size_of_its_own),
		cmocka_unit_test(via__set_again_or_never),
		cmocka_unit_test(lane__delay_and_rate_of_its_own),
		cmocka_unit_test(lane__follows_lane_0),
		cmocka_unit_test(lane__loss_of_its_own),
		cmocka_unit_test(lane__luck_of_its_own),
		cmocka_unit_test(lane__blackout_of_its_own),
		cmocka_unit_test(lane__lines),
		cmocka_unit_test(lane__full_queue_of_its_own),
		cmocka_unit_test(lane__mtu_of_its_own),
		cmocka_unit_test(lane__packets_of_others),
		cmocka_unit_test(lane__same_seed_same_trace),
		cmocka_unit_test(lane__others_are_nothing_to_lane_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
