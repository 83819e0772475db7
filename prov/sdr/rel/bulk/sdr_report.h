/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the sender learns of data coming in, see sdr_report.c.
 */
#ifndef SDR_REPORT_H
#define SDR_REPORT_H

#include "sdr_seg_rx.h"

void sdr_report_complete(struct sdr_conn *c, const struct sdr_complete *e);
/* One of the last few of these, which has not left, is of that message. */
bool sdr_report_waits(const struct sdr_conn *c, uint32_t msn);
void sdr_report_owed(struct sdr_conn *c, struct sdr_seg_rx *s); /* soon */
void sdr_report_now(struct sdr_conn *c, struct sdr_seg_rx *s);	/* with the next packet */
/* So many more packets of it came: how many may wait for a report. */
uint32_t sdr_report_pkts(struct sdr_conn *c, const struct sdr_seg_rx *s, uint32_t came);
/* The last acknowledgement goes once more: with the reports that went with it. */
void sdr_report_again(struct sdr_conn *c);
bool sdr_report_due(const struct sdr_conn *c);
uint64_t sdr_report_deadline(const struct sdr_conn *c);
/* Writes DACK frames; returns bytes; *more: some did not fit. */
size_t sdr_report_write(struct sdr_conn *c, uint8_t *p, size_t room, bool *more);

#endif /* SDR_REPORT_H */
