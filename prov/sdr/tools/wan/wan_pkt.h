/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets of the emulated WAN: what is read from a TUN device becomes packets as they lie on a wire
 * (wan_pkt.c), each with a copy of its headers and a slice of the bytes that were read.
 *
 * A device with offloads hands over TCP and UDP "super-packets" of up to 64 KiB; they are cut here
 * as a network card would: sequence numbers, lengths, identifiers, flags and check sums of every
 * piece are its own, so queues, losses and counters see nothing but true packets.  Check sums of
 * TCP and UDP that the sender left to the device stay so: the receiving kernel is told that they
 * are not computed.
 *
 * Pieces of one super-packet that are handed over one after the other, at one time, can be joined
 * again, as a network card's receive offload does.
 */
#ifndef SDR_TOOLS_WAN_PKT_H
#define SDR_TOOLS_WAN_PKT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/virtio_net.h>

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5 /* Linux 6.2 */
#endif

#define WAN_HDR_MAX   128u
#define WAN_READ_MAX  (65536u + 512u) /* bytes of the largest packet that a device hands over */
#define WAN_HOSTS_MAX 64u	      /* of a side */
#define WAN_SIDES     2u

enum { WAN_NOT_ECT, WAN_ECT_1, WAN_ECT_0, WAN_CE };

struct wan_buf {
	struct wan_buf *next;
	uint32_t refs;
	uint8_t class;
	uint8_t data[];
};

struct wan_pkt {
	struct wan_pkt *next;
	struct wan_buf *buf;
	uint64_t in_ns;		/* when it came to the emulator */
	uint32_t len;		/* IP bytes */
	uint32_t data, ndata;	/* slice of buf behind the headers */
	uint32_t hash;		/* of the five-tuple */
	uint16_t src, dst;	/* hosts */
	uint8_t src_if, dst_if; /* interface that it left by, and whose address it goes to */
	uint16_t line;		/* of the network */
	uint16_t nhdr;		/* bytes of hdr */
	uint16_t l3;		/* of them the IP header's */
	uint16_t size;		/* joined: bytes behind the headers of each piece but the last */
	bool cut, tcp;		/* a piece of a super-packet; of TCP, else of UDP */
	uint16_t csum_start, csum_offset;
	bool csum; /* the check sum at csum_start + csum_offset is still to be computed */
	uint8_t hdr[WAN_HDR_MAX];
};

#define WAN_BUF_CLASSES 3u
struct wan_pool {
	struct wan_pkt *free;
	struct wan_buf *bufs[WAN_BUF_CLASSES];
	uint64_t packets; /* in use */
};

/*
 * Hosts: number i of side s (both from 0) has 10.77.(s + 1).(i + 1) and fd77:(s + 1)::(i + 1); its
 * interface k the same with 77 + k, and 77 + k in hexadecimal.
 */
struct wan_names {
	/* hosts of each side; their numbers in the network are side by side */
	uint16_t n[WAN_SIDES];
	uint8_t ifs; /* of each host; 0: 1 */
};
#define WAN_NET_4 77u
#define WAN_NET_6 0x77u
static inline unsigned int wan_ifs(const struct wan_names *names)
{
	return names->ifs ? names->ifs : 1;
}
#define WAN_NOBODY UINT16_MAX

/* Room for WAN_READ_MAX bytes; NULL: no memory. */
struct wan_buf *wan_buf_get(struct wan_pool *pool, uint32_t len);
void wan_buf_put(struct wan_pool *pool, struct wan_buf *b);
struct wan_pkt *wan_pkt_get(struct wan_pool *pool);
void wan_pkt_put(struct wan_pool *pool, struct wan_pkt *p);
/* Another one with the same bytes. */
struct wan_pkt *wan_pkt_copy(struct wan_pool *pool, const struct wan_pkt *p);
void wan_pool_free(struct wan_pool *pool);

/*
 * The packets of len bytes in b, as the header says, in order; NULL: it is no packet that can be
 * forwarded, or memory is out.  The packets hold b, the caller's own hold stays.  dst is WAN_NOBODY
 * where the address is no host's.
 */
struct wan_pkt *wan_pkt_cut(struct wan_pool *pool, const struct wan_names *names,
			    const struct virtio_net_hdr *vh, struct wan_buf *b, uint32_t len);
uint8_t wan_pkt_ecn(const struct wan_pkt *p);
void wan_pkt_ecn_set(struct wan_pkt *p, uint8_t ecn);
/*
 * p becomes part of `to`, in front of it, and is then the caller's to put; false: they do not go
 * together, and nothing has changed.
 */
bool wan_pkt_join(struct wan_pkt *to, const struct wan_pkt *p);
/* What the receiving device is told of it; headers of a joined one become those of the whole. */
void wan_pkt_vnet(struct wan_pkt *p, struct virtio_net_hdr *vh);

#endif /* SDR_TOOLS_WAN_PKT_H */
