/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_SDR_STATS: what an endpoint has done, written when it closes.
 *
 * One JSON object a line: {"peer":"ADDRESS:PORT", "name":value, ...} for each peer that ever had a
 * connection and {"peer":"total", ...} for all of them; names as in SDR_REL_STATS.  Every line says
 * the engine and how it keeps late packets out, the last one what only the engine counts.  Written
 * with one call, so that the lines of several processes do not mix.  A file that cannot be written
 * is a warning, no more.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uc/sdr_uc.h"
#include "uc/sdr_uc_addr.h"

#include "sdr_stats.h"
#include "sdr_ep.h"
#include "sdr_prov.h"

struct sdr_stats_out {
	struct sdr_ep *ep;
	FILE *f;
	struct sdr_uc_info engine;
};

/* What only the engine counts. */
static void sdr_stats_engine(const struct sdr_stats_out *o, const struct sdr_uc_stats *uc)
{
	const struct sdr_uc_info *e = &o->engine;
	const struct {
		const char *name;
		uint64_t value;
	} v[] = {
		{ "grants", uc->grants },	 { "regs", uc->regs },
		{ "pieces_tx", uc->pieces_tx },	 { "pieces_rx", uc->pieces_rx },
		{ "shm_tx", uc->shm_tx },	 { "shm_rx", uc->shm_rx },
		{ "tx_lost", uc->tx_lost },	 { "tx_toobig", uc->tx_toobig },
		{ "tx_nobufs", uc->tx_nobufs },	 { "tx_denied", uc->tx_denied },
		{ "rx_full", uc->rx_full },	 { "rcvbuf_asked", e->rcvbuf_asked },
		{ "rcvbuf_got", e->rcvbuf_got }, { "sndbuf_asked", e->sndbuf_asked },
		{ "sndbuf_got", e->sndbuf_got },
	};
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		fprintf(o->f, ",\"%s\":%" PRIu64, v[i].name, v[i].value);
}

static void sdr_stats_line(const struct sdr_stats_out *o, const char *name,
			   const struct sdr_rel_stats *s, const struct sdr_uc_stats *uc)
{
	FILE *f = o->f;

	fprintf(f, "{\"peer\":\"%s\",\"engine\":\"%s\",\"late\":\"%s\"", name, o->engine.name,
		o->engine.late);
#define SDR_STATS_PRINT(n) fprintf(f, ",\"" #n "\":%" PRIu64, s->n);
	SDR_REL_STATS(SDR_STATS_PRINT)
#undef SDR_STATS_PRINT
	if (uc)
		sdr_stats_engine(o, uc);
	fprintf(f, "}\n");
}

static void sdr_stats_peer(void *user, struct sdr_peer *peer)
{
	struct sdr_stats_out *o = user;
	struct sdr_rel_stats s;
	char name[64];

	sdr_uc_addr_format(sdr_peer_addr(peer), name, sizeof(name));
	sdr_rel_stats_get(o->ep->rel, peer, &s);
	sdr_stats_line(o, name, &s, NULL);
}

void sdr_stats_dump(struct sdr_ep *ep)
{
	struct sdr_stats_out o = { .ep = ep };
	struct sdr_uc_stats uc;
	struct sdr_rel_stats s;
	char *text = NULL;
	size_t len = 0, done = 0;
	ssize_t n;
	int fd;

	if (!ep->env.stats[0])
		return;
	o.f = open_memstream(&text, &len);
	if (!o.f)
		return;
	ep->uc->ops->info(ep->uc, &o.engine);
	ep->uc->ops->stats(ep->uc, &uc);
	sdr_rel_peers_walk(ep->rel, sdr_stats_peer, &o);
	sdr_rel_stats_get(ep->rel, NULL, &s);
	sdr_stats_line(&o, "total", &s, &uc);
	if (fclose(o.f)) {
		free(text);
		return;
	}
	if (strcmp(ep->env.stats, "-") == 0) {
		fwrite(text, 1, len, stdout);
		fflush(stdout);
		free(text);
		return;
	}
	fd = open(ep->env.stats, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd >= 0) {
		while (done < len && (n = write(fd, text + done, len - done)) > 0)
			done += (size_t)n;
		close(fd);
	}
	if (fd < 0 || done < len)
		sdr_warn_once("FI_SDR_STATS=\"%s\": %s", ep->env.stats, strerror(errno));
	free(text);
}
