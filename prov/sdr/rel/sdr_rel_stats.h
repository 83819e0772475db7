/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Counters of a connection, a peer, an endpoint. */
#ifndef SDR_REL_STATS_H
#define SDR_REL_STATS_H

#include <stdint.h>

/* Names are contract: fi_sdr(7) lists them. */
/* clang-format off */
#define SDR_REL_STATS(X) \
	X(pkts_tx) X(bytes_tx) X(pkts_rx) X(bytes_rx) X(parity_tx) X(repair_tx) \
	X(rtx_rack) X(rtx_nack) X(rtx_tlp) X(rtx_rto) X(rtx_spurious) \
	X(pkts_dup) X(pkts_late) X(pkts_bad) \
	X(chunks_direct) X(chunks_fec) X(chunks_rtx) \
	X(ack_tx) X(ack_rx) X(nack_tx) X(nack_rx) \
	X(ctl_tx) X(ctl_rx) X(rec_tx) X(rec_rx) X(rec_rtx) \
	X(msgs_tx) X(msgs_rx) X(msgs_unexp) X(msgs_parked) X(ops_failed) \
	X(choice_sr) X(choice_parity) X(rec_copies) X(rec_refused) \
	X(rtt_min_ns) X(srtt_ns) X(rttvar_ns) X(loss_ppm) X(cwnd_bytes) X(pacing_bps) \
	X(code_k) X(code_m) X(code_cover_ppm) X(code_why) X(loss_upper_ppb) X(burst_milli) \
	X(frames_skipped) X(hello_other) X(aliases) X(claims_refused) \
	X(path_bytes) X(path_probes) X(path_told) X(path_holes) X(parts_tx) X(parts_rx) X(reshapes) \
	X(pkts_astray) X(moves) X(moves_refuted) X(acks_false) X(lost_home) \
	X(ect_tx) X(ce_tx) X(ect_rx) X(ce_rx) X(ecn_off) X(lost_own) \
	X(atomics_rx) X(atomics_refused) X(recs_held) \
	X(hmem_direct) X(hmem_staged) X(path_asks) X(paths_up) X(paths_down) \
	X(berths_tx) X(berths_rx)
/* clang-format on */

struct sdr_rel_stats {
#define SDR_REL_STAT_FIELD(n) uint64_t n;
	SDR_REL_STATS(SDR_REL_STAT_FIELD)
#undef SDR_REL_STAT_FIELD
};

/* Adds b to a; of gauges the larger value counts. */
void sdr_rel_stats_add(struct sdr_rel_stats *a, const struct sdr_rel_stats *b);

#endif /* SDR_REL_STATS_H */
