/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Parity on the SDR SDK: what a message loses is computed, and nothing is ever sent again.
 *
 *	ex_fec [LOSS]		(a fraction, 0.02)
 *
 * Both sides are in this process, each with a context of its own, and packets between them get
 * lost.  The message is one SDR message, its parity another; of every 32 packets and their 8 parity
 * packets any 32 suffice (sdr/fec.h).  The bitmaps of the two receives are all that the decoder is
 * told.
 */
#include <errno.h>
#include <sdr/fec.h>
#include <sdr/sdr.h>

#include "meet.h"

#define MTU 1024u
#define LEN (2u * 1024 * 1024 + 99)

static struct sdr_context *ctx[2];
static struct sdr_qp *qp[2];

static void sides_open(const char *fault)
{
	uint8_t info[2][SDR_QP_INFO_SIZE];
	char why[SDR_WHY_LEN];
	int i;

	for (i = 0; i < 2; i++) {
		struct sdr_dev_attr dev = {
			.size = sizeof(dev), .fault = fault, .why = why, .why_len = sizeof(why)
		};
		struct sdr_qp_attr attr = { .size = sizeof(attr),
					    .mtu = MTU,
					    .rate_bps = 1000000000,
					    .why = why,
					    .why_len = sizeof(why) };

		ctx[i] = sdr_context_create("soft:127.0.0.1", &dev);
		CHECK(ctx[i], "%s", why);
		qp[i] = sdr_qp_create(ctx[i], &attr);
		CHECK(qp[i], "%s", why);
		sdr_qp_info_get(qp[i], info[i]);
	}
	for (i = 0; i < 2; i++)
		CHECK(!sdr_qp_connect(qp[i], info[!i]), "connect");
}

static struct sdr_rcv_handle *post(void *buf, uint64_t len)
{
	struct sdr_rcv_wr w = { .addr = buf, .length = len };
	struct sdr_rcv_handle *h;

	CHECK(!sdr_recv_post(qp[1], &w, &h), "post");
	return h;
}

static struct sdr_snd_handle *start(const void *buf, uint64_t len)
{
	struct sdr_snd_wr w = { .addr = buf, .length = len };
	struct sdr_snd_handle *h;

	CHECK(!sdr_send_post(qp[0], &w, &h), "send");
	return h;
}

int main(int argc, char **argv)
{
	struct sdr_codec_attr a = { .size = sizeof(a), .len = LEN, .mtu = MTU, .k = 32, .m = 8 };
	const struct sdr_rcv_state *data_in, *parity_in;
	uint8_t *out, *in, *out_parity, *in_parity;
	struct sdr_rcv_handle *r[2];
	struct sdr_snd_handle *s[2];
	struct sdr_codec *c;
	uint64_t parity, i;
	double quiet;
	uint32_t sub;
	char fault[64];
	int sent[2] = { 0, 0 }, n;

	snprintf(fault, sizeof(fault), "drop=%s,seed=11", argc > 1 ? argv[1] : "0.02");
	sides_open(fault);
	c = sdr_codec_create(&a); /* both sides make the same from the same attributes */
	CHECK(c, "no such code");
	parity = sdr_codec_parity_bytes(c);
	out = malloc(LEN);
	in = malloc(LEN);
	out_parity = malloc(parity);
	in_parity = malloc(parity);
	for (i = 0; i < LEN; i++)
		out[i] = meet_byte(0, i);
	for (sub = 0; sub < sdr_codec_submessages(c); sub++)
		sdr_codec_encode(c, out, out_parity, sub);

	r[0] = post(in, LEN);
	r[1] = post(in_parity, parity);
	data_in = sdr_recv_state(r[0]);
	parity_in = sdr_recv_state(r[1]);
	s[0] = start(out, LEN);
	s[1] = start(out_parity, parity);
	quiet = meet_now();
	while (!sent[0] || !sent[1] || meet_now() < quiet + 0.2) {
		for (n = 0; n < 2; n++)
			if (!sent[n])
				sent[n] = sdr_send_poll(s[n]);
		n = sdr_context_progress(ctx[1]);
		CHECK(n >= 0, "progress: %s", sdr_strerror(n));
		if (n)
			quiet = meet_now();
	}
	printf("%u of %u packets of data came, %u of %u of parity\n", data_in->got, data_in->npkts,
	       parity_in->got, parity_in->npkts);
	n = sdr_codec_decode(c, in, in_parity, data_in->pkt_bits, parity_in->pkt_bits);
	CHECK(n != -EAGAIN, "%d codewords lost more than 8 packets",
	      sdr_codec_lacking(c, data_in->pkt_bits, parity_in->pkt_bits));
	CHECK(n >= 0, "decode: error %d", n);
	CHECK(!memcmp(in, out, LEN), "the message is wrong");
	printf("%d packets computed, the message is whole\n", n);

	for (n = 0; n < 2; n++)
		sdr_recv_complete(r[n]);
	for (n = 0; n < 2; n++) {
		sdr_qp_destroy(qp[n]);
		sdr_context_destroy(ctx[n]);
	}
	sdr_codec_destroy(c);
	free(out);
	free(in);
	free(out_parity);
	free(in_parity);
	return 0;
}
