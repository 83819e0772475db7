/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What this host has learned of the ways to its peers: asked of routing (sdr_uc_path_mtu, some 10
 * us of system calls) when the kernel refuses a datagram for its size, and told to the owner with
 * the next poll (SDR_UC_EV_PATH).
 *
 * A way is asked after anew when something goes less far than it said, and not at all for a tenth
 * of a second after routing had no answer that explains the refusal; so a sender that insists costs
 * no more than its own calls.  The owner is told what is new to it, and of what it may have
 * forgotten once a second at most.  The newest SDR_SOFT_WAYS ways are remembered; what was not told
 * of a way that had to go is lost, and is learned again with its next datagram.  No timers of its
 * own.
 */
#include <string.h>

#include "uc/sdr_uc_net.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_path.h"

#define SDR_SOFT_ASK_NS	 100000000u  /* between two questions that routing has no answer to */
#define SDR_SOFT_TELL_NS 1000000000u /* between two events that say the same */

static struct sdr_soft_way *sdr_soft_way_get(struct sdr_soft *s, uint8_t source,
					     const struct sdr_uc_addr *to)
{
	struct sdr_soft_paths *p = &s->paths;
	struct sdr_soft_way *w;
	uint32_t i;

	for (i = 0; i < SDR_SOFT_WAYS; i++)
		if (p->way[i].source == source && sdr_uc_addr_equal(&p->way[i].to, to))
			return &p->way[i];
	w = &p->way[p->next++ % SDR_SOFT_WAYS];
	p->tell -= w->tell;
	memset(w, 0, sizeof(*w));
	w->to = *to;
	w->source = source;
	return w;
}

static uint32_t sdr_soft_way_ask(const struct sdr_soft *s, uint8_t source,
				 const struct sdr_uc_addr *to)
{
	struct sockaddr_storage sa;

	if (sdr_uc_addr_to_sockaddr(to, &sa) < 0 || sa.ss_family != s->family)
		return 0;
	return s->net->path_mtu(s, source, &sa);
}

uint32_t sdr_soft_path_refused(struct sdr_soft *s, uint8_t source,
			       const struct sockaddr_storage *to, uint32_t bytes)
{
	uint64_t now = s->uc.ops->now(&s->uc);
	struct sdr_soft_way *w;
	struct sdr_uc_addr a;
	uint32_t was;

	if (sdr_uc_addr_from_sockaddr(&a, (const struct sockaddr *)to))
		return 0;
	w = sdr_soft_way_get(s, source, &a);
	was = w->bytes;
	if (w->vain && now - w->asked < SDR_SOFT_ASK_NS)
		return 0;
	if (!was || was >= bytes || now - w->asked >= SDR_SOFT_TELL_NS) {
		w->asked = now;
		w->bytes = sdr_soft_way_ask(s, source, &a);
		w->vain = !w->bytes || w->bytes >= bytes;
		if (w->vain)
			return 0;
	}
	if (!w->tell && (w->bytes != was || now - w->told >= SDR_SOFT_TELL_NS)) {
		w->tell = true;
		s->paths.tell++;
	}
	return w->bytes;
}

int sdr_soft_path_tell(struct sdr_soft *s, struct sdr_uc_ev *ev, int max)
{
	struct sdr_soft_paths *p = &s->paths;
	uint64_t now = s->uc.ops->now(&s->uc);
	uint32_t i;
	int n = 0;

	for (i = 0; i < SDR_SOFT_WAYS && n < max && n < (int)SDR_SOFT_TELL; i++) {
		struct sdr_soft_way *w = &p->way[i];

		if (!w->tell)
			continue;
		w->tell = false;
		w->told = now;
		p->tell--;
		p->to[n] = w->to;
		memset(&ev[n], 0, sizeof(ev[n]));
		ev[n].kind = SDR_UC_EV_PATH;
		ev[n].source = w->source;
		ev[n].path.to = &p->to[n];
		ev[n++].path.bytes = w->bytes;
	}
	return n;
}

uint32_t sdr_soft_path_mtu(struct sdr_uc *uc, const struct sdr_uc_addr *to)
{
	return sdr_soft_way_ask(sdr_soft_of(uc), 0, to);
}
