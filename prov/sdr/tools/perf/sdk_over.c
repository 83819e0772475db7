/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The way "sdk" of sdr_perf --sdk: messages over the public calls of sdr/sdr.h and nothing else.
 *
 * A message that fits into one part is sent with one call, a longer one as a stream.  A receive is
 * whole when all bits of its chunk bitmap are set; a cursor remembers the words that were full
 * already, so a bitmap is read once however often it is polled.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk.h"

struct over {
	struct sdr_context *ctx;
	struct sdr_qp *qp;
	struct sdr_mr *mr;
	struct sdr_snd_handle *snd[PERF_SLOTS_MAX];
	struct sdr_rcv_handle *rcv[PERF_SLOTS_MAX];
	const struct sdr_rcv_state *st[PERF_SLOTS_MAX];
	uint32_t cursor[PERF_SLOTS_MAX]; /* words of the chunk bitmap that are full */
	int broken;
};

static int over_why(struct sdk_end *e, const char *what, int err)
{
	return perf_why(e->why, "%s: %s", what, sdr_strerror(err));
}

static int over_open(struct sdk_end *e, const char *device, uint32_t mtu)
{
	struct sdr_context_info info = { .size = sizeof(info) };
	char why[SDR_WHY_LEN] = "";
	struct sdr_dev_attr attr = { .size = sizeof(attr),
				     .mtu = mtu,
				     .fault = getenv("FI_SDR_FAULT"),
				     .channels = (uint8_t)e->run.at.channels,
				     .workers = (uint8_t)(e->sends ? 0 : e->run.at.workers),
				     .why = why,
				     .why_len = sizeof(why) };
	struct over *o = calloc(1, sizeof(*o));

	if (!o)
		return perf_why(e->why, "out of memory");
	o->ctx = sdr_context_create(device, &attr);
	if (!o->ctx) {
		free(o);
		return perf_why(e->why, "engine %s: %s", device, why);
	}
	e->impl = o;
	sdr_context_query(o->ctx, &info);
	e->mtu = info.mtu;
	snprintf(e->engine, sizeof(e->engine), "%s", info.engine);
	e->rx_window = info.rx_window;
	return 0;
}

static void over_control(void *user, const void *buf, size_t len)
{
	sdk_end_heard(user, buf, len);
}

static void over_broken(void *user, int err)
{
	struct over *o = ((struct sdk_end *)user)->impl;

	o->broken = err;
}

static int over_qp(struct sdk_end *e)
{
	struct sdr_qp_handlers handlers = {
		.size = sizeof(handlers), .user = e, .control = over_control, .broken = over_broken
	};
	char why[SDR_WHY_LEN] = "";
	struct sdr_qp_attr attr = { .size = sizeof(attr),
				    .mtu = e->run.at.mtu,
				    .chunk = e->run.at.chunk,
				    .max_msg = (uint64_t)e->npkts * e->run.at.mtu,
				    .channels = (uint8_t)e->run.at.channels,
				    .rate_bps = e->run.rate_bps,
				    .why = why,
				    .why_len = sizeof(why) };
	struct over *o = e->impl;
	uint8_t bits[3];
	int err;

	if (sdk_point_split(e->npkts, e->run.at.in_flight, bits))
		return perf_why(e->why, "no split of the immediate for %u packets", e->npkts);
	attr.id_bits = bits[0];
	attr.off_bits = bits[1];
	attr.user_bits = bits[2];
	o->qp = sdr_qp_create(o->ctx, &attr);
	if (!o->qp)
		return perf_why(e->why, "queue pair: %s", why);
	sdr_qp_query(o->qp, &attr);
	e->run.at.chunk = attr.chunk;
	sdr_qp_handlers_set(o->qp, &handlers);
	if (!e->sends)
		sdk_end_window(e, e->rx_window);
	o->mr = sdr_mr_reg(o->ctx, e->room, e->room_len, 0);
	if (!o->mr)
		return over_why(e, "registering the buffer", -errno);
	err = sdr_qp_info_route(o->qp, e->peer, e->info);
	return err ? over_why(e, "where this side is met", err) : 0;
}

static int over_connect(struct sdk_end *e, const uint8_t *info, const struct sdk_key *keys,
			uint32_t nkeys)
{
	struct sdr_qp_peer peer = { .size = sizeof(peer) };
	struct over *o = e->impl;
	int err = sdr_qp_connect(o->qp, info);

	(void)keys;
	(void)nkeys;
	if (err)
		return over_why(e, "connecting", err);
	if (e->sends && !sdr_qp_peer_query(o->qp, &peer))
		sdk_end_window(e, peer.rx_window);
	return 0;
}

static int over_progress(struct sdk_end *e)
{
	struct over *o = e->impl;
	int n = sdr_context_progress(o->ctx);

	if (n < 0 || o->broken)
		return over_why(e, "progress", n < 0 ? n : o->broken);
	return n;
}

static int over_sleep(struct sdk_end *e, uint64_t *ns)
{
	struct over *o = e->impl;

	*ns = sdr_context_timeout(o->ctx);
	return sdr_context_fd(o->ctx);
}

static void over_say(struct sdk_end *e, const void *buf, size_t len)
{
	struct over *o = e->impl;

	sdr_qp_ctl_send(o->qp, buf, len);
}

/* ---- sending --------------------------------------------------------------------------------- */

static int64_t over_send(struct sdk_end *e, uint64_t n, uint64_t off, uint64_t len)
{
	struct over *o = e->impl;
	struct sdr_snd_handle **h = &o->snd[n % e->run.at.in_flight];
	struct sdr_snd_wr whole = { .addr = sdk_place(e, n), .length = len, .mr = o->mr };
	struct sdr_start_wr start = { .length = e->run.at.size };
	struct sdr_continue_wr part = {
		.addr = sdk_place(e, n) + off, .offset = off, .length = len, .mr = o->mr
	};
	int err;

	if (!*h && len == e->run.at.size) {
		err = sdr_send_post(o->qp, &whole, h);
	} else {
		err = *h ? 0 : sdr_send_stream_start(o->qp, &start, h);
		if (!err)
			err = sdr_send_stream_continue(*h, &part);
		if (!err && off + len == e->run.at.size)
			err = sdr_send_stream_end(*h);
	}
	if (err)
		return err == -EAGAIN ? 0 : over_why(e, "sending", err);
	return (int64_t)len;
}

static int over_left(struct sdk_end *e, uint64_t n)
{
	struct over *o = e->impl;
	struct sdr_snd_handle **h = &o->snd[n % e->run.at.in_flight];
	int ret = sdr_send_poll(*h);

	if (ret < 0)
		return over_why(e, "ending a send", ret);
	if (ret)
		*h = NULL;
	return ret;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static int over_post(struct sdk_end *e, uint64_t n)
{
	struct over *o = e->impl;
	uint32_t i = (uint32_t)(n % e->run.at.in_flight);
	struct sdr_rcv_wr wr = { .addr = sdk_place(e, n), .length = e->run.at.size, .mr = o->mr };
	int err = sdr_recv_post(o->qp, &wr, &o->rcv[i]);

	if (err)
		return err == -EAGAIN ? 0 : over_why(e, "posting a receive", err);
	o->st[i] = sdr_recv_state(o->rcv[i]);
	o->cursor[i] = 0;
	return 1;
}

static bool over_whole(struct sdk_end *e, uint64_t n)
{
	struct over *o = e->impl;
	uint32_t i = (uint32_t)(n % e->run.at.in_flight), w = o->cursor[i];
	const struct sdr_rcv_state *st = o->st[i];
	uint32_t words = st->nchunks / 64, rest = st->nchunks % 64;

	while (w < words && __atomic_load_n(&st->chunk_bits[w], __ATOMIC_ACQUIRE) == UINT64_MAX)
		w++;
	o->cursor[i] = w;
	return w == words && (!rest || __atomic_load_n(&st->chunk_bits[w], __ATOMIC_ACQUIRE) ==
					       (1ull << rest) - 1);
}

static uint64_t over_got(struct sdk_end *e, uint64_t n)
{
	const struct over *o = e->impl;

	return o->st[n % e->run.at.in_flight]->got;
}

static bool over_chunk(struct sdk_end *e, uint64_t n, uint64_t i)
{
	const struct over *o = e->impl;
	const uint64_t *bits = o->st[n % e->run.at.in_flight]->chunk_bits;

	return __atomic_load_n(&bits[i / 64], __ATOMIC_ACQUIRE) >> i % 64 & 1;
}

static int over_finish(struct sdk_end *e, uint64_t n)
{
	struct over *o = e->impl;
	uint32_t i = (uint32_t)(n % e->run.at.in_flight);
	int err = sdr_recv_complete(o->rcv[i]);

	o->rcv[i] = NULL;
	return err ? over_why(e, "ending a receive", err) : 0;
}

static uint32_t over_keys(struct sdk_end *e, struct sdk_key *keys)
{
	(void)e;
	(void)keys; /* the SDK tells them itself */
	return 0;
}

static void over_stats(struct sdk_end *e, struct sdk_result *r)
{
	struct sdr_stats st = { .size = sizeof(st) };
	struct over *o = e->impl;

	sdr_context_stats(o->ctx, &st);
	r->late = st.pkts_late;
	r->dups = st.pkts_dup;
	r->bad = st.pkts_bad;
	r->chunks = st.chunks_rx;
}

static void over_close(struct sdk_end *e)
{
	struct over *o = e->impl;

	if (o->qp)
		sdr_qp_destroy(o->qp);
	if (o->mr)
		sdr_mr_dereg(o->mr);
	sdr_context_destroy(o->ctx);
	free(o);
}

const struct sdk_way sdk_over = {
	.name = "sdk",
	.chunks = true,
	.open = over_open,
	.qp = over_qp,
	.connect = over_connect,
	.progress = over_progress,
	.sleep = over_sleep,
	.say = over_say,
	.send = over_send,
	.left = over_left,
	.post = over_post,
	.whole = over_whole,
	.got = over_got,
	.chunk = over_chunk,
	.finish = over_finish,
	.keys = over_keys,
	.stats = over_stats,
	.close = over_close,
};
