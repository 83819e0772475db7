/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What has come of a receive that is under way, for the extension (sdr_ep_view.c).
 */
#ifndef SDR_EP_VIEW_H
#define SDR_EP_VIEW_H

struct fi_sdr_view;
struct sdr_ep;

/* `view` of fi_ext_sdr.h; not under lock. */
int sdr_ep_view(struct sdr_ep *ep, const void *context, struct fi_sdr_view *view);

#endif /* SDR_EP_VIEW_H */
