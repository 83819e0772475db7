/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * libfabric's interface between providers, fi_peer(3), as the headers at hand have it.
 *
 * It is not stable: structures and calls have changed between versions, and who shares an object
 * with another must be built against the same one.  configure looks at what there is
 * (SDR_PEER_MATCH, SDR_PEER_CQ_DATA, SDR_PEER_FOREACH), and here the rest of the layer is spared
 * the differences.  sdr_peer_same says whether the library that loaded us is the one of the
 * headers: nothing is shared otherwise.
 */
#ifndef SDR_PEER_API_H
#define SDR_PEER_API_H

#include <stdbool.h>

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#if defined __has_include
#if __has_include(<rdma/providers/fi_peer.h>)
#include <rdma/providers/fi_peer.h>
#endif
#endif
#ifndef FI_PEER_H
#include <rdma/fi_ext.h> /* until 1.17 */
#endif

static inline bool sdr_peer_same(void)
{
	return fi_version() == FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
}

/* The owner's receive for a message; -FI_ENOENT: none, and the entry stands for the message. */
static inline int sdr_peer_get(struct fid_peer_srx *srx, bool tagged, fi_addr_t addr, size_t len,
			       uint64_t tag, struct fi_peer_rx_entry **entry)
{
#ifdef SDR_PEER_MATCH
	struct fi_peer_match_attr attr = { .addr = addr, .msg_size = len, .tag = tag };

	return tagged ? srx->owner_ops->get_tag(srx, &attr, entry)
		      : srx->owner_ops->get_msg(srx, &attr, entry);
#else
	return tagged ? srx->owner_ops->get_tag(srx, addr, tag, entry)
		      : srx->owner_ops->get_msg(srx, addr, len, entry);
#endif
}

/* What an entry that stands for a message says of it, for those who peek. */
static inline void sdr_peer_describe(struct fi_peer_rx_entry *entry, size_t len, bool has_data,
				     uint64_t data)
{
#ifdef SDR_PEER_MATCH
	entry->msg_size = len;
#else
	entry->size = len;
#endif
	if (has_data)
		entry->flags |= FI_REMOTE_CQ_DATA;
#ifdef SDR_PEER_CQ_DATA
	entry->cq_data = data;
#else
	(void)data;
#endif
}

/* More addresses are known: the owner asks for those of the entries that had none. */
static inline void sdr_peer_addrs(struct fid_peer_srx *srx,
				  fi_addr_t (*addr)(struct fi_peer_rx_entry *entry))
{
#ifdef SDR_PEER_FOREACH
	if (srx->owner_ops->foreach_unspec_addr)
		srx->owner_ops->foreach_unspec_addr(srx, addr);
#else
	(void)srx;
	(void)addr;
#endif
}

#endif /* SDR_PEER_API_H */
