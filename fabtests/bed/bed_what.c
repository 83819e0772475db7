/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See bed_what.h.
 */
#include "wire/sdr_class.h"
#include "wire/sdr_frame.h"
#include "bed_what.h"

static uint32_t what_of_rec(uint8_t op)
{
	switch (op) {
	case SDR_REC_SEND:
	case SDR_REC_TSEND:
		return BED_SEND;
	case SDR_REC_WRITE:
		return BED_WRITE;
	case SDR_REC_READ:
		return BED_READ;
	case SDR_REC_READ_RSP:
		return BED_READ_RSP;
	case SDR_REC_BIND:
		return BED_BIND;
	case SDR_REC_CTS:
		return BED_CTS;
	case SDR_REC_PARK:
		return BED_PARK;
	case SDR_REC_DONE:
		return BED_DONE;
	}
	return 0;
}

static uint32_t what_of_frames(const uint8_t *p, const uint8_t *end)
{
	static const uint32_t bit[] = { 0,	  BED_ACK, BED_DACK, BED_CREDIT,
					BED_PING, BED_END, BED_REC,  BED_CLOSE };
	uint32_t what = BED_PACKET;
	struct sdr_frame f;

	while (sdr_frame_next(&p, end, &f) > 0) {
		what |= f.type < sizeof(bit) / sizeof(bit[0]) ? bit[f.type] : 0;
		if (f.type == SDR_FRAME_REC)
			what |= what_of_rec(f.rec.op);
		if (f.type == SDR_FRAME_DACK && (f.dack.flags & SDR_DACK_COMPLETE))
			what |= BED_COMPLETE;
		if (f.type == SDR_FRAME_SHAPE)
			what |= BED_SHAPE;
		if (f.type == SDR_FRAME_HELD)
			what |= BED_HELD;
		if (f.type == SDR_FRAME_DROPS)
			what |= BED_DROPS;
		if (f.type == SDR_FRAME_CLOSE)
			what |= f.close.reason == SDR_CLOSE_BYE ? BED_BYE : BED_BYE_ACK;
		if (f.type == SDR_FRAME_PATH_CHALLENGE)
			what |= BED_PATH_CHALLENGE;
		if (f.type == SDR_FRAME_PATH_RESPONSE)
			what |= BED_PATH_RESPONSE;
	}
	return what;
}

uint32_t bed_what_of(const struct sdr_sim_packet *p)
{
	const uint8_t *b = sdr_sim_packet_payload(p);
	uint8_t type;

	if (p->kind == SDR_SIM_DATA)
		return BED_DATA | BED_ALL;
	if (sdr_class_decode(b, p->len, &type) != SDR_CLASS_REL)
		return BED_ALL;
	switch (type) {
	case SDR_REL_HELLO:
		return BED_HELLO | BED_ALL;
	case SDR_REL_HELLO_ACK:
		return BED_HELLO_ACK | BED_ALL;
	case SDR_REL_RETRY:
		return BED_RETRY | BED_ALL;
	case SDR_REL_RESET:
		return BED_RESET | BED_ALL;
	case SDR_REL_VERSION:
		return BED_VERSION | BED_ALL;
	case SDR_REL_PACKET:
		break;
	default:
		return BED_ALL;
	}
	return what_of_frames(b + SDR_PACKET_HDR, b + p->len) | BED_ALL;
}
