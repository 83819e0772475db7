/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Polling a public send until its buffer is the application's again: every part is sent and the
 * engine has read it.  A call of its own file because it drives the context, which is above
 * sends.
 */
#include <errno.h>

#include "sdr_qp.h"
#include "sdr_send.h"
#include "sdr_send_run.h"

static bool sdr_send_finished(const struct sdr_snd_handle *h)
{
	return h->ended && h->part_next == h->part_end && !h->queued && !sdr_send_reading(h);
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
	hdl->qp->nopen--;
	sdr_send_free(hdl);
	return 1;
}
