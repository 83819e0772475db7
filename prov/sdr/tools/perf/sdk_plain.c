/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The way "plain" of sdr_perf --sdk: the writes of the same engine without the SDK above it, which
 * is what the paper compares with.
 *
 * Each place of the receiver is bound once, as ib_write_bw registers its buffer once; there is no
 * bitmap, no clear to send and nothing to post again.  The receiver counts the packets of a place:
 * so many are a message.  The packets are those of the SDK, and so are the control datagrams beside
 * them.  Where packets are lost, late ones count for the message that has the place then: use it on
 * clean paths.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk.h"
#include "uc/sdr_uc_open.h"

#define EVS	    512
#define TRAIN_BYTES 65000u /* of a run that one channel takes, where there are several */
#define TRAIN_PKTS  64u

_Static_assert(SDR_QP_INFO_SIZE == SDR_QP_INFO_LEN, "one info");

struct plain {
	struct sdr_uc *uc;
	struct sdr_uc_qp *qp;
	void *mr;
	struct sdr_imm_split split;
	struct sdr_uc_addr to;
	struct sdr_uc_grant grant[PERF_SLOTS_MAX];
	struct sdk_key key[PERF_SLOTS_MAX]; /* of the receiver's places */
	bool keyed, peer_keyed;
	uint8_t channel;
	uint32_t got[PERF_SLOTS_MAX]; /* packets */
	struct sdr_uc_ev ev[EVS];
};

static int plain_why(struct sdk_end *e, const char *what, int err)
{
	const struct plain *p = e->impl;
	const char *reason = p ? p->uc->ops->reason(p->uc) : "";

	return perf_why(e->why, "%s: %s%s%.120s", what, strerror(-err), *reason ? ": " : "",
			reason);
}

static int plain_open(struct sdk_end *e, const char *device, uint32_t mtu)
{
	char why[SDR_UC_ERR_LEN] = "";
	struct sdr_uc_open_attr attr = { .mtu = mtu,
					 .fault = getenv("FI_SDR_FAULT"),
					 .seed = e->run.token,
					 .channels = (uint8_t)e->run.at.channels,
					 .err = why,
					 .err_len = sizeof(why) };
	struct plain *p = calloc(1, sizeof(*p));
	struct sdr_uc_info info;

	if (!p)
		return perf_why(e->why, "out of memory");
	if (sdr_uc_open(device, &attr, &p->uc)) {
		free(p);
		return perf_why(e->why, "engine %s: %s", device, why);
	}
	e->impl = p;
	p->uc->ops->info(p->uc, &info);
	e->mtu = info.mtu;
	snprintf(e->engine, sizeof(e->engine), "%s", info.name);
	p->keyed = info.rkeyed;
	e->rx_window = info.rx_window;
	return 0;
}

/* Every place of the receiver, once and for all. */
static int places_bind(struct sdk_end *e)
{
	struct plain *p = e->impl;
	uint32_t i;
	int err;

	for (i = 0; i < e->run.at.in_flight; i++) {
		err = p->keyed ? p->uc->ops->grant(p->qp, sdk_place(e, i), e->run.at.size, NULL,
						   p->mr, &p->grant[i])
			       : 0;
		if (!err)
			err = p->uc->ops->slot_bind(p->qp, i, 0, sdk_place(e, i), e->run.at.size,
						    p->mr);
		if (err)
			return plain_why(e, "binding a place", err);
		p->key[i].va = p->grant[i].va;
		p->key[i].rkey = p->grant[i].rkey;
	}
	return 0;
}

static int plain_qp(struct sdk_end *e)
{
	struct sdr_uc_qp_attr attr = { .channels = (uint8_t)e->run.at.channels,
				       .generations = 4,
				       .mtu = e->run.at.mtu,
				       .max_msg = (uint64_t)e->npkts * e->run.at.mtu,
				       .cookie = e,
				       .rand = { e->run.token ^ e->sends, ~e->run.token } };
	struct plain *p = e->impl;
	struct sdr_wire_qp_info info;
	uint8_t bits[3];
	int err;

	if (sdk_point_split(e->npkts, e->run.at.in_flight, bits))
		return perf_why(e->why, "no split of the immediate for %u packets", e->npkts);
	attr.split = p->split = (struct sdr_imm_split){ bits[0], bits[1], bits[2] };
	err = p->uc->ops->qp_create(p->uc, &attr, &p->qp);
	if (err)
		return plain_why(e, "queue pair", err);
	p->uc->ops->mr_reg(p->uc, e->room, e->room_len, NULL, &p->mr); /* or it copies */
	if (!e->sends) {
		sdk_end_window(e, e->rx_window);
		if (places_bind(e))
			return -1;
	}
	memset(&info, 0, sizeof(info));
	p->uc->ops->qp_info(p->qp, &info);
	info.chunk = e->run.at.mtu;
	sdr_wire_qp_info_encode(e->info, &info);
	e->run.at.chunk = 0;
	return 0;
}

static int plain_connect(struct sdk_end *e, const uint8_t *info, const struct sdk_key *keys,
			 uint32_t nkeys)
{
	struct plain *p = e->impl;
	struct sdr_wire_qp_info i;
	int err = sdr_wire_qp_info_decode(info, SDR_QP_INFO_LEN, &i);

	if (err || !i.addr_len)
		return perf_why(e->why, "the other side's info has no address: give it one (-A)");
	err = p->uc->ops->qp_connect(p->qp, &i, NULL);
	if (err)
		return plain_why(e, "connecting", err);
	p->to.len = i.addr_len;
	memcpy(p->to.b, i.addr, i.addr_len);
	p->peer_keyed = i.flags & SDR_QP_F_RKEYED;
	if (e->sends && p->peer_keyed && nkeys != e->run.at.in_flight)
		return perf_why(e->why, "the receiver's keys are missing");
	if (e->sends)
		memcpy(p->key, keys, nkeys * sizeof(*keys));
	if (e->sends)
		sdk_end_window(e, i.rx_window);
	return 0;
}

static int plain_progress(struct sdk_end *e)
{
	struct plain *p = e->impl;
	int n = p->uc->ops->poll(p->uc, p->ev, EVS), i;

	for (i = 0; i < n; i++) {
		const struct sdr_uc_ev *ev = &p->ev[i];

		switch (ev->kind) {
		case SDR_UC_EV_PLACED:
			p->got[sdr_imm_id(&p->split, ev->p.imm) % e->run.at.in_flight]++;
			break;
		case SDR_UC_EV_CTL:
			sdk_end_heard(e, ev->c.buf, ev->len);
			break;
		case SDR_UC_EV_QP:
			return plain_why(e, "the queue pair broke", ev->q.err);
		case SDR_UC_EV_ERROR:
			return plain_why(e, "the engine broke", ev->err);
		default:
			break;
		}
	}
	return n;
}

static int plain_sleep(struct sdk_end *e, uint64_t *ns)
{
	struct plain *p = e->impl;
	uint64_t due = p->uc->ops->deadline(p->uc), now = p->uc->ops->now(p->uc);

	*ns = due == UINT64_MAX ? due : due > now ? due - now : 0;
	if (*ns && p->uc->ops->arm(p->uc))
		*ns = 0;
	return p->uc->ops->fd(p->uc);
}

static void plain_say(struct sdk_end *e, const void *buf, size_t len)
{
	struct plain *p = e->impl;
	struct sdr_uc_tx t = { .kind = SDR_UC_TX_CTL, .len = (uint32_t)len, .buf = buf };

	t.to = &p->to;
	p->uc->ops->post(p->uc, &t, 1);
}

/* One run, or with several channels trains that they take in turn. */
static int64_t plain_send(struct sdk_end *e, uint64_t n, uint64_t off, uint64_t len)
{
	struct plain *p = e->impl;
	uint32_t mtu = e->run.at.mtu, i = (uint32_t)(n % e->run.at.in_flight), pkts;
	uint64_t at = 0, run = len;

	if (e->run.at.channels > 1) {
		pkts = TRAIN_BYTES / (mtu + SDR_DATA_OVERHEAD);
		run = (uint64_t)(pkts < TRAIN_PKTS ? pkts : TRAIN_PKTS) * mtu;
	}
	while (at < len) {
		struct sdr_uc_tx t = { .kind = SDR_UC_TX_WRITE, .mr = p->mr };
		uint32_t some = (uint32_t)(len - at < run ? len - at : run);
		int ret;

		t.flags = p->peer_keyed ? SDR_UC_F_RKEYED : 0;
		t.channel = p->channel;
		t.len = some;
		t.buf = sdk_place(e, n) + off + at;
		t.w.qp = p->qp;
		t.w.slot = i;
		t.w.first = (uint32_t)((off + at) / mtu);
		t.w.va = p->key[i].va;
		t.w.rkey = p->key[i].rkey;
		ret = p->uc->ops->post(p->uc, &t, 1);
		if (ret < 0)
			return plain_why(e, "sending", ret);
		if (ret == 0) /* taken in part */
			return (int64_t)(at + (some - t.len));
		p->channel = (uint8_t)((p->channel + 1u) % e->run.at.channels);
		at += some;
	}
	return (int64_t)len;
}

static int plain_left(struct sdk_end *e, uint64_t n)
{
	(void)e;
	(void)n;
	return 1;
}

static int plain_post(struct sdk_end *e, uint64_t n)
{
	(void)e;
	(void)n;
	return 1;
}

static uint64_t plain_got(struct sdk_end *e, uint64_t n)
{
	const struct plain *p = e->impl;

	return p->got[n % e->run.at.in_flight];
}

static bool plain_whole(struct sdk_end *e, uint64_t n)
{
	return plain_got(e, n) >= e->npkts;
}

static int plain_finish(struct sdk_end *e, uint64_t n)
{
	struct plain *p = e->impl;

	p->got[n % e->run.at.in_flight] = 0;
	return 0;
}

static uint32_t plain_keys(struct sdk_end *e, struct sdk_key *keys)
{
	const struct plain *p = e->impl;

	if (!p->keyed)
		return 0;
	memcpy(keys, p->key, e->run.at.in_flight * sizeof(*keys));
	return e->run.at.in_flight;
}

static void plain_stats(struct sdk_end *e, struct sdk_result *r)
{
	struct plain *p = e->impl;
	struct sdr_uc_stats st;

	p->uc->ops->stats(p->uc, &st);
	r->late = st.pkts_late;
	r->bad = st.pkts_bad;
	r->full = st.rx_full;
}

static void plain_close(struct sdk_end *e)
{
	struct plain *p = e->impl;
	uint32_t i;

	for (i = 0; p->qp && i < e->run.at.in_flight; i++) {
		if (e->sends)
			break;
		p->uc->ops->slot_unbind(p->qp, i);
		if (p->grant[i].impl)
			p->uc->ops->grant_end(p->qp, &p->grant[i]);
	}
	if (p->mr)
		p->uc->ops->mr_dereg(p->uc, p->mr);
	if (p->qp)
		p->uc->ops->qp_destroy(p->qp);
	p->uc->ops->close(p->uc);
	free(p);
}

const struct sdk_way sdk_plain = {
	.name = "plain",
	.open = plain_open,
	.qp = plain_qp,
	.connect = plain_connect,
	.progress = plain_progress,
	.sleep = plain_sleep,
	.say = plain_say,
	.send = plain_send,
	.left = plain_left,
	.post = plain_post,
	.whole = plain_whole,
	.got = plain_got,
	.finish = plain_finish,
	.keys = plain_keys,
	.stats = plain_stats,
	.close = plain_close,
};
