/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The version of the wire, and the limits that both sides must agree on whatever they talk about.
 * A limit that belongs to one object is beside that object.
 */
#ifndef SDR_LIMITS_H
#define SDR_LIMITS_H

/*
 * The version of everything below RoCE, in every control datagram and queue pair info; and the
 * range of versions that are spoken here (sdr_version.h).
 */
#define SDR_WIRE_VERSION     2u
#define SDR_WIRE_VERSION_MIN 2u
#define SDR_WIRE_VERSION_MAX 2u
#define SDR_MTU_MIN	     64u   /* payload bytes per packet */
#define SDR_MTU_MAX	     8192u /* more than RoCE's 4096: soft engine only */
/* of a reliable endpoint, whose records and reports reckon with it: at least */
#define SDR_EP_MTU_MIN	256u
#define SDR_MTU_DEFAULT 4096u
/* maximum payload bytes of a control datagram, path MTU permitting */
#define SDR_CTL_MAX 4096u
/* likewise of one that probes the path: its packet is as long as one with SDR_MTU_MAX of data */
#define SDR_PROBE_MAX	    (SDR_MTU_MAX + 64u)
#define SDR_CTL_MIN	    1024u /* every path carries control payloads of this size */
#define SDR_CHANNELS_MAX    16u
#define SDR_GENERATIONS_MAX 16u
#define SDR_IMM_ID_BITS_MAX 12u
#define SDR_PATHS_MAX	    16u /* paths of a connection, and sources of an engine */
#define SDR_WORKERS_MAX	    16u /* receive workers of an engine, each with a port */

#endif /* SDR_LIMITS_H */
