/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The simulated engine: placement rule, unread queue, addresses, what it refuses. */
#include "test_sim_util.h"

static uint8_t src[8 * PAIR_MTU], dst[8 * PAIR_MTU];

static void fill(void)
{
	for (size_t i = 0; i < sizeof(src); i++)
		src[i] = (uint8_t)(i * 7 + i / 251);
	memset(dst, 0xee, sizeof(dst));
}

static int post1(struct pair *t, struct sdr_uc_tx tx)
{
	return t->uc[0]->ops->post(t->uc[0], &tx, 1);
}

static int bind1(struct pair *t, uint32_t slot, uint8_t gen, size_t len)
{
	return t->uc[1]->ops->slot_bind(t->qp[1], slot, gen, dst, len, NULL);
}

static void node__write_places_bytes_and_reports(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1, .link = { .delay_ns = 5000 } };
	struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	struct pair t;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	assert_int_equal(bind1(&t, 3, 2, 3000), 0);
	struct sdr_uc_tx tx = pair_write(&t, 0, 3, 2, 0, src, 3000);

	tx.channel = 1;
	assert_int_equal(post1(&t, tx), 1);
	assert_int_equal(pair_poll(&t, 1), 0); /* delay */
	uint64_t t0 = sdr_sim_world_now(t.w);

	assert_int_equal(sdr_sim_world_next(t.w), t0 + 5000);
	pair_drain(&t);
	assert_true(sdr_sim_node_pending(t.w, 1));
	assert_int_equal(t.uc[1]->ops->deadline(t.uc[1]), sdr_sim_world_now(t.w));
	assert_int_equal(pair_poll(&t, 1), 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(t.ev[i].kind, SDR_UC_EV_PLACED);
		assert_int_equal(t.ev[i].gen, 2);
		assert_int_equal(t.ev[i].channel, 1);
		assert_ptr_equal(t.ev[i].p.cookie, &t.qp[1]);
		assert_int_equal(sdr_imm_id(&split, t.ev[i].p.imm), 3);
		assert_int_equal(sdr_imm_off(&split, t.ev[i].p.imm), i);
		assert_int_equal(sdr_imm_user(&split, t.ev[i].p.imm), i + 1);
		assert_int_equal(t.ev[i].len, i < 2 ? PAIR_MTU : 3000 - 2 * PAIR_MTU);
	}
	assert_memory_equal(src, dst, 3000);
	assert_int_equal(dst[3000], 0xee);
	assert_int_equal(t.uc[1]->ops->deadline(t.uc[1]), UINT64_MAX);
	assert_int_equal(pair_stats(&t, 0).pkts_tx, 3);
	assert_int_equal(pair_stats(&t, 0).bytes_tx, 3000);
	assert_int_equal(pair_stats(&t, 1).pkts_rx, 3);
	pair_close(&t);
}

static void node__empty_packet_is_placed(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct pair t;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	assert_int_equal(bind1(&t, 0, 0, 0), 0);
	assert_int_equal(post1(&t, pair_write(&t, 0, 0, 0, 5, NULL, 0)), 1);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 1);
	assert_int_equal(t.ev[0].len, 0);
	pair_close(&t);
}

static void node__late_and_stray_packets_touch_nothing(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1, .link = { .delay_ns = 100 } };
	struct pair t;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	post1(&t, pair_write(&t, 0, 7, 0, 0, src, 100)); /* never bound */
	bind1(&t, 1, 0, 4096);
	post1(&t, pair_write(&t, 0, 1, 0, 0, src, 1024)); /* unbound while under way */
	bind1(&t, 2, 1, 4096);
	post1(&t, pair_write(&t, 0, 2, 0, 0, src, 1024)); /* another generation */
	bind1(&t, 3, 0, 1000);
	post1(&t, pair_write(&t, 0, 3, 0, 0, src, 1001)); /* one byte too long */
	pair_drain(&t);
	t.uc[1]->ops->slot_unbind(t.qp[1], 1);
	assert_int_equal(pair_poll(&t, 1), 0);
	for (size_t i = 0; i < sizeof(dst); i++)
		assert_int_equal(dst[i], 0xee);
	assert_int_equal(pair_stats(&t, 1).pkts_late, 3);
	assert_int_equal(pair_stats(&t, 1).pkts_bad, 1);
	pair_close(&t);
}

static void node__report_late_as_hardware(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct sdr_sim_node_attr na = { .mtu = 4096, .report_late = true };
	struct pair t;

	(void)state;
	fill();
	pair_open(&t, &wa, &na);
	bind1(&t, 2, 1, 4096);
	post1(&t, pair_write(&t, 0, 2, 0, 0, src, 1024));
	post1(&t, pair_write(&t, 0, 9, 3, 0, src, 1024));
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 2);
	assert_int_equal(t.ev[0].gen, 0);
	assert_int_equal(t.ev[1].gen, 3);
	assert_int_equal(dst[0], 0xee);
	assert_int_equal(pair_stats(&t, 1).pkts_late, 2);
	assert_int_equal(pair_stats(&t, 1).pkts_rx, 0);
	pair_close(&t);
}

struct forge {
	struct pair t;
	uint32_t n;
};

/* Spoils packet n in the n-th way. */
static bool forge_filter(void *user, struct sdr_sim_packet *p)
{
	struct forge *f = user;

	switch (f->n++) {
	case 0:
		p->rkey ^= 1;
		break;
	case 1:
		p->qpn ^= 0x100;
		break;
	case 2:
		p->qpn += 8;
		break; /* behind the last generation */
	case 3:
		p->va += 1;
		break;
	case 4:
		p->va += PAIR_MTU;
		break; /* another place than the immediate says */
	case 5:
		p->va += 1024 * PAIR_MTU;
		break; /* another slot */
	case 6:
		p->flags |= SDR_SIM_P_CORRUPT;
		break;
	case 7:
		p->va = UINT64_MAX;
		break;
	case 8:
		p->imm = UINT32_MAX;
		break;
	default:
		break;
	}
	return true;
}

static void forge_trace(void *user, uint64_t now, enum sdr_sim_what what,
			const struct sdr_sim_packet *p)
{
	(void)user;
	(void)now;
	(void)what;
	(void)p;
}

static void node__forged_packets_are_counted_and_refused(void **state)
{
	static struct forge f;
	struct sdr_sim_world_attr wa = {
		.seed = 1, .filter = forge_filter, .trace = forge_trace, .user = &f
	};

	(void)state;
	fill();
	f.n = 0;
	pair_open(&f.t, &wa, NULL);
	bind1(&f.t, 0, 0, sizeof(dst));
	bind1(&f.t, 1, 0, sizeof(dst));
	for (int i = 0; i < 9; i++)
		post1(&f.t, pair_write(&f.t, 0, 0, 0, 0, src, PAIR_MTU));
	pair_drain(&f.t);
	assert_int_equal(pair_poll(&f.t, 1), 0);
	assert_int_equal(pair_stats(&f.t, 1).pkts_bad, 9);
	assert_int_equal(dst[0], 0xee);
	post1(&f.t, pair_write(&f.t, 0, 0, 0, 0, src, PAIR_MTU));
	pair_drain(&f.t);
	assert_int_equal(pair_poll(&f.t, 1), 1);
	pair_close(&f.t);
}

static void node__control_carries_bytes_and_sender(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct pair t;
	uint8_t a[5] = "abcd", b[6] = "efghi";

	(void)state;
	pair_open(&t, &wa, NULL);
	assert_int_equal(pair_ctl(&t, 0, a, 5), 1);
	assert_int_equal(pair_ctl(&t, 0, b, 6), 1);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 2);
	assert_int_equal(t.ev[0].kind, SDR_UC_EV_CTL);
	assert_int_equal(t.ev[0].len, 5);
	assert_memory_equal(t.ev[0].c.buf, a, 5);
	assert_true(sdr_uc_addr_equal(t.ev[0].c.from, &t.addr[0]));
	assert_memory_equal(t.ev[1].c.buf, b, 6); /* both stay valid until the next poll */
	assert_memory_equal(t.ev[0].c.buf, a, 5);
	pair_close(&t);
}

static void node__data_behind_control_waits_for_the_next_poll(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct pair t;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	pair_ctl(&t, 0, "bind", 4);
	post1(&t, pair_write(&t, 0, 0, 0, 0, src, 100));
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 1);
	assert_int_equal(t.ev[0].kind, SDR_UC_EV_CTL);
	assert_true(sdr_sim_node_pending(t.w, 1));
	bind1(&t, 0, 0, 100); /* what the datagram asked for */
	assert_int_equal(pair_poll(&t, 1), 1);
	assert_int_equal(t.ev[0].kind, SDR_UC_EV_PLACED);
	assert_memory_equal(src, dst, 100);
	pair_close(&t);
}

static void node__rx_window_drops_beyond_it(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct sdr_sim_node_attr na = { .rx_window = 3 * PAIR_WIRE };
	struct pair t;

	(void)state;
	fill();
	pair_open(&t, &wa, &na);
	bind1(&t, 0, 0, sizeof(dst));
	post1(&t, pair_write(&t, 0, 0, 0, 0, src, 5 * PAIR_MTU));
	pair_drain(&t);
	assert_int_equal(sdr_sim_node_rcvbuf_drops(t.w, 1), 2);
	assert_int_equal(pair_poll(&t, 1), 3);
	post1(&t, pair_write(&t, 0, 0, 0, 3, src, 2 * PAIR_MTU)); /* reading made room */
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 2);
	pair_close(&t);
}

static void node__stall_stops_polling_for_a_while(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct pair t;
	uint64_t t0;

	(void)state;
	pair_open(&t, &wa, NULL);
	t0 = sdr_sim_world_now(t.w);
	sdr_sim_node_stall(t.w, 1, t0 + 1000);
	pair_ctl(&t, 0, "x", 1);
	sdr_sim_world_run_until(t.w, t0 + 999);
	assert_false(sdr_sim_node_pending(t.w, 1));
	assert_int_equal(pair_poll(&t, 1), 0);
	assert_int_equal(t.uc[1]->ops->deadline(t.uc[1]), t0 + 1000);
	assert_int_equal(pair_ctl(&t, 1, "y", 1), 0);
	sdr_sim_world_run_until(t.w, t0 + 1000);
	assert_int_equal(pair_poll(&t, 1), 1);
	pair_close(&t);
}

static void node__rebind_moves_the_address(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1, .link = { .delay_ns = 100 } };
	struct pair t;
	struct sdr_uc_addr moved;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	bind1(&t, 0, 0, 1024);
	assert_int_equal(sdr_sim_node_rebind(t.w, 1, 1), -EADDRINUSE);
	/* under way when the address changes: lost */
	post1(&t, pair_write(&t, 0, 0, 0, 0, src, 10));
	assert_int_equal(sdr_sim_node_rebind(t.w, 1, 99), 0);
	post1(&t, pair_write(&t, 0, 0, 0, 0, src, 10)); /* to the old address: lost */
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 0);
	sdr_sim_node_addr(t.w, 1, &moved);
	t.uc[0]->ops->qp_readdress(t.qp[0], &moved);
	post1(&t, pair_write(&t, 0, 0, 0, 0, src, 10));
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 1);
	pair_ctl(&t, 1, "x", 1);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 0), 1);
	assert_true(sdr_uc_addr_equal(t.ev[0].c.from, &moved));
	pair_close(&t);
}

static void node__restart_at_the_same_address_knows_no_old_qp(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1, .link = { .delay_ns = 100 } };
	struct pair t;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	post1(&t, pair_write(&t, 0, 0, 0, 0, src, 10));
	t.uc[1]->ops->qp_destroy(t.qp[1]);
	t.uc[1]->ops->close(t.uc[1]);
	t.qp[1] = NULL;
	pair_ctl(&t, 0, "x", 1); /* nobody there: lost on arrival */
	sdr_sim_world_run_until(t.w, sdr_sim_world_now(t.w) + 50);
	assert_int_equal(sdr_sim_node_open(t.w, 1, NULL, &t.uc[1]), 0);
	assert_int_equal(sdr_sim_node_open(t.w, 1, NULL, &t.uc[0]), -EBUSY);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 1);		 /* control */
	assert_int_equal(pair_stats(&t, 1).pkts_bad, 1); /* data for a QP of the past */
	pair_close(&t);
}

static void node__dead_node_is_silent(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1, .link = { .delay_ns = 100 } };
	struct pair t;

	(void)state;
	pair_open(&t, &wa, NULL);
	pair_ctl(&t, 0, "x", 1);
	sdr_sim_node_kill(t.w, 1, true);
	pair_ctl(&t, 1, "x", 1);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 0);
	assert_int_equal(pair_poll(&t, 0), 0);
	sdr_sim_node_kill(t.w, 1, false);
	pair_ctl(&t, 1, "x", 1);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 0), 1);
	pair_close(&t);
}

static void node__geometry_is_checked(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct sdr_uc_qp_attr a = pair_qp_attr(0), b;
	struct sdr_wire_qp_info other;
	struct sdr_uc_qp *qp;
	struct pair t;

	(void)state;
	pair_open(&t, &wa, NULL);
	b = a;
	b.channels = 0;
	assert_int_equal(t.uc[0]->ops->qp_create(t.uc[0], &b, &qp), -EINVAL);
	b = a;
	b.generations = SDR_GENERATIONS_MAX + 1;
	assert_int_equal(t.uc[0]->ops->qp_create(t.uc[0], &b, &qp), -EINVAL);
	b = a;
	b.mtu = SDR_MTU_DEFAULT * 2;
	assert_int_equal(t.uc[0]->ops->qp_create(t.uc[0], &b, &qp), -EINVAL);
	b = a;
	b.max_msg = 1024 * PAIR_MTU + 1;
	assert_int_equal(t.uc[0]->ops->qp_create(t.uc[0], &b, &qp), -EINVAL);
	b = a;
	b.max_msg = ((uint64_t)PAIR_MTU << 18) + PAIR_MTU;
	assert_int_equal(t.uc[0]->ops->qp_create(t.uc[0], &b, &qp), -EINVAL);
	b = a;
	b.split.user_bits = 3;
	assert_int_equal(t.uc[0]->ops->qp_create(t.uc[0], &b, &qp), -EINVAL);
	other = t.info[1];
	other.mtu /= 2;
	assert_int_equal(t.uc[0]->ops->qp_connect(t.qp[0], &other, NULL), -EPROTO);
	other = t.info[1];
	other.addr_len = 0;
	assert_int_equal(t.uc[0]->ops->qp_connect(t.qp[0], &other, NULL), -EDESTADDRREQ);
	assert_int_equal(t.uc[0]->ops->qp_connect(t.qp[0], &other, &t.addr[1]), 0);
	assert_int_equal(t.uc[1]->ops->slot_bind(t.qp[1], 1024, 0, dst, 1, NULL), -EINVAL);
	assert_int_equal(t.uc[1]->ops->slot_bind(t.qp[1], 0, 0, dst, 1024 * PAIR_MTU + 1, NULL),
			 -EINVAL);
	pair_close(&t);
}

static void node__many_qps_come_and_go(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct sdr_uc_qp_attr a = pair_qp_attr(0);
	struct sdr_uc_qp *qp[500];
	struct pair t;

	(void)state;
	fill();
	a.split = (struct sdr_imm_split){ 4, 24, 4 };
	pair_open(&t, &wa, NULL);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 500; i++) {
			a.rand[0] = 1000 + (uint64_t)i;
			assert_int_equal(t.uc[1]->ops->qp_create(t.uc[1], &a, &qp[i]), 0);
		}
		for (int i = 0; i < 500; i++) {
			int j = (i * 7 + round) % 500;

			t.uc[1]->ops->qp_destroy(qp[j]);
			bind1(&t, 0, 0, 1024); /* the first QP is still found */
			post1(&t, pair_write(&t, 0, 0, 0, 0, src, 10));
			pair_drain(&t);
			assert_int_equal(pair_poll(&t, 1), 1);
		}
	}
	pair_close(&t);
}

static void node__virtual_payload_touches_no_memory(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1, .virtual_payload = true };
	struct sdr_uc_info info;
	struct pair t;

	(void)state;
	fill();
	pair_open(&t, &wa, NULL);
	t.uc[0]->ops->info(t.uc[0], &info);
	assert_true(info.no_bytes);
	t.uc[1]->ops->slot_bind(t.qp[1], 0, 0, (void *)(uintptr_t)64, 8 * PAIR_MTU, NULL);
	post1(&t, pair_write(&t, 0, 0, 0, 0, (const uint8_t *)(uintptr_t)64, 8 * PAIR_MTU));
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 8);
	pair_close(&t);
	wa.virtual_payload = false;
	pair_open(&t, &wa, NULL);
	t.uc[0]->ops->info(t.uc[0], &info);
	assert_false(info.no_bytes);
	pair_close(&t);
}

/*
 * ---- rkeyed nodes -----------------------------------------------------------------------------
 */

static struct sdr_uc_grant grant1(struct pair *t, size_t at, size_t len)
{
	struct sdr_uc_grant g;

	assert_int_equal(t->uc[1]->ops->grant(t->qp[1], dst + at, len, NULL, NULL, &g), 0);
	assert_non_null(g.impl);
	return g;
}

static struct sdr_uc_tx keyed1(struct pair *t, const struct sdr_uc_grant *g, uint32_t slot,
			       uint32_t first, uint32_t len)
{
	struct sdr_uc_tx tx = pair_write(t, 0, slot, 0, first, src, len);

	tx.flags = SDR_UC_F_RKEYED;
	tx.w.va = g->va;
	tx.w.rkey = g->rkey;
	return tx;
}

static const struct sdr_sim_node_attr rkeyed_attr[2] = { { .rkeyed = SDR_SIM_RKEYED_MR },
							 { .rkeyed = SDR_SIM_RKEYED_ROOT } };

static void keyed__says_so_and_grants_differ(void **state)
{
	static const char *const late[2] = { "mr", "root" };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct sdr_sim_world_attr wa = { .seed = 1 };
		struct sdr_uc_grant a, b;
		struct sdr_uc_info info;
		uint64_t made, ended;
		struct pair t;

		pair_open(&t, &wa, &rkeyed_attr[k]);
		t.uc[1]->ops->info(t.uc[1], &info);
		assert_true(info.rkeyed);
		assert_string_equal(info.late, late[k]);
		assert_int_equal(t.info[1].flags, SDR_QP_F_RKEYED);
		a = grant1(&t, 0, 100);
		b = grant1(&t, 0, 100);
		assert_true(a.va != b.va);
		assert_int_equal(a.rkey == b.rkey, k);
		t.uc[1]->ops->grant_end(t.qp[1], &a);
		assert_null(a.impl);
		t.uc[1]->ops->grant_end(t.qp[1], &a); /* nothing left to end */
		sdr_sim_node_grants(t.w, 1, &made, &ended);
		assert_int_equal(made, 2);
		assert_int_equal(ended, 1);
		assert_int_equal(pair_stats(&t, 1).grants, 2);
		pair_close(&t); /* takes b with it */
	}
}

static void keyed__writes_go_to_the_grant_at_arrival(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct sdr_sim_world_attr wa = { .seed = 1 };
		struct sdr_uc_grant g;
		struct pair t;

		fill();
		pair_open(&t, &wa, &rkeyed_attr[k]);
		g = grant1(&t, 10, 3000);
		bind1(&t, 3, 0, 3000);
		assert_int_equal(post1(&t, keyed1(&t, &g, 3, 0, 3000)), 1);
		pair_drain(&t);
		assert_memory_equal(dst + 10, src, 3000); /* nobody has polled */
		assert_int_equal(dst[9], 0xee);
		assert_int_equal(dst[3010], 0xee);
		assert_int_equal(pair_poll(&t, 1), 3);
		assert_int_equal(t.ev[2].kind, SDR_UC_EV_PLACED);
		assert_int_equal(t.ev[2].len, 3000 - 2 * PAIR_MTU);
		assert_int_equal(pair_stats(&t, 1).pkts_rx, 3);
		t.uc[1]->ops->grant_end(t.qp[1], &g);
		pair_close(&t);
	}
}

static void keyed__packet_ahead_of_its_bind_waits_behind_the_datagram(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct sdr_uc_grant g;
	struct pair t;

	(void)state;
	fill();
	pair_open(&t, &wa, &rkeyed_attr[0]);
	g = grant1(&t, 0, 200);
	pair_ctl(&t, 0, "bind", 4);
	post1(&t, keyed1(&t, &g, 0, 0, 100));
	pair_drain(&t);
	assert_memory_equal(dst, src, 100); /* the device does not ask for slots */
	assert_int_equal(pair_poll(&t, 1), 1);
	assert_int_equal(t.ev[0].kind, SDR_UC_EV_CTL);
	bind1(&t, 0, 0, 100);
	assert_int_equal(pair_poll(&t, 1), 1);
	assert_int_equal(t.ev[0].kind, SDR_UC_EV_PLACED);
	post1(&t, keyed1(&t, &g, 7, 0, 50)); /* a slot that nobody binds */
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 0);
	assert_int_equal(pair_stats(&t, 1).pkts_late, 1);
	assert_int_equal(pair_stats(&t, 1).pkts_rx, 1);
	t.uc[1]->ops->grant_end(t.qp[1], &g);
	pair_close(&t);
}

static void keyed__after_the_end_nothing_is_written(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct sdr_sim_world_attr wa = { .seed = 1, .link = { .delay_ns = 100 } };
		struct sdr_uc_grant g, next;
		struct pair t;

		fill();
		pair_open(&t, &wa, &rkeyed_attr[k]);
		g = grant1(&t, 0, PAIR_MTU);
		bind1(&t, 0, 0, PAIR_MTU);
		post1(&t, keyed1(&t, &g, 0, 0, PAIR_MTU)); /* under way when the grant ends */
		t.uc[1]->ops->grant_end(t.qp[1], &g);
		next = grant1(&t, 0, PAIR_MTU); /* the same bytes, granted anew */
		pair_drain(&t);
		for (size_t i = 0; i < sizeof(dst); i++)
			assert_int_equal(dst[i], 0xee);
		assert_int_equal(pair_poll(&t, 1), k); /* the NULL key completes, no key does not */
		assert_int_equal(pair_stats(&t, 1).pkts_late, 1);
		assert_int_equal(pair_stats(&t, 1).pkts_rx, 0);
		t.uc[1]->ops->grant_end(t.qp[1], &next);
		pair_close(&t);
	}
}

static void keyed__bounds_keys_and_kinds_are_checked(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct sdr_sim_world_attr wa = { .seed = 1 };
		struct sdr_uc_grant g, off;
		struct sdr_uc_tx tx;
		struct pair t;

		fill();
		pair_open(&t, &wa, &rkeyed_attr[k]);
		g = grant1(&t, 0, 1000);
		bind1(&t, 0, 0, sizeof(dst));
		post1(&t, keyed1(&t, &g, 0, 0, 1001)); /* a byte too long */
		post1(&t, keyed1(&t, &g, 0, 1, 1));    /* behind the end */
		off = g;
		off.va--; /* in front */
		post1(&t, keyed1(&t, &off, 0, 0, 10));
		tx = keyed1(&t, &g, 0, 0, 10);
		tx.flags = SDR_UC_F_CORRUPT | SDR_UC_F_RKEYED;
		post1(&t, tx);
		post1(&t, pair_write(&t, 0, 0, 0, 0, src, 10)); /* root key and slot: not here */
		pair_drain(&t);
		assert_int_equal(pair_poll(&t, 1), 0);
		assert_int_equal(pair_stats(&t, 1).pkts_bad, 5);
		off = g;
		off.rkey ^= 1; /* MR: no such key, as if ended; ROOT: not the root key */
		post1(&t, keyed1(&t, &off, 0, 0, 10));
		pair_drain(&t);
		assert_int_equal(pair_poll(&t, 1), 0);
		assert_int_equal(pair_stats(&t, 1).pkts_bad, 5 + k);
		assert_int_equal(pair_stats(&t, 1).pkts_late, 1 - k);
		for (size_t i = 0; i < sizeof(dst); i++)
			assert_int_equal(dst[i], 0xee);
		t.uc[1]->ops->grant_end(t.qp[1], &g);
		pair_close(&t);
	}
}

static void keyed__grants_run_out_and_come_back(void **state)
{
	struct sdr_sim_node_attr na = { .rkeyed = SDR_SIM_RKEYED_MR, .grants_max = 2 };
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct sdr_uc_grant g[2], more;
	struct pair t;

	(void)state;
	pair_open(&t, &wa, &na);
	g[0] = grant1(&t, 0, 10);
	g[1] = grant1(&t, 10, 10);
	assert_int_equal(t.uc[1]->ops->grant(t.qp[1], dst, 10, NULL, NULL, &more), -EAGAIN);
	assert_null(more.impl);
	t.uc[1]->ops->grant_end(t.qp[1], &g[0]);
	more = grant1(&t, 0, 10);
	t.uc[1]->ops->grant_end(t.qp[1], &more);
	t.uc[1]->ops->grant_end(t.qp[1], &g[1]);
	pair_close(&t);
}

/* An rkeyed node and one that is not: a device and a socket. */
static void keyed__mixed_pair_works_both_ways(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct sdr_sim_world_attr wa = { .seed = 1, .nodes = 2 };
		struct sdr_uc_grant g;
		struct sdr_uc_tx tx;
		struct pair t;

		fill();
		pair_open(&t, &wa, NULL);
		t.uc[1]->ops->qp_destroy(t.qp[1]);
		t.uc[1]->ops->close(t.uc[1]);
		assert_int_equal(sdr_sim_node_open(t.w, 1, &rkeyed_attr[k], &t.uc[1]), 0);
		struct sdr_uc_qp_attr a = pair_qp_attr(1);

		assert_int_equal(t.uc[1]->ops->qp_create(t.uc[1], &a, &t.qp[1]), 0);
		t.uc[1]->ops->qp_info(t.qp[1], &t.info[1]);
		for (int i = 0; i < 2; i++)
			assert_int_equal(t.uc[i]->ops->qp_connect(t.qp[i], &t.info[1 - i], NULL),
					 0);
		g = grant1(&t, 0, 1000);
		bind1(&t, 0, 0, 1000);
		post1(&t, keyed1(&t, &g, 0, 0, 1000)); /* socket to device */
		pair_drain(&t);
		assert_int_equal(pair_poll(&t, 1), 1);
		assert_memory_equal(dst, src, 1000);
		t.uc[1]->ops->grant_end(t.qp[1], &g);
		assert_int_equal(t.uc[0]->ops->grant(t.qp[0], dst, 10, NULL, NULL, &g),
				 -EOPNOTSUPP);
		assert_int_equal(t.uc[0]->ops->slot_bind(t.qp[0], 5, 0, dst + 4096, 1000, NULL), 0);
		tx = pair_write(&t, 1, 5, 0, 0, src, 1000); /* device to socket: slots as ever */
		assert_int_equal(t.uc[1]->ops->post(t.uc[1], &tx, 1), 1);
		tx = pair_write(&t, 1, 5, 0, 0, src, 10);
		tx.flags = SDR_UC_F_RKEYED; /* keys mean nothing there */
		assert_int_equal(t.uc[1]->ops->post(t.uc[1], &tx, 1), 1);
		pair_drain(&t);
		assert_int_equal(pair_poll(&t, 0), 1);
		assert_memory_equal(dst + 4096, src, 1000);
		assert_int_equal(pair_stats(&t, 0).pkts_bad, 1);
		pair_close(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node__write_places_bytes_and_reports),
		cmocka_unit_test(node__empty_packet_is_placed),
		cmocka_unit_test(node__late_and_stray_packets_touch_nothing),
		cmocka_unit_test(node__report_late_as_hardware),
		cmocka_unit_test(node__forged_packets_are_counted_and_refused),
		cmocka_unit_test(node__control_carries_bytes_and_sender),
		cmocka_unit_test(node__data_behind_control_waits_for_the_next_poll),
		cmocka_unit_test(node__rx_window_drops_beyond_it),
		cmocka_unit_test(node__stall_stops_polling_for_a_while),
		cmocka_unit_test(node__rebind_moves_the_address),
		cmocka_unit_test(node__restart_at_the_same_address_knows_no_old_qp),
		cmocka_unit_test(node__dead_node_is_silent),
		cmocka_unit_test(node__geometry_is_checked),
		cmocka_unit_test(node__many_qps_come_and_go),
		cmocka_unit_test(node__virtual_payload_touches_no_memory),
		cmocka_unit_test(keyed__says_so_and_grants_differ),
		cmocka_unit_test(keyed__writes_go_to_the_grant_at_arrival),
		cmocka_unit_test(keyed__packet_ahead_of_its_bind_waits_behind_the_datagram),
		cmocka_unit_test(keyed__after_the_end_nothing_is_written),
		cmocka_unit_test(keyed__bounds_keys_and_kinds_are_checked),
		cmocka_unit_test(keyed__grants_run_out_and_come_back),
		cmocka_unit_test(keyed__mixed_pair_works_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
