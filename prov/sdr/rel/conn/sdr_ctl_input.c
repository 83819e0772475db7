/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Control datagrams that came in, by their type. */
#include "sdr_ctl_input.h"
#include "sdr_handshake.h"
#include "sdr_parts.h"
#include "sdr_pkt.h"
#include "sdr_versions.h"

void sdr_ctl_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, uint8_t type,
		   const uint8_t *buf, size_t len)
{
	struct sdr_version v;

	switch (type) {
	case SDR_REL_PACKET:
		sdr_pkt_input(rel, from, buf, len);
		break;
	case SDR_REL_PART:
		buf = sdr_parts_take(rel, buf, len, &len);
		if (buf)
			sdr_pkt_input(rel, from, buf, len);
		break;
	case SDR_REL_HELLO:
	case SDR_REL_HELLO_ACK:
		sdr_hello_input(rel, from, type, buf, len);
		break;
	case SDR_REL_RETRY:
		sdr_retry_input(rel, from, buf, len);
		break;
	case SDR_REL_RESET:
		if (sdr_reset_input(rel, from, buf, len))
			rel->closed.pkts_bad++;
		break;
	case SDR_REL_VERSION:
		if (sdr_version_decode(buf, len, &v))
			rel->closed.pkts_bad++;
		else
			sdr_versions_said(rel, from, &v);
		break;
	default:
		rel->closed.pkts_bad++;
	}
}
