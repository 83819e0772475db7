/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets: memory, headers, cutting.  See wan_pkt.h.
 *
 * Nothing is trusted: a length, an offset or a header that does not fit the bytes that are there
 * makes no packet.  What follows the fixed IPv6 header other than TCP, UDP and ICMPv6 is carried
 * without being looked at.  One thread per pool; no I/O.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "wan_pkt.h"

static const uint32_t buf_room[WAN_BUF_CLASSES] = { 2048, 16384, WAN_READ_MAX };

/* ---- memory -------------------------------------------------------------------------------- */

struct wan_buf *wan_buf_get(struct wan_pool *pool, uint32_t len)
{
	struct wan_buf *b;
	uint8_t c = 0;

	SDR_ASSERT(len <= WAN_READ_MAX);
	while (buf_room[c] < len)
		c++;
	b = pool->bufs[c];
	if (b)
		pool->bufs[c] = b->next;
	else
		b = malloc(sizeof(*b) + buf_room[c]);
	if (b) {
		b->class = c;
		b->refs = 1;
	}
	return b;
}

void wan_buf_put(struct wan_pool *pool, struct wan_buf *b)
{
	if (--b->refs)
		return;
	b->next = pool->bufs[b->class];
	pool->bufs[b->class] = b;
}

struct wan_pkt *wan_pkt_get(struct wan_pool *pool)
{
	struct wan_pkt *p = pool->free;

	if (p)
		pool->free = p->next;
	else
		p = malloc(sizeof(*p));
	if (p) {
		memset(p, 0, offsetof(struct wan_pkt, hdr));
		pool->packets++;
	}
	return p;
}

void wan_pkt_put(struct wan_pool *pool, struct wan_pkt *p)
{
	if (p->buf)
		wan_buf_put(pool, p->buf);
	p->next = pool->free;
	pool->free = p;
	pool->packets--;
}

struct wan_pkt *wan_pkt_copy(struct wan_pool *pool, const struct wan_pkt *p)
{
	struct wan_pkt *c = wan_pkt_get(pool);

	if (!c)
		return NULL;
	*c = *p;
	c->next = NULL;
	if (c->buf)
		c->buf->refs++;
	return c;
}

void wan_pool_free(struct wan_pool *pool)
{
	for (struct wan_pkt *p = pool->free, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	for (unsigned int c = 0; c < WAN_BUF_CLASSES; c++) {
		for (struct wan_buf *b = pool->bufs[c], *next; b; b = next) {
			next = b->next;
			free(b);
		}
	}
	memset(pool, 0, sizeof(*pool));
}

/* ---- headers ------------------------------------------------------------------------------- */

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint32_t sum16(const uint8_t *p, size_t len, uint32_t sum)
{
	for (; len > 1; p += 2, len -= 2)
		sum += get16(p);
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void ip4_csum(uint8_t *ip)
{
	put16(ip + 10, 0);
	put16(ip + 10, (uint16_t)~fold(sum16(ip, (ip[0] & 15) * 4u, 0)));
}

struct wan_ip {
	uint16_t l3, l4; /* bytes of the IP header, of that and the next */
	uint8_t proto;
	bool four, ports;
};

/* The headers at the front; false: no IP packet of len bytes. */
static bool wan_ip_read(const uint8_t *p, uint32_t len, struct wan_ip *ip)
{
	memset(ip, 0, sizeof(*ip));
	if (len < 20)
		return false;
	ip->four = p[0] >> 4 == 4;
	if (ip->four) {
		ip->l3 = (uint16_t)((p[0] & 15) * 4);
		if (ip->l3 < 20 || ip->l3 > len || get16(p + 2) != len)
			return false;
		ip->proto = p[9];
		ip->ports = !(get16(p + 6) & 0x3fff); /* no fragment */
	} else {
		if (p[0] >> 4 != 6 || len < 40 || get16(p + 4) + 40u != len)
			return false;
		ip->l3 = 40;
		ip->proto = p[6];
		ip->ports = true;
	}
	ip->l4 = ip->l3;
	if (!ip->ports)
		return true;
	if (ip->proto == IPPROTO_TCP && ip->l3 + 20u <= len)
		ip->l4 = (uint16_t)(ip->l3 + (p[ip->l3 + 12] >> 4) * 4);
	else if (ip->proto == IPPROTO_UDP && ip->l3 + 8u <= len)
		ip->l4 = (uint16_t)(ip->l3 + 8);
	else
		ip->ports = false;
	return ip->l4 <= len && ip->l4 <= WAN_HDR_MAX;
}

static uint32_t wan_ip_hash(const uint8_t *p, const struct wan_ip *ip)
{
	uint64_t h = ip->proto;
	uint32_t v;

	for (unsigned int at = ip->four ? 12 : 8; at < (ip->four ? 20u : 40u); at += 4) {
		memcpy(&v, p + at, 4);
		h = sdr_mix64(h ^ (h << 32) ^ v);
	}
	if (ip->ports) {
		memcpy(&v, p + ip->l3, 4);
		h = sdr_mix64(h ^ (h << 32) ^ v);
	}
	return (uint32_t)h;
}

/* The host that the packet goes to, and its interface. */
static uint16_t wan_host(const struct wan_names *names, const uint8_t *p, bool four,
			 uint8_t *dst_if)
{
	static const uint8_t net6[13] = { 0 };
	const uint8_t *a = four ? p + 16 : p + 24;
	unsigned int side, i, k;

	k = a[1] - (four ? WAN_NET_4 : WAN_NET_6);
	if (four) {
		if (a[0] != 10)
			return WAN_NOBODY;
		side = a[2];
		i = a[3];
	} else {
		if (a[0] != 0xfd || a[2] || memcmp(a + 4, net6, 11) != 0)
			return WAN_NOBODY;
		side = a[3];
		i = a[15];
	}
	if (k >= wan_ifs(names) || side < 1 || side > WAN_SIDES || i < 1 || i > names->n[side - 1])
		return WAN_NOBODY;
	*dst_if = (uint8_t)k;
	return (uint16_t)(i - 1 + (side == 2 ? names->n[0] : 0));
}

uint8_t wan_pkt_ecn(const struct wan_pkt *p)
{
	return p->hdr[0] >> 4 == 4 ? p->hdr[1] & 3 : p->hdr[1] >> 4 & 3;
}

void wan_pkt_ecn_set(struct wan_pkt *p, uint8_t ecn)
{
	if (p->hdr[0] >> 4 == 4) {
		p->hdr[1] = (uint8_t)((p->hdr[1] & ~3) | ecn);
		ip4_csum(p->hdr);
	} else {
		p->hdr[1] = (uint8_t)((p->hdr[1] & ~0x30) | ecn << 4);
	}
}

/* ---- cutting ------------------------------------------------------------------------------- */

#define TCP_FLAGS 13u
#define TCP_CWR	  0x80u
#define TCP_ENDS  0x09u /* FIN, PSH */
#define TCP_SUM	  16u	/* where the check sum is */
#define UDP_SUM	  6u
#define UDP_JOINS 64u /* datagrams that the kernel takes in one */

struct wan_cut {
	struct wan_ip ip;
	uint32_t size; /* bytes behind the headers of each piece but the last */
	bool tcp;
};

/* Lengths, and sums: that of IP, and what TCP and UDP begin theirs with. */
static void wan_lengths(struct wan_pkt *p)
{
	uint8_t *ip = p->hdr, *l4 = p->hdr + p->l3;
	uint32_t sum, l4_len = p->len - p->l3;

	if (ip[0] >> 4 == 4) {
		put16(ip + 2, p->len);
		ip4_csum(ip);
		sum = sum16(ip + 12, 8, 0);
	} else {
		put16(ip + 4, p->len - 40);
		sum = sum16(ip + 8, 32, 0);
	}
	sum += (p->tcp ? IPPROTO_TCP : IPPROTO_UDP) + l4_len;
	if (!p->tcp)
		put16(l4 + 4, l4_len);
	put16(l4 + (p->tcp ? TCP_SUM : UDP_SUM), fold(sum));
}

/* What differs from piece to piece; nth from 0, at in the whole. */
static void wan_piece(struct wan_pkt *p, uint32_t nth, uint32_t at, bool last)
{
	uint8_t *ip = p->hdr, *l4 = p->hdr + p->l3;
	uint32_t seq;

	if (ip[0] >> 4 == 4)
		put16(ip + 4, get16(ip + 4) + nth);
	if (p->tcp) {
		memcpy(&seq, l4 + 4, 4);
		seq = htonl(ntohl(seq) + at);
		memcpy(l4 + 4, &seq, 4);
		if (!last)
			l4[TCP_FLAGS] &= (uint8_t)~TCP_ENDS;
		if (nth)
			l4[TCP_FLAGS] &= (uint8_t)~TCP_CWR;
	}
	wan_lengths(p);
}

/* What kind of super-packet it is; 0: none, -1: none that makes sense. */
static int wan_cut_how(struct wan_cut *c, const struct virtio_net_hdr *vh)
{
	uint8_t type = vh->gso_type & (uint8_t)~VIRTIO_NET_HDR_GSO_ECN;

	if (type == VIRTIO_NET_HDR_GSO_NONE)
		return 0;
	c->tcp = type == VIRTIO_NET_HDR_GSO_TCPV4 || type == VIRTIO_NET_HDR_GSO_TCPV6;
	if (!c->tcp && type != VIRTIO_NET_HDR_GSO_UDP_L4)
		return -1;
	if (!c->ip.ports || c->ip.proto != (c->tcp ? IPPROTO_TCP : IPPROTO_UDP) || !vh->gso_size ||
	    !(vh->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM))
		return -1;
	c->size = vh->gso_size;
	return 1;
}

struct wan_pkt *wan_pkt_cut(struct wan_pool *pool, const struct wan_names *names,
			    const struct virtio_net_hdr *vh, struct wan_buf *b, uint32_t len)
{
	struct wan_pkt *first = NULL, **end = &first, *p;
	struct wan_cut c = { .size = 0 };
	uint32_t hash, at, rest, nth = 0;
	uint8_t dst_if = 0;
	uint16_t dst;
	int cut;

	if (!wan_ip_read(b->data, len, &c.ip))
		return NULL;
	cut = wan_cut_how(&c, vh);
	if (cut < 0)
		return NULL;
	hash = wan_ip_hash(b->data, &c.ip);
	dst = wan_host(names, b->data, c.ip.four, &dst_if);
	rest = len - c.ip.l4;
	if (!cut || c.size > rest)
		c.size = rest;
	for (at = 0;; nth++) {
		uint32_t n = rest - at < c.size ? rest - at : c.size;

		p = wan_pkt_get(pool);
		if (!p)
			break;
		*end = p;
		end = &p->next;
		p->buf = b;
		b->refs++;
		p->hash = hash;
		p->dst = dst;
		p->dst_if = dst_if;
		p->nhdr = c.ip.l4;
		memcpy(p->hdr, b->data, p->nhdr);
		p->data = c.ip.l4 + at;
		p->ndata = n;
		p->len = p->nhdr + n;
		p->csum = vh->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM;
		p->csum_start = vh->csum_start;
		p->csum_offset = vh->csum_offset;
		p->l3 = c.ip.l3;
		p->cut = cut;
		p->tcp = c.tcp;
		if (cut)
			wan_piece(p, nth, at, at + n == rest);
		at += n;
		if (at == rest)
			break;
	}
	return first;
}

bool wan_pkt_join(struct wan_pkt *to, const struct wan_pkt *p)
{
	uint32_t size = to->size ? to->size : to->ndata;
	uint8_t *flags = to->hdr + to->l3 + TCP_FLAGS;

	/* whole pieces up to now, and the next of the same super-packet */
	if (!to->cut || !p->cut || to->buf != p->buf || p->data != to->data + to->ndata || !size ||
	    to->ndata % size || p->ndata > size || to->len + p->ndata > UINT16_MAX ||
	    wan_pkt_ecn(to) != wan_pkt_ecn(p))
		return false;
	if (to->tcp ? *flags & (TCP_CWR | TCP_ENDS) : to->ndata / size >= UDP_JOINS)
		return false;
	to->size = (uint16_t)size;
	to->ndata += p->ndata;
	to->len += p->ndata;
	if (to->tcp)
		*flags |= p->hdr[p->l3 + TCP_FLAGS] & TCP_ENDS;
	return true;
}

void wan_pkt_vnet(struct wan_pkt *p, struct virtio_net_hdr *vh)
{
	memset(vh, 0, sizeof(*vh));
	if (p->size) {
		wan_lengths(p);
		vh->gso_type = !p->tcp		     ? VIRTIO_NET_HDR_GSO_UDP_L4
			       : p->hdr[0] >> 4 == 4 ? VIRTIO_NET_HDR_GSO_TCPV4
						     : VIRTIO_NET_HDR_GSO_TCPV6;
		vh->gso_size = p->size;
		vh->hdr_len = p->nhdr;
	}
	if (!p->csum)
		return;
	vh->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	vh->csum_start = p->csum_start;
	vh->csum_offset = p->csum_offset;
}
