/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Traffic classes of libfabric as differentiated services code points: one for an endpoint, on
 * everything that it sends.
 *
 * A code point goes out as it is asked for.  The labels are those of RFC 4594 that mean the same:
 * low latency is its low-latency data, bulk data its high-throughput data, dedicated access its
 * assured class for what is admitted before, a scavenger the lower effort of RFC 8622.  Network
 * control is refused: RFC 4594 keeps it for routers.  What the network makes of any of them is its
 * operator's.
 */
#include <stddef.h>

#include "uc/sdr_uc_engine.h"
#include "sdr_tclass.h"

static const struct {
	uint32_t label;
	uint8_t dscp;
} sdr_tclasses[] = {
	{ FI_TC_BEST_EFFORT, 0 },	{ FI_TC_LOW_LATENCY, 18 }, /* AF21 */
	{ FI_TC_DEDICATED_ACCESS, 34 },				   /* AF41 */
	{ FI_TC_BULK_DATA, 10 },				   /* AF11 */
	{ FI_TC_SCAVENGER, 1 },					   /* LE */
};

bool sdr_tclass_dscp(uint32_t tclass, uint8_t *dscp)
{
	size_t i;

	if (tclass & FI_TC_DSCP) {
		*dscp = fi_tc_dscp_get(tclass);
		return tclass == fi_tc_dscp_set(*dscp) && *dscp <= SDR_DSCP_MAX;
	}
	for (i = 0; i < sizeof(sdr_tclasses) / sizeof(sdr_tclasses[0]); i++) {
		if (sdr_tclasses[i].label == tclass) {
			*dscp = sdr_tclasses[i].dscp;
			return true;
		}
	}
	return false;
}

bool sdr_tclass_of(const struct fi_info *info, uint8_t *dscp)
{
	if (info->tx_attr && info->tx_attr->tclass != FI_TC_UNSPEC)
		return sdr_tclass_dscp(info->tx_attr->tclass, dscp);
	if (info->domain_attr && info->domain_attr->tclass != FI_TC_UNSPEC)
		return sdr_tclass_dscp(info->domain_attr->tclass, dscp);
	return true;
}

uint32_t sdr_tclass_make(uint8_t dscp)
{
	return dscp ? fi_tc_dscp_set(dscp) : FI_TC_UNSPEC;
}
