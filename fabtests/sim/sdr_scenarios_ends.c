/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Scenarios of the ends: receivers that stall, addresses that change, peers that die, restart and
 * close, handshakes under loss and flood, garbage.
 */
#include <malloc.h>
#include "scenarios.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

static void slow_rx__stalled_receiver_makes_no_storm(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct sdr_rel_stats st;
	uint64_t t0, t;

	(void)state;
	for (int bbr = 0; bbr < 2; bbr++) {
		wan(&c, 1, GBIT);
		c.node.rx_window = 4 * MB;
		c.rel.cc = bbr ? &sdr_cc_bbr : &sdr_cc_fixed;
		start(&sn, &c);
		warm(&sn);
		t0 = simnet_now(&sn);
		simnet_recv(&sn, 1, 0, 64 * MB);
		simnet_send(&sn, 0, 1, 64 * MB, 0);
		for (int i = 0; i < 3; i++) {
			simnet_run_for(&sn, 100 * MS_NS);
			sdr_sim_node_stall(sn.w, 1, simnet_now(&sn) + 200 * MS_NS);
			simnet_run_for(&sn, 200 * MS_NS);
		}
		simnet_run_all(&sn, 20 * S_NS);
		must(&sn);
		t = simnet_now(&sn) - t0;
		simnet_stats(&sn, &st);
		say("slow_rx %s: %.3f s, %llu packets for 16384, socket drops %llu\n",
		    bbr ? "bbr" : "fixed", ms(t) / 1e3, (unsigned long long)st.pkts_tx,
		    (unsigned long long)sdr_sim_node_rcvbuf_drops(sn.w, 1));
		assert_in_range(st.pkts_tx, 16384, 2 * 16384);
		assert_in_range(t, 0, ideal_ns(&sn, 64 * MB) + 600 * MS_NS + (bbr ? 3 : 1) * S_NS);
		done(&sn);
	}
}

static void small_rx_window__is_respected(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct sdr_rel_stats st;

	(void)state;
	wan(&c, 1, 10 * GBIT);
	c.node.rx_window = 212992;
	c.tick_ns = 200 * US_NS; /* at 10 Gbit/s 250 KB come between two polls */
	start(&sn, &c);
	warm(&sn);
	transfer(&sn, 16 * MB, 60 * S_NS);
	simnet_stats(&sn, &st);
	say("small_rx_window: %llu packets for 4096, socket drops %llu\n",
	    (unsigned long long)st.pkts_tx, (unsigned long long)sdr_sim_node_rcvbuf_drops(sn.w, 1));
	assert_in_range(st.pkts_tx, 4096, 4096 * 3 / 2);
	done(&sn);
}

static void rebind__address_changes_every_second(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct simnet_op *r[2], *s[2];
	uint64_t t0, ideal;
	uint32_t number = 100;

	(void)state;
	wan(&c, 1, GBIT / 10);
	start(&sn, &c);
	warm(&sn);
	t0 = simnet_now(&sn);
	r[0] = simnet_recv(&sn, 1, SIMNET_NOBODY, 64 * MB);
	s[0] = simnet_send(&sn, 0, 1, 64 * MB, 0);
	while (!sn.failed && sn.open && simnet_now(&sn) - t0 < 60 * S_NS) {
		simnet_run_for(&sn, S_NS);
		sdr_sim_node_rebind(sn.w, 0, number++);
	}
	must(&sn);
	assert_true(simnet_op_done(r[0]) && simnet_op_done(s[0]));
	ideal = ideal_ns(&sn, 64 * MB);
	say("rebind: %.3f s, ideal %.3f, %u addresses\n", ms(r[0]->done_ns - t0) / 1e3,
	    ms(ideal) / 1e3, number - 100);
	assert_in_range(r[0]->done_ns - t0, 0, ideal + (number - 100) * 8 * WAN_RTT);
	/* a packet from the last address, and the answer goes there */
	simnet_run_for(&sn, S_NS);
	simnet_recv(&sn, 1, SIMNET_NOBODY, 100);
	simnet_send(&sn, 0, 1, 100, 0);
	simnet_run_all(&sn, 5 * S_NS);
	sn.nodes[1].peers[0] = r[0]->cqe.peer;
	r[1] = simnet_recv(&sn, 0, SIMNET_NOBODY, 100000);
	s[1] = simnet_send(&sn, 1, 0, 100000, 0);
	simnet_run_all(&sn, 5 * S_NS);
	must(&sn);
	assert_true(simnet_op_ok(r[1]) && simnet_op_ok(s[1]));
	done(&sn);
}

static void peer_dead__error_within_the_timeout(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct simnet_wr w = { .kind = SDR_REL_SEND, .peer = 1, .len = 64 * MB, .may_fail = true };
	struct simnet_op *big, *small, *rma;
	uint64_t dead;

	(void)state;
	wan(&c, 1, GBIT);
	c.rel.timeout_ms = 3000;
	c.wo_len = MB;
	start(&sn, &c);
	warm(&sn);
	simnet_recv(&sn, 1, 0, 64 * MB);
	big = simnet_post(&sn, 0, &w);
	simnet_run_for(&sn, 100 * MS_NS);
	dead = simnet_now(&sn);
	simnet_crash(&sn, 1);
	w.len = 10;
	small = simnet_post(&sn, 0, &w);
	w.kind = SDR_REL_WRITE;
	w.rma_key = SIMNET_KEY_WO;
	w.len = 5000;
	rma = simnet_post(&sn, 0, &w);
	simnet_run_op(&sn, big, 4 * S_NS);
	simnet_run_op(&sn, small, S_NS);
	simnet_run_op(&sn, rma, S_NS);
	must(&sn);
	say("peer_dead: error after %.3f s: %s\n", ms(big->done_ns - dead) / 1e3,
	    sdr_rel_strerror(big->cqe.prov_err));
	assert_int_equal(big->cqe.prov_err, SDR_REL_ERR_STOPPED);
	assert_int_equal(small->cqe.prov_err, SDR_REL_ERR_STOPPED);
	assert_true(rma->cqe.err < 0);
	assert_non_null(strstr(sdr_rel_strerror(big->cqe.prov_err), "stopped answering"));
	assert_in_range(big->done_ns - dead, 2500 * MS_NS, 3500 * MS_NS);
	simnet_run_for(&sn, 60 * S_NS); /* and nothing more comes of it */
	done(&sn);
}

static void peer_dead__nobody_ever_answered(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct simnet_wr w = { .kind = SDR_REL_TSEND, .peer = 1, .len = 10, .may_fail = true };
	struct simnet_op *op;
	uint64_t t0;

	(void)state;
	wan(&c, 1, GBIT);
	c.rel.timeout_ms = 3000;
	start(&sn, &c);
	simnet_crash(&sn, 1);
	t0 = simnet_now(&sn);
	op = simnet_post(&sn, 0, &w);
	simnet_run_op(&sn, op, 4 * S_NS);
	must(&sn);
	assert_int_equal(op->cqe.prov_err, SDR_REL_ERR_NO_ANSWER);
	assert_in_range(op->done_ns - t0, 2900 * MS_NS, 3500 * MS_NS);
	done(&sn);
}

static void peer_restart__old_operations_fail_new_ones_work(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct simnet_wr w = { .kind = SDR_REL_SEND, .peer = 1, .len = 64 * MB, .may_fail = true };
	struct simnet_op *op, *again, *r;
	uint64_t t0;

	(void)state;
	wan(&c, 1, GBIT);
	start(&sn, &c);
	warm(&sn);
	simnet_recv(&sn, 1, 0, 64 * MB);
	op = simnet_post(&sn, 0, &w);
	simnet_run_for(&sn, 100 * MS_NS);
	simnet_crash(&sn, 1);
	assert_int_equal(simnet_boot(&sn, 1), 0);
	t0 = simnet_now(&sn);
	simnet_run_op(&sn, op, 31 * S_NS);
	must(&sn);
	say("peer_restart: noticed after %.3f s, reason %d\n", ms(op->done_ns - t0) / 1e3,
	    op->cqe.prov_err);
	assert_int_equal(op->cqe.prov_err, SDR_REL_ERR_RESTARTED);
	assert_in_range(op->done_ns - t0, 0, 10 * WAN_RTT);
	r = simnet_recv(&sn, 1, 0, 100000);
	again = simnet_send(&sn, 0, 1, 100000, 0);
	simnet_run_op(&sn, again, 2 * S_NS);
	simnet_run_op(&sn, r, 2 * S_NS);
	must(&sn);
	assert_true(simnet_op_ok(again) && simnet_op_ok(r));
	done(&sn);
}

static void peer_close__pending_operations_hear_of_it(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct simnet_wr w = { .kind = SDR_REL_SEND, .peer = 1, .len = 64 * MB, .may_fail = true };
	struct simnet_op *op;
	uint64_t t0;

	(void)state;
	wan(&c, 1, GBIT);
	start(&sn, &c);
	warm(&sn);
	simnet_recv(&sn, 1, 0, 64 * MB)->may_fail = true;
	op = simnet_post(&sn, 0, &w);
	simnet_run_for(&sn, 100 * MS_NS);
	t0 = simnet_now(&sn);
	simnet_shutdown(&sn, 1, 5 * S_NS);
	simnet_run_op(&sn, op, 5 * S_NS);
	must(&sn);
	say("peer_close: heard after %.3f s, reason %d\n", ms(op->done_ns - t0) / 1e3,
	    op->cqe.prov_err);
	assert_true(op->cqe.err < 0);
	assert_int_equal(op->cqe.prov_err, SDR_REL_ERR_CLOSED);
	assert_in_range(op->done_ns - t0, 0, 10 * WAN_RTT);
	done(&sn);
}

/* ---- handshake ------------------------------------------------------------------------------- */

static bool ctl_loss_filter(void *user, struct sdr_sim_packet *p)
{
	/* bit n - 1: the nth control datagram of node 0, bit 15 + n: of node 1 */
	uint32_t *mask = user;

	if (p->kind != SDR_SIM_CTL || p->nth > 16)
		return true;
	return !(*mask >> (p->nth - 1 + (p->src ? 16 : 0)) & 1);
}

static void handshake__any_loss_of_the_first_datagrams(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct simnet_op *r[2];
	uint64_t worst = 0, t0;

	(void)state;
	for (uint32_t a = 0; a < 16; a++) {
		for (uint32_t b = 0; b < 16; b++) {
			uint32_t mask = a | b << 16;

			wan(&c, 1 + a * 16 + b, GBIT);
			c.virtual_payload = false;
			c.filter = ctl_loss_filter;
			c.user = &mask;
			start(&sn, &c);
			t0 = simnet_now(&sn);
			for (uint32_t i = 0; i < 2; i++)
				r[i] = simnet_recv(&sn, i, 1 - i, 1000);
			simnet_send(&sn, 0, 1, 1000, 0);
			if (a & 1) /* both ends open */
				simnet_send(&sn, 1, 0, 1000, 0);
			else
				r[1]->ignore = 0;
			simnet_run_op(&sn, r[1], 10 * S_NS);
			if (a & 1)
				simnet_run_op(&sn, r[0], 10 * S_NS);
			if (sn.failed)
				print_message("lost: %x of node 0, %x of node 1\n", a, b);
			must(&sn);
			worst = r[1]->done_ns - t0 > worst ? r[1]->done_ns - t0 : worst;
			done(&sn);
		}
	}
	say("handshake: any of the first four datagrams lost either way: at most %.3f s\n",
	    ms(worst) / 1e3);
	assert_in_range(worst, 0, 4 * S_NS); /* four in a row: the backoff */
}

static void simultaneous_open__one_connection_serves_both(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct simnet_op *r[2];
	uint64_t t0;

	(void)state;
	for (uint64_t skew = 0; skew <= WAN_RTT; skew += WAN_RTT / 8) {
		wan(&c, 1 + skew, GBIT);
		c.virtual_payload = false;
		start(&sn, &c);
		t0 = simnet_now(&sn);
		for (uint32_t i = 0; i < 2; i++)
			r[i] = simnet_recv(&sn, i, 1 - i, 100000);
		simnet_send(&sn, 0, 1, 100000, 0);
		simnet_run_for(&sn, skew);
		simnet_send(&sn, 1, 0, 100000, 0);
		simnet_run_all(&sn, 5 * S_NS);
		must(&sn);
		for (uint32_t i = 0; i < 2; i++)
			assert_in_range(r[i]->done_ns - t0, 0, skew + 2 * WAN_RTT + 5 * MS_NS);
		simnet_run_for(&sn, S_NS);
		simnet_check_no_repair(&sn);
		done(&sn);
	}
}

struct flood {
	struct simnet *sn;
	uint8_t hello[2048];
	uint32_t len; /* of the captured HELLO */
	uint64_t out; /* wire bytes sent by node 1 to no node */
	uint64_t in;  /* wire bytes injected */
};

static bool flood_filter(void *user, struct sdr_sim_packet *p)
{
	struct flood *f = user;

	if (p->kind == SDR_SIM_CTL && p->src == 0 && !f->len && p->len <= sizeof(f->hello)) {
		f->len = p->len;
		memcpy(f->hello, sdr_sim_packet_payload(p), p->len);
	}
	return true;
}

static void flood_trace(void *user, uint64_t now, enum sdr_sim_what what,
			const struct sdr_sim_packet *p)
{
	struct flood *f = user;

	(void)now;
	if (what == SDR_SIM_T_NOROUTE && p->from == 2)
		f->out += p->wire;
}

static void flood__state_stays_bounded_and_a_peer_gets_in(void **state)
{
	static struct simnet sn;
	static struct flood f;
	struct simnet_cfg c;
	struct simnet_op *r = NULL;
	struct mallinfo2 before, after;
	uint64_t v;

	(void)state;
	memset(&f, 0, sizeof(f));
	f.sn = &sn;
	simnet_cfg_default(&c);
	c.nodes = 3;
	c.link.delay_ns = MS_NS;
	c.filter = flood_filter;
	c.on_trace = flood_trace;
	c.user = &f;
	start(&sn, &c);
	warm(&sn);
	assert_true(f.len > SDR_CLASS_LEN + 16);
	before = mallinfo2();
	for (uint32_t i = 0; i < 100000; i++) {
		for (int k = 0; k < 2; k++) { /* instance and connection id of another peer */
			v = simnet_rand(&sn);
			memcpy(f.hello + SDR_CLASS_LEN + 8 * k, &v, 8);
		}
		sdr_sim_inject_ctl(sn.w, 1000 + i, 1, simnet_below(&sn, 1000), f.hello, f.len);
		f.in += SDR_SIM_IP_UDP + SDR_CTL_OVERHEAD + f.len;
		if (i % 10 == 0)
			simnet_run_for(&sn, 10 * US_NS); /* a million a second */
		if (i == 50000)
			r = simnet_recv(&sn, 1, 2, 1000);
		if (i == 50000)
			simnet_send(&sn, 2, 1, 1000, 0);
		must(&sn);
	}
	simnet_run_op(&sn, r, S_NS);
	must(&sn);
	after = mallinfo2();
	say("flood: answers %.2f bytes per byte in, %lld KiB more memory\n",
	    (double)f.out / (double)f.in, (long long)(after.uordblks - before.uordblks) / 1024);
	assert_true(f.out <= 3 * f.in);
	assert_true((long long)(after.uordblks + after.hblkhd) -
			    (long long)(before.uordblks + before.hblkhd) <
		    24ll << 20);
	simnet_run_for(&sn, 30 * S_NS);
	transfer(&sn, 100000, 5 * S_NS);
	done(&sn);
}

/* ---- garbage --------------------------------------------------------------------------------- */

struct garbage {
	struct simnet *sn;
	uint8_t seen[64][4096];
	uint32_t len[64], from[64], to[64];
	uint32_t n;
};

static bool garbage_filter(void *user, struct sdr_sim_packet *p)
{
	struct garbage *g = user;
	uint32_t i = g->n % 64;

	if (p->kind == SDR_SIM_CTL && p->len <= 4096) {
		memcpy(g->seen[i], sdr_sim_packet_payload(p), p->len);
		g->len[i] = p->len;
		g->from[i] = p->from;
		g->to[i] = p->dst;
		g->n++;
	}
	return true;
}

/* mode 0: random bytes; 1: real datagrams damaged, without the connection id; 2: with it. */
static void garbage_run(int mode, uint32_t count)
{
	static struct simnet sn;
	static struct garbage g;
	struct simnet_cfg c;
	uint8_t b[4096];
	uint32_t len;

	memset(&g, 0, sizeof(g));
	g.sn = &sn;
	wan(&c, 7 + (uint64_t)mode, GBIT);
	c.link.delay_ns = MS_NS;
	c.virtual_payload = false;
	c.filter = garbage_filter;
	c.user = &g;
	c.ro_len = c.wo_len = MB;
	start(&sn, &c);
	warm(&sn);
	for (uint32_t k = 0; k < 8; k++) {
		simnet_recv(&sn, 1, 0, 2 * MB)->may_fail = mode == 2;
		simnet_send(&sn, 0, 1, 2 * MB, SDR_REL_F_DATA)->may_fail = mode == 2;
	}
	for (uint32_t i = 0; i < count && !sn.failed; i++) {
		uint32_t k = (uint32_t)simnet_below(&sn, g.n < 64 ? g.n : 64), to = g.to[k],
			 from = g.from[k];

		if (mode == 0) {
			len = (uint32_t)simnet_below(&sn, 300);
			for (uint32_t x = 0; x < len; x++)
				b[x] = (uint8_t)simnet_rand(&sn);
			if (simnet_chance(&sn, 0.8) && len >= SDR_CLASS_LEN)
				sdr_class_encode(b, SDR_CLASS_REL, (uint8_t)simnet_below(&sn, 8));
			to = i & 1;
			from = (uint32_t)simnet_below(&sn, 4) + 1;
		} else {
			len = g.len[k];
			memcpy(b, g.seen[k], len);
			if (simnet_chance(&sn, 0.2))
				len = (uint32_t)simnet_below(&sn, len + 1);
			for (uint64_t n = 1 + simnet_below(&sn, 4); n && len > 12; n--)
				b[12 + simnet_below(&sn, len - 12)] ^=
					(uint8_t)(1 + simnet_below(&sn, 255));
			if (mode == 1 && len >= 12)
				for (uint32_t x = SDR_CLASS_LEN; x < 12; x++)
					b[x] ^= (uint8_t)simnet_rand(&sn);
		}
		sdr_sim_inject_ctl(sn.w, from, to, simnet_below(&sn, 1000), b, len);
		if (i % 100 == 0)
			simnet_run_for(&sn, 100 * US_NS);
	}
	if (mode != 2) {
		simnet_run_all(&sn, 60 * S_NS);
		must(&sn);
		simnet_check_end(&sn);
	} else {
		simnet_run_for(&sn, S_NS);
		if (sn.failed && (strstr(sn.why, "I3") || strstr(sn.why, "I13")))
			must(&sn);
		sn.failed = false; /* with the connection id an attacker may end it, not more */
		simnet_check_memory(&sn, 1);
	}
	done(&sn);
}

static void garbage__random_datagrams_change_nothing(void **state)
{
	(void)state;
	garbage_run(0, 100000);
}

static void garbage__damaged_datagrams_without_connection_id(void **state)
{
	(void)state;
	garbage_run(1, 100000);
}

static void garbage__damaged_datagrams_with_connection_id_write_nowhere(void **state)
{
	(void)state;
	garbage_run(2, 30000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_rx__stalled_receiver_makes_no_storm),
		cmocka_unit_test(small_rx_window__is_respected),
		cmocka_unit_test(rebind__address_changes_every_second),
		cmocka_unit_test(peer_dead__error_within_the_timeout),
		cmocka_unit_test(peer_dead__nobody_ever_answered),
		cmocka_unit_test(peer_restart__old_operations_fail_new_ones_work),
		cmocka_unit_test(peer_close__pending_operations_hear_of_it),
		cmocka_unit_test(handshake__any_loss_of_the_first_datagrams),
		cmocka_unit_test(simultaneous_open__one_connection_serves_both),
		cmocka_unit_test(flood__state_stays_bounded_and_a_peer_gets_in),
		cmocka_unit_test(garbage__random_datagrams_change_nothing),
		cmocka_unit_test(garbage__damaged_datagrams_without_connection_id),
		cmocka_unit_test(garbage__damaged_datagrams_with_connection_id_write_nowhere),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
