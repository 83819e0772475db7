/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * An endpoint whose peer says anything about coded transfers.  Two real endpoints open a connection
 * on the simulated network; then the input is a program, step by step: records with parameters of
 * parity, data packets of any message and offset, reports of data and parity that were or were not
 * sent, ENDs, ACKs, plain bytes as frames, all in packets that are addressed correctly; and the
 * victim's own operations, losses, time.
 *
 * After each round the books of both must add up (rel/sdr_rel_books.h).  At the end the connection
 * fails and nothing of it may be left.  Bytes around each buffer stay as they are (what is written
 * elsewhere is the sanitizer's to find).
 */
#include "fuzz.h"
#include "rel/bulk/sdr_scheme.h"
#include "rel/path/sdr_cc_ops.h"
#include "../bed/rel_inside.h"
#include "sdk/sdr_qp.h"
#include "tools/sim/sim_eps.h"
#include "../bed/bed_mem.h"

#define PAR_STEPS  96u	       /* of a program */
#define PAR_OPS	   32u	       /* buffers */
#define PAR_BYTES  (48u << 10) /* of a buffer, at most */
#define PAR_MTU	   256u
#define PAR_REGION 7u	 /* key of the victim's region */
#define PAR_ROUNDS 5000u /* progress calls of a node in one instant */
#define PAR_IDLE   8u	 /* and those that do nothing although its deadline has passed */

struct par_buf {
	uint8_t *mem;
	size_t len;
};

static struct par {
	const uint8_t *in;
	size_t left;
	struct sim_eps eps;
	struct sim_ep *ep; /* two; 0: the victim */
	struct sdr_peer *peer[2];
	struct par_buf buf[PAR_OPS];
	uint32_t nbufs;
	uint8_t *region;
	/* bits: data of node 0, control of node 0, data of node 1, control of node 1 */
	uint8_t drop;
	uint64_t done;
	uint32_t pn, rseq;
	uint8_t frames[SDR_CTL_MAX];
} par;

/* ---- input ----------------------------------------------------------------------------------- */

static uint32_t in8(void)
{
	if (!par.left)
		return 0;
	par.left--;
	return *par.in++;
}

static uint32_t in16(void)
{
	return in8() | in8() << 8;
}

static uint32_t in32(void)
{
	return in16() | in16() << 16;
}

/* ---- world ----------------------------------------------------------------------------------- */

static bool par_filter(void *user, struct sdr_sim_packet *p)
{
	(void)user;
	return !(par.drop >> (2 * (p->src & 1) + (p->kind == SDR_SIM_CTL)) & 1);
}

static void par_done(void *user, const struct sdr_rel_cqe *e)
{
	(void)user;
	(void)e;
	par.done++;
}

static int par_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access,
		      void **va, void **region)
{
	(void)user;
	(void)region;
	(void)access;
	if (key != PAR_REGION || addr > PAR_BYTES || len > PAR_BYTES - addr)
		return -EACCES;
	*va = par.region + addr;
	return 0;
}

static uint8_t *par_buf(size_t len)
{
	struct par_buf *b = &par.buf[par.nbufs++];

	b->len = len;
	b->mem = bed_mem_new(len);
	SDR_FUZZ_CHECK(b->mem);
	return b->mem;
}

static void bufs_free(void)
{
	for (uint32_t i = 0; i < par.nbufs; i++) {
		SDR_FUZZ_CHECK(bed_mem_ok(par.buf[i].mem, par.buf[i].len));
		bed_mem_free(par.buf[i].mem);
	}
}

static void par_settings(struct sdr_rel_cfg *cfg, uint8_t how)
{
	static const uint16_t code[][2] = { { 2, 1 }, { 8, 4 }, { 1, 3 }, { 32, 8 } };

	sdr_rel_cfg_init(cfg);
	cfg->scheme = how & 128 ? &sdr_scheme_hybrid : how & 1 ? &sdr_scheme_ec : &sdr_scheme_ec_sr;
	cfg->max_overhead = 1;
	cfg->cc = &sdr_cc_fixed;
	cfg->rate_bps = 1000000000;
	cfg->chunk = PAR_MTU << (how >> 1 & 1);
	cfg->split = (struct sdr_imm_split){ 6, 24, 2 };
	cfg->generations = 2;
	cfg->tx_depth = cfg->rx_depth = 64;
	cfg->inject_max = 64;
	cfg->ec_code = how >> 2 & 1 ? SDR_CODE_XOR : SDR_CODE_MDS;
	cfg->ec_k = code[how >> 3 & 3][0];
	cfg->ec_m = code[how >> 3 & 3][1];
	cfg->ec_chunk_decode = how >> 5 & 1;
	cfg->ec_scratch = how >> 6 & 1 ? 1 << 16 : 1 << 20;
}

static void par_failed(void *user, const char *why)
{
	(void)user;
	fprintf(stderr, "%s\n", why);
	SDR_FUZZ_CHECK(false);
}

static void par_open(uint8_t how)
{
	static const struct sdr_rel_cbs cbs = { .done = par_done, .mr_get = par_mr_get };
	struct sim_eps_attr ea = {
		.world = { .seed = 1, .nodes = 2, .link.delay_ns = 2 * MS, .filter = par_filter },
		.most = { .rounds = PAR_ROUNDS, .idle = PAR_IDLE },
		.books = 1,
		.fail = par_failed,
	};
	struct sdr_rel_cfg cfg;

	par_settings(&cfg, how);
	memset(&par, 0, sizeof(par));
	SDR_FUZZ_CHECK(!sim_eps_open(&par.eps, &ea));
	par.ep = par.eps.ep;
	for (uint32_t i = 0; i < 2; i++) {
		struct sim_ep_attr a = { .rel = { .cfg = &cfg, .cbs = &cbs },
					 .node = { .mtu = PAR_MTU, .no_probe = true } };

		sim_ep_identity(&par.ep[i], &a);
		SDR_FUZZ_CHECK(!sim_ep_boot(&par.ep[i], &a));
		par.peer[i] = sim_ep_peer(&par.ep[i], 1 - i);
		SDR_FUZZ_CHECK(par.peer[i]);
	}
	par.region = par_buf(PAR_BYTES);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void rounds(void)
{
	par.ep[0].dirty = par.ep[1].dirty = true; /* steps post and break things behind its back */
	sim_eps_work(&par.eps);
}

static void run_for(uint64_t ns)
{
	uint64_t now = sim_eps_now(&par.eps), end = now + ns, t, due;

	for (uint32_t n = 0; n < 20000; n++) {
		rounds();
		now = sim_eps_now(&par.eps);
		if (now >= end)
			return;
		t = sdr_sim_world_next(par.eps.w);
		due = sim_eps_due(&par.eps);
		t = due < t ? due : t;
		/* A little further each time: what matters here is order, not time. */
		sdr_sim_world_run_until(par.eps.w, t < end ? (t > now ? t : now + 1000) : end);
	}
}

/* ---- steps ----------------------------------------------------------------------------------- */

static struct sdr_conn *victim(void)
{
	struct sdr_conn *c = par.peer[0]->conn;

	return c && c->state == SDR_CONN_OPEN ? c : NULL;
}

static void say(size_t n)
{
	struct sdr_conn *c = victim();
	uint8_t p[SDR_CTL_MAX];
	size_t h;

	if (!c || !n || SDR_PACKET_HDR + n > sizeof(p))
		return;
	h = sdr_packet_encode(p, c->id.cid, par.pn++);
	memcpy(p + h, par.frames, n);
	SDR_FUZZ_CHECK(!sdr_sim_inject_ctl(par.eps.w, 2, 0, 0, p, h + n));
}

static void step_raw(void)
{
	size_t n = in8();

	n = n < par.left ? n : par.left;
	memcpy(par.frames, par.in, n);
	par.in += n;
	par.left -= n;
	say(n);
}

static uint64_t draw_len(void)
{
	uint32_t how = in8();

	return how >= 250 ? (uint64_t)in32() << (how - 250) * 3
	       : how & 1  ? in16()
			  : (in16() & 15) * 1024 + how;
}

static struct sdr_frame_code draw_code(void)
{
	struct sdr_frame_code f = { .kind = (uint8_t)(1 + (in8() & 1)) };
	uint32_t how = in8();

	f.flags = how & SDR_WIRE_CODE_FLAGS;
	f.k = (uint16_t)(1 + in8() % (how & 64 ? 255 : 16));
	f.m = (uint16_t)(1 + in8() % (how & 64 ? 255 : 8));
	f.chunk = how & 128 ? in32() : PAR_MTU * (1 + in8() % 8);
	f.seg = how & 32 ? in32() : f.chunk * (1 + in8() % 64);
	f.from = (uint64_t)f.chunk * (how & 16 ? in32() : in8() % 4);
	return f;
}

static void step_rec(uint8_t op)
{
	struct sdr_conn *c = victim();
	struct sdr_frame_rec f = { .op = op, .payload = par.frames };
	uint32_t how;

	if (!c)
		return;
	how = in8();
	f.rseq = par.rseq++;
	f.flags = SDR_REC_F_LEN | SDR_REC_F_BULK;
	if (op == SDR_REC_SEND || op == SDR_REC_TSEND)
		f.flags |= SDR_REC_F_ORDER;
	if (op == SDR_REC_WRITE || op == SDR_REC_READ)
		f.flags |= SDR_REC_F_RMA;
	if (how & 1)
		f.flags |= SDR_REC_F_CODE;
	if (how & 2)
		f.flags |= SDR_REC_F_DELIVERY;
	if (how & 4)
		f.flags &= (uint16_t) ~(SDR_REC_F_BULK | SDR_REC_F_CODE);
	if (op == SDR_REC_DONE || how & 8)
		f.flags |= SDR_REC_F_STATUS;
	f.len = draw_len();
	f.msn = sdr_qp_recv_base(c->shape->qp) + (how & 16 ? in32() : in8() % 8);
	f.mseq = c->rec.rx_mseq + (how & 32 ? in8() % 4 : 0);
	f.id = how & 64 || sdr_list_empty(&c->msg->ops)
		       ? in8()
		       : sdr_container(c->msg->ops.next, struct sdr_op, link)->wire_id;
	f.key = PAR_REGION;
	f.addr = how & 128 ? in16() : 0;
	f.status = f.flags & SDR_REC_F_STATUS ? (int32_t)(in8() % 18) : 0;
	if (f.flags & SDR_REC_F_CODE)
		f.code = draw_code();
	say(sdr_frame_rec_encode(par.frames, sizeof(par.frames), &f));
}

/* Data packets of any message and offset, from the peer's own QP. */
static void step_data(void)
{
	static uint8_t bytes[64 * PAR_MTU];
	struct sdr_conn *c = victim(), *peer = par.peer[1]->conn;
	uint32_t msn, at, n, cut;
	struct sdr_uc_tx tx = { .kind = SDR_UC_TX_WRITE };

	if (!c || !peer || !peer->shape->qp)
		return;
	msn = sdr_qp_recv_base(c->shape->qp) + in8() % 16;
	at = in8();
	n = 1 + in8() % 64;
	cut = in8();
	tx.gen = (uint8_t)((msn >> 6) % peer->shape->qp->generations);
	tx.len = n * PAR_MTU - (cut & 1 ? cut : 0);
	tx.buf = bytes;
	tx.w.qp = peer->shape->qp->uqp;
	tx.w.slot = msn & 63;
	tx.w.epoch = (msn >> 6) / peer->shape->qp->generations;
	tx.w.first = at;
	par.ep[1].rel->uc->ops->post(par.ep[1].rel->uc, &tx, 1);
}

static void step_dack(void)
{
	struct sdr_conn *c = victim();
	struct sdr_frame_dack f = { 0 };
	uint64_t bits[4];
	uint32_t how, limit;

	if (!c)
		return;
	how = in8();
	f.flags = how & (SDR_DACK_COMPLETE | SDR_DACK_GAP | SDR_DACK_DECODED);
	if (!(f.flags & SDR_DACK_COMPLETE))
		f.flags &= (uint8_t)~SDR_DACK_DECODED;
	f.msn = c->bulk->tx.msn - 1 - in8() % 8;
	limit = in8();
	f.cum = limit ? in8() % (limit + 1) : 0;
	f.base = f.cum;
	f.echo = how & 16 ? in32() : limit;
	f.echo_delay_us = how & 32 ? in32() : 0;
	f.dups = how & 64 ? in8() : 0;
	if (f.flags & SDR_DACK_DECODED) {
		f.dec_pkts = 1 + in8();
		f.dec_chunks = 1 + in8() % f.dec_pkts;
	}
	for (int i = 0; i < 4; i++)
		bits[i] =
			((uint64_t)in32() | (uint64_t)in32() << 32) | (how & 128 ? ~0ull << 8 : 0);
	say(sdr_frame_dack_encode(par.frames, sizeof(par.frames), &f, bits,
				  limit > f.cum ? limit : f.cum));
}

static void step_end(void)
{
	struct sdr_conn *c = victim();
	struct sdr_frame_end f;

	if (!c)
		return;
	f.msn = sdr_qp_recv_base(c->shape->qp) + in8() - 16;
	say(sdr_frame_end_encode(par.frames, sizeof(par.frames), &f));
}

static void step_ack(void)
{
	struct sdr_conn *c = victim();
	struct sdr_frame_ack f = { .n = 1 };

	if (!c)
		return;
	f.r[0].hi = c->tx.pn - 1 - in8() % 8;
	f.r[0].lo = f.r[0].hi - in8() % 4;
	say(sdr_frame_ack_encode(par.frames, sizeof(par.frames), &f));
}

static void step_op(uint32_t node, uint8_t kind)
{
	uint64_t len = 1 + in16() % PAR_BYTES;
	struct sdr_rel_iov iov = { NULL, len };
	struct sdr_rel_wr wr = {
		.kind = kind, .niov = 1, .iov = &iov, .peer = par.peer[node], .rma_key = PAR_REGION
	};

	if (par.nbufs == PAR_OPS)
		return;
	iov.buf = par_buf(len);
	(void)sdr_rel_post(par.ep[node].rel, &wr);
}

static void step_recv(uint32_t node)
{
	uint64_t len = 1 + in16() % PAR_BYTES;
	struct sdr_rel_iov iov = { NULL, len };
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .niov = 1, .iov = &iov };

	if (par.nbufs == PAR_OPS)
		return;
	iov.buf = par_buf(len);
	(void)sdr_rel_recv(par.ep[node].rel, &rr);
}

static void step(void)
{
	static const uint8_t recs[] = { SDR_REC_SEND, SDR_REC_WRITE, SDR_REC_SEND, SDR_REC_READ_RSP,
					SDR_REC_BIND, SDR_REC_CTS,   SDR_REC_PARK, SDR_REC_DONE };
	static const uint8_t kinds[] = { SDR_REL_SEND, SDR_REL_WRITE, SDR_REL_READ, SDR_REL_TSEND };
	uint32_t what = in8();

	switch (what & 15) {
	case 0:
	case 1:
	case 2:
		step_rec(recs[what >> 4 & 7]);
		break;
	case 3:
		step_raw();
		break;
	case 4:
	case 5:
		step_data();
		break;
	case 6:
	case 7:
		step_dack();
		break;
	case 8:
		step_end();
		break;
	case 9:
		step_ack();
		break;
	case 10:
		step_op(0, kinds[what >> 4 & 3]);
		break;
	case 11:
		step_op(1, kinds[what >> 4 & 3]);
		break;
	case 12:
		step_recv(what >> 4 & 1);
		break;
	case 13:
		par.drop = (uint8_t)(what >> 4);
		break;
	default:
		run_for((uint64_t)(1 + (what >> 4)) * (what & 1 ? 20 * MS : MS));
		return;
	}
	run_for(0);
}

/* ---- */

/* One message each way: both sides are open and know the round trip. */
static bool par_warm(void)
{
	uint8_t *p = par_buf(8);
	struct sdr_rel_iov iov = { p, 8 };

	for (uint32_t i = 0; i < 2; i++) {
		struct sdr_rel_wr wr = {
			.kind = SDR_REL_SEND, .niov = 1, .iov = &iov, .peer = par.peer[i]
		};
		struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .niov = 1, .iov = &iov };

		if (sdr_rel_recv(par.ep[!i].rel, &rr) || sdr_rel_post(par.ep[i].rel, &wr))
			return false;
		run_for(20 * MS);
	}
	return par.done == 4 && victim();
}

static void par_end(void)
{
	struct sdr_rel *rel = par.ep[0].rel;
	struct sdr_list *l, *tmp;

	sdr_list_each_safe(l, tmp, &rel->conn_list)
		sdr_conn_fail(sdr_container(l, struct sdr_conn, link), SDR_REL_ERR_STOPPED);
	sdr_rel_progress(rel);
	SDR_FUZZ_CHECK(!rel->bulk->scratch.used && !rel->bulk->gtx_pool.used &&
		       !rel->bulk->grx_pool.used);
	SDR_FUZZ_CHECK(!rel->bulk->btx_pool.used && !rel->bulk->brx_pool.used &&
		       !rel->bulk->srx_pool.used);
	sim_eps_close(&par.eps);
	bufs_free();
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size)
{
	if (!size)
		return 0;
	par_open(in[0]);
	SDR_FUZZ_CHECK(par_warm());
	par.in = in + 1;
	par.left = size - 1;
	par.pn = 1000;
	par.rseq = victim()->rec.rx_next;
	for (uint32_t i = 0; i < PAR_STEPS && par.left; i++)
		step();
	run_for(50 * MS);
	par_end();
	return 0;
}

/*
 * Programs that reach far: coded transfers both ways, what was announced and is then lost, refused,
 * or reported twice.
 */
size_t sdr_fuzz_seed(unsigned int i, uint8_t *buf)
{
	static const struct {
		uint8_t n, b[40];
	} s[] = {
		/* receive posted; the peer sends with parity; some of it is lost, then time */
		{ 12, { 0x09, 0x0c, 0x00, 0x40, 0x0b, 0x00, 0x30, 0xfe, 0xff, 0xff, 0xff, 0xff } },
		/* the victim sends; its data are lost; reports that came from nowhere */
		{ 36, { 0x09, 0x1c, 0x00, 0x40, 0x1d, 0x0a, 0x00, 0x30, 0x0e, 0x06, 0x02, 0x00,
			0x20, 0x04, 0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa, 0x0d, 0xff, 0x06, 0x02,
			0x01, 0x10, 0x00, 0xff, 0x00, 0xff, 0x0f, 0x0f, 0xff, 0xff, 0xff, 0xff } },
		/* a record with parity, packets of data and parity, END */
		{ 30, { 0x01, 0x0c, 0x00, 0x40, 0x00, 0x01, 0x08, 0x10, 0x00, 0x00,
			0x01, 0x00, 0x01, 0x00, 0x00, 0x07, 0x00, 0x04, 0x00, 0x00,
			0x06, 0x00, 0x04, 0x01, 0x00, 0x20, 0x00, 0x08, 0x10, 0xff } },
		/* a write with parity into the region, twice, the second with other numbers */
		{ 34, { 0x05, 0x10, 0x41, 0x08, 0x08, 0x00, 0x00, 0x07, 0x00, 0x01, 0x01, 0x03,
			0x01, 0x07, 0x00, 0x10, 0x41, 0x08, 0x08, 0x00, 0x02, 0x07, 0x01, 0x01,
			0x01, 0x00, 0x00, 0x07, 0x00, 0x0f, 0xff, 0x04, 0x00, 0x00 } },
		/* COMPLETE of data and of parity, decoded */
		{ 40, { 0x19, 0x1c, 0x00, 0x20, 0x2d, 0x0a, 0x00, 0x20, 0x1e, 0x06,
			0x05, 0x01, 0x00, 0x04, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00,
			0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0d,
			0x1a, 0x00, 0x30, 0x3e, 0x06, 0x01, 0x00, 0x00, 0xff, 0xff } },
		/* a read whose answer comes with parity */
		{ 24, { 0x49, 0x2a, 0x00, 0x30, 0x8d, 0x30, 0x01, 0x00, 0x00, 0x30, 0x00, 0x01,
			0x80, 0x03, 0x02, 0x03, 0x3f, 0x00, 0x0d, 0xff, 0xff, 0x2a, 0x00, 0x20 } },
	};

	if (i >= sizeof(s) / sizeof(*s))
		return 0;
	memcpy(buf, s[i].b, s[i].n);
	return s[i].n;
}
