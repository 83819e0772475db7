/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One queue pair breaks: its connection's operations end with that cause, everybody else goes on,
 * and so does the peer.
 */
#include "../bed/bed.h"

#define LEN (1u << 20)

static void qp_break(struct bed *b, uint32_t node, uint32_t to)
{
	uint8_t info[SDR_QP_INFO_SIZE];
	struct sdr_wire_qp_info i;

	assert_int_equal(sdr_qp_info_get(bed_conn(b, node, to)->shape->qp, info), 0);
	assert_int_equal(sdr_wire_qp_info_decode(info, sizeof(info), &i), 0);
	assert_int_equal(sdr_sim_qp_break(b->w, node, i.qpn + 1), 0); /* any of the transport's */
	assert_int_equal(sdr_sim_qp_break(b->w, node, i.qpn), 0);     /* it is one */
}

static struct bed *three(uint8_t key)
{
	struct bed *b = bed_new(3);

	for (uint32_t i = 0; i < 3; i++) {
		b->na[i].rkeyed = key;
		b->cfg[i].rate_bps = 1000000000;
		b->cfg[i].timeout_ms = 3000;
	}
	bed_boot(b);
	bed_warm(b, 0, 1);
	bed_warm(b, 2, 1);
	return b;
}

static void broken__ends_one_connection(void **state)
{
	(void)state;
	for (uint8_t key = 0; key < 3; key++) {
		struct bed *b = three(key);
		struct bed_op *r[2], *s[3], *w;
		uint8_t *p[3];

		for (int i = 0; i < 2; i++) {
			p[i] = bed_buf(b, LEN, 0);
			r[i] = bed_rr(
				b, 1,
				(struct sdr_rel_rr){ .kind = SDR_REL_RECV,
						     .peer = bed_peer(b, 1, 2 * (uint32_t)i) },
				p[i], LEN);
		}
		p[2] = bed_buf(b, LEN, 0);
		bed_region_add(b, 0, 7, p[2], LEN, SDR_REL_ACCESS_WRITE);
		w = bed_rma(b, 1, 0, SDR_REL_WRITE, bed_buf(b, LEN, 3), LEN, 0, 7, 0);
		s[0] = bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, 0);
		s[1] = bed_send(b, 2, 1, bed_buf(b, LEN, 2), LEN, 0);
		bed_run(b, BED_RTT + 2 * MS);
		qp_break(b, 1, 0);
		bed_wait(b, r[0], MS);
		bed_assert_err(r[0], SDR_REL_ERR_ENGINE);
		bed_assert_err(w, SDR_REL_ERR_ENGINE);
		/*
		 * The peer sees it as a process that is not the same any more, long before
		 * its give-up time.
		 */
		bed_wait(b, s[0], BED_SEC);
		bed_assert_err(s[0], SDR_REL_ERR_RESTARTED);
		bed_wait(b, r[1], BED_SEC);
		bed_wait(b, s[1], BED_SEC);
		bed_assert_ok(r[1]);
		bed_assert_ok(s[1]);
		assert_true(bed_same(p[1], LEN, 2));
		/* And both are connected anew. */
		s[2] = bed_send(b, 0, 1, bed_buf(b, LEN, 4), LEN, 0);
		r[0] = bed_recv(b, 1, p[0], LEN);
		bed_wait(b, r[0], BED_SEC);
		bed_wait(b, s[2], BED_SEC);
		bed_assert_ok(r[0]);
		bed_assert_ok(s[2]);
		assert_true(bed_same(p[0], LEN, 4));
		bed_close(b);
	}
}

/* It may break when it is not needed: then nothing is reported. */
static void broken__while_idle(void **state)
{
	struct bed *b = three(0);

	(void)state;
	qp_break(b, 0, 1);
	bed_run(b, BED_SEC);
	assert_null(bed_conn(b, 0, 1));
	bed_warm(b, 0, 1);
	bed_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken__ends_one_connection),
		cmocka_unit_test(broken__while_idle),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
