/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The end of a public send: its buffer is the application's again when every part is sent and the
 * engine has read it, or when it was canceled and the engine reads nothing of it.  A file of its
 * own because polling drives the context, which is above sends.
 */
#include <errno.h>

#include "base/sdr_assert.h"
#include "sdr_qp.h"
#include "sdr_send.h"
#include "sdr_send_run.h"
#include "sdr_txq.h"

static bool sdr_send_finished(const struct sdr_snd_handle *h)
{
	return h->ended && h->part_next == h->part_end && !h->queued && !sdr_send_reading(h);
}

static void sdr_send_over(struct sdr_snd_handle *h)
{
	SDR_ASSERT(h->qp->nopen);
	h->qp->nopen--;
	sdr_send_free(h);
}

bool sdr_send_is_over(const struct sdr_snd_handle *hdl)
{
	return hdl->qp && sdr_send_finished(hdl);
}

int sdr_send_poll(struct sdr_snd_handle *hdl)
{
	int err;

	if (!hdl || !hdl->qp)
		return -EINVAL;
	if (!sdr_send_finished(hdl)) {
		err = sdr_context_progress(hdl->qp->ctx);
		if (err < 0)
			return err;
		if (!sdr_send_finished(hdl))
			return hdl->qp->err;
	}
	sdr_send_over(hdl);
	return 1;
}

int sdr_send_cancel(struct sdr_snd_handle *hdl)
{
	if (!hdl || !hdl->qp)
		return -EINVAL;
	hdl->ended = true;
	hdl->part_next = hdl->part_end;
	sdr_list_del(&hdl->link);
	sdr_qp_busy_update(hdl->qp);
	sdr_txq_drop(hdl->qp->ctx, hdl);
	if (sdr_send_reading(hdl))
		return -EAGAIN;
	sdr_send_over(hdl);
	return 0;
}
