/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Scenarios of rkeyed nodes (devices): what a grant costs on a long path, and that none outlives
 * its operation, whatever the path, the peer or the caller does.  Each run ends with the bench's
 * own demand that every grant that was made has ended.
 */
#include "rel/bulk/sdr_scheme.h"
#include "scenarios.h"

#define SIZE (64 * MB)

static const uint8_t kinds[] = { SDR_SIM_RKEYED_MR, SDR_SIM_RKEYED_ROOT };

static uint64_t grants_open(const struct simnet *sn, uint32_t node)
{
	uint64_t made, ended;

	sdr_sim_node_grants(sn->w, node, &made, &ended);
	return made - ended;
}

static struct simnet_op *post(struct simnet *sn, uint32_t node, uint8_t kind, uint64_t len)
{
	struct simnet_wr w = { .kind = kind, .peer = 1 - node, .len = len, .may_fail = true };

	w.rma_key = kind == SDR_REL_WRITE  ? SIMNET_KEY_WO
		    : kind == SDR_REL_READ ? SIMNET_KEY_RO
					   : 0;
	return simnet_post(sn, node, &w);
}

/* ---- what it costs --------------------------------------------------------------------------- */

static uint64_t one(uint8_t k0, uint8_t k1, uint8_t kind)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct simnet_op *op;
	uint64_t t0, t;

	wan(&c, 1, 10 * GBIT);
	c.rkeyed[0] = k0;
	c.rkeyed[1] = k1;
	c.ro_len = c.wo_len = SIZE;
	start(&sn, &c);
	warm(&sn);
	t0 = simnet_now(&sn);
	if (kind == SDR_REL_SEND) {
		t = transfer(&sn, SIZE, 10 * S_NS);
	} else {
		op = post(&sn, 0, kind, SIZE);
		simnet_run_op(&sn, op, 10 * S_NS);
		must(&sn);
		assert_true(simnet_op_ok(op));
		t = op->done_ns - t0;
	}
	simnet_run_for(&sn, S_NS);
	simnet_check_no_repair(&sn);
	done(&sn);
	return t;
}

static void clean__a_send_to_a_device_costs_one_round_trip_a_read_none(void **state)
{
	const uint64_t slack = WAN_RTT / 50;

	(void)state;
	for (int k = 0; k < 2; k++) {
		for (int both = 0; both < 2; both++) {
			uint8_t other = both ? kinds[k] : SDR_SIM_RKEYED_NONE;
			uint64_t send = one(other, 0, SDR_REL_SEND),
				 write = one(other, 0, SDR_REL_WRITE);
			uint64_t read = one(0, other, SDR_REL_READ), ks, kw, kr;

			ks = one(other, kinds[k], SDR_REL_SEND);
			kw = one(other, kinds[k], SDR_REL_WRITE);
			kr = one(kinds[k], other, SDR_REL_READ);
			say("clean: send %.3f ms, rkeyed %.3f; write %.3f, rkeyed %.3f; read %.3f, rkeyed %.3f\n",
			    ms(send), ms(ks), ms(write), ms(kw), ms(read), ms(kr));
			assert_in_range(ks, send + WAN_RTT - slack, send + WAN_RTT + slack);
			assert_in_range(kw, write + WAN_RTT - slack, write + WAN_RTT + slack);
			assert_in_range(kr, read - slack, read + slack);
		}
	}
}

/* ---- with keys ahead ------------------------------------------------------------------------- */

/* 1 MiB messages or writes one by one, as a node of this kind gets them: ms for each, warm. */
static double warm_each(uint8_t key, uint8_t kind, uint64_t len, double loss,
			const struct sdr_scheme_ops *scheme)
{
	struct sdr_rel_stats st;
	static struct simnet sn;
	const uint32_t n = loss > 0 ? 200 : 10;
	struct simnet_cfg c;
	struct simnet_op *op;
	uint64_t t0 = 0, t = 0;

	wan(&c, 1, GBIT);
	c.rkeyed[1] = key;
	c.link.loss = loss;
	c.rel.scheme = scheme;
	c.rel.max_overhead = 0.5;
	c.wo_len = (n + 2) * len;
	start(&sn, &c);
	warm(&sn);
	for (uint32_t i = 0; i <= n; i++) {
		t0 = simnet_now(&sn);
		if (kind == SDR_REL_SEND) {
			simnet_recv(&sn, 1, 0, len);
			op = simnet_send(&sn, 0, 1, len, 0);
		} else {
			op = post(&sn, 0, kind, len);
		}
		simnet_run_op(&sn, op, 10 * S_NS);
		must(&sn);
		assert_true(simnet_op_ok(op));
		t += i ? op->done_ns - t0 : 0; /* the first one shows that keys are wanted */
		simnet_run_for(&sn, WAN_RTT);
	}
	simnet_stats(&sn, &st);
	if (scheme->plan)
		assert_true(st.parity_tx > 10 * n && st.chunks_fec > n / 4);
	done(&sn);
	return (double)t / 1e6 / n;
}

static void warm__a_message_to_a_device_costs_what_one_to_a_socket_does(void **state)
{
	static const uint8_t kind[] = { SDR_REL_SEND, SDR_REL_WRITE };
	static const double loss[] = { 0, 0.001, 0.01 };

	(void)state;
	for (int i = 0; i < 6; i++) {
		double soft = warm_each(0, kind[i & 1], MB, loss[i / 2], &sdr_scheme_sr);

		for (int k = 0; k < 2; k++) {
			double dev =
				warm_each(kinds[k], kind[i & 1], MB, loss[i / 2], &sdr_scheme_sr);

			say("warm: %s of 1 MiB, loss %g: %.3f ms, to a device %.3f, ratio %.3f\n",
			    i & 1 ? "write" : "message", loss[i / 2], soft, dev, dev / soft);
			if (loss[i / 2] == 0)
				assert_true(dev <= 1.01 * soft);
			assert_true(dev <= 1.05 * soft);
		}
	}
}

/* Parity lies behind the data in their berth, or, where their head has that, alone. */
static void warm__parity_to_a_device_is_worth_what_it_is_to_a_socket(void **state)
{
	static const uint8_t kind[] = { SDR_REL_SEND, SDR_REL_WRITE };
	static const uint64_t len[] = { MB, 6 * MB };

	(void)state;
	for (int i = 0; i < 4; i++) {
		double soft = warm_each(0, kind[i & 1], len[i / 2], 0.01, &sdr_scheme_hybrid);

		for (int k = 0; k < 2; k++) {
			double dev = warm_each(kinds[k], kind[i & 1], len[i / 2], 0.01,
					       &sdr_scheme_hybrid);

			say("warm: hybrid %s of %d MiB, loss 0.01: %.3f ms, to a device %.3f, ratio %.3f\n",
			    i & 1 ? "write" : "message", (int)(len[i / 2] / MB), soft, dev,
			    dev / soft);
			assert_true(dev <= 1.03 * soft);
		}
	}
}

/* ---- how it ends ----------------------------------------------------------------------------- */

struct watch {
	struct simnet *sn;
	uint32_t seen;
	uint64_t most; /* grants open while a completion was reported */
};

static void watch_done(void *user, struct simnet_op *op)
{
	struct watch *w = user;
	uint64_t n = grants_open(w->sn, op->node);

	w->seen++;
	w->most = n > w->most ? n : w->most;
}

/*
 * One operation at a time: when its completion is reported, its buffer belongs to none but the
 * caller's.
 */
static void ends__before_the_completion_is_reported(void **state)
{
	static struct simnet sn;
	static const uint8_t op[] = { SDR_REL_SEND, SDR_REL_WRITE, SDR_REL_READ };
	struct watch w = { .sn = &sn };
	struct simnet_cfg c;

	(void)state;
	for (int k = 0; k < 2; k++) {
		wan(&c, 1, GBIT);
		c.virtual_payload = false;
		c.rkeyed[0] = c.rkeyed[1] = kinds[k];
		c.rel.berths = 0; /* grants are counted */
		c.ro_len = c.wo_len = 4 * MB;
		c.rma_events = true;
		start(&sn, &c);
		warm(&sn);
		sn.cfg.user = &w;
		sn.cfg.on_done = watch_done;
		for (uint32_t i = 0; i < sizeof(op); i++) {
			if (op[i] == SDR_REL_SEND)
				transfer(&sn, MB, 10 * S_NS);
			else
				simnet_run_op(&sn, post(&sn, 0, op[i], MB), 10 * S_NS);
			must(&sn);
		}
		/* and what fails: no such key over there */
		struct simnet_wr bad = {
			.kind = SDR_REL_READ, .peer = 1, .len = MB, .rma_key = 77, .may_fail = true
		};
		struct simnet_op *b = simnet_post(&sn, 0, &bad);

		assert_int_equal(grants_open(&sn, 0), 1);
		simnet_run_op(&sn, b, 10 * S_NS);
		must(&sn);
		assert_int_equal(b->cqe.prov_err, SDR_REL_ERR_KEY);
		done(&sn);
	}
	assert_int_equal(w.seen, 2 * 5);
	assert_int_equal(w.most, 0);
}

/* A receive that has met its message cannot be cancelled any more: it completes, with its bytes. */
static void ends__cancel_comes_too_late_for_a_matched_receive(void **state)
{
	static struct simnet sn;
	struct simnet_cfg c;
	struct simnet_op *r, *s;

	(void)state;
	for (int k = 0; k < 2; k++) {
		wan(&c, 1, GBIT);
		c.virtual_payload = false;
		c.rkeyed[1] = kinds[k];
		c.rel.berths = 0; /* likewise */
		start(&sn, &c);
		warm(&sn);
		r = simnet_recv(&sn, 1, 0, MB);
		s = simnet_send(&sn, 0, 1, MB, 0);
		simnet_run_for(&sn, WAN_RTT); /* announced and granted, no data yet */
		must(&sn);
		assert_int_equal(grants_open(&sn, 1), 1);
		assert_int_equal(simnet_cancel(&sn, r), -ENOENT);
		simnet_run_all(&sn, 10 * S_NS);
		must(&sn);
		assert_true(simnet_op_ok(r) && simnet_op_ok(s));
		/* one that has not is cancelled, and never had a grant */
		r = simnet_recv(&sn, 1, 0, MB);
		assert_int_equal(simnet_cancel(&sn, r), 0);
		s = simnet_send(&sn, 0, 1, MB, 0);
		simnet_run_for(&sn, 4 * WAN_RTT);
		must(&sn);
		assert_int_equal(grants_open(&sn, 1), 0);
		assert_false(simnet_op_done(s));
		simnet_recv(&sn, 1, 0, MB);
		simnet_run_all(&sn, 10 * S_NS);
		must(&sn);
		assert_true(simnet_op_ok(s));
		done(&sn);
	}
}

/*
 * Either side disappears at some moment of the exchange: announced, granted, in the middle of the
 * data.
 */
static void ends__either_side_dies_at_any_time(void **state)
{
	static struct simnet sn;
	static const uint64_t when[] = { WAN_RTT / 4,	  WAN_RTT * 3 / 4, WAN_RTT * 5 / 4,
					 WAN_RTT * 7 / 4, 3 * WAN_RTT,	   6 * WAN_RTT };
	struct simnet_cfg c;
	struct simnet_op *left[3];

	(void)state;
	for (uint32_t i = 0; i < 4 * sizeof(when) / sizeof(*when); i++) {
		uint32_t dies = i & 1, stays = 1 - dies;

		wan(&c, i, GBIT);
		c.virtual_payload = false;
		c.rkeyed[0] = c.rkeyed[1] = kinds[i >> 1 & 1];
		c.rel.timeout_ms = 3000;
		c.ro_len = c.wo_len = 32 * MB;
		start(&sn, &c);
		warm(&sn);
		left[0] = post(&sn, 1, SDR_REL_RECV, 32 * MB);
		left[1] = post(&sn, 0, SDR_REL_SEND, 32 * MB);
		left[2] = post(&sn, stays, SDR_REL_READ, 32 * MB);
		post(&sn, dies, SDR_REL_WRITE, 32 * MB);
		simnet_run_for(&sn, when[i / 4]);
		must(&sn);
		assert_true(grants_open(&sn, stays) >= 1);
		simnet_crash(&sn, dies);
		simnet_run_op(&sn, left[stays ? 0 : 1], 4 * S_NS);
		simnet_run_op(&sn, left[2], S_NS);
		must(&sn);
		assert_int_equal(left[2]->cqe.prov_err, SDR_REL_ERR_STOPPED);
		/* the peer's write too, whose end is not reported */
		assert_int_equal(grants_open(&sn, stays), 0);
		assert_int_equal(simnet_boot(&sn, dies), 0);
		sn.nodes[stays].peers[dies] = NULL;
		simnet_recv(&sn, 1, SIMNET_NOBODY, MB);
		simnet_send(&sn, 0, 1, MB, 0);
		simnet_run_for(&sn, 4 * S_NS);
		must(&sn);
		assert_int_equal(sn.open, 0);
		done(&sn);
	}
}

/* ---- impairments ----------------------------------------------------------------------------- */

/*
 * Loss, and data that overtake their BIND: they lie in memory unreported, and are requested again.
 */
static void impaired__loss_and_reordering(void **state)
{
	static struct simnet sn;
	struct sdr_rel_stats st;
	struct simnet_cfg c;
	uint64_t t;

	(void)state;
	for (uint64_t seed = 0; seed < 8; seed++) {
		wan(&c, seed, GBIT);
		c.virtual_payload = false;
		c.rel.berths = 0; /* likewise */
		c.rkeyed[1] = kinds[seed & 1];
		c.link.loss = seed & 2 ? 0.01 : 0.001;
		c.link.jitter_ns = seed & 4 ? 200 * US_NS : 0;
		c.link.dup = 0.001;
		start(&sn, &c);
		warm(&sn);
		t = transfer(&sn, 16 * MB, 30 * S_NS);
		simnet_stats(&sn, &st);
		say("weather %llu: %.2f ms, ideal %.2f, late %llu\n", (unsigned long long)seed,
		    ms(t), ms(ideal_ns(&sn, 16 * MB)), (unsigned long long)st.pkts_late);
		assert_in_range(t, ideal_ns(&sn, 16 * MB), ideal_ns(&sn, 16 * MB) + 12 * WAN_RTT);
		/* duplicates of the end come into a buffer that is sealed */
		simnet_run_for(&sn, 2 * S_NS);
		must(&sn);
		assert_int_equal(grants_open(&sn, 1), 0);
		done(&sn);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean__a_send_to_a_device_costs_one_round_trip_a_read_none),
		cmocka_unit_test(warm__a_message_to_a_device_costs_what_one_to_a_socket_does),
		cmocka_unit_test(warm__parity_to_a_device_is_worth_what_it_is_to_a_socket),
		cmocka_unit_test(ends__before_the_completion_is_reported),
		cmocka_unit_test(ends__cancel_comes_too_late_for_a_matched_receive),
		cmocka_unit_test(ends__either_side_dies_at_any_time),
		cmocka_unit_test(impaired__loss_and_reordering),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
