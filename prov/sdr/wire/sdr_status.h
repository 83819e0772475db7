/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The numbers that stand for a reason or a kind on the wire.  They are fixed: a number never gets
 * another meaning, a new meaning takes a new number.  What has the same name inside a process is
 * bound to these by assertions (rel/conn/sdr_wire_err.c).
 */
#ifndef SDR_STATUS_H
#define SDR_STATUS_H

/*
 * How an operation ended: the field `status` of a record (sdr_record.h), 16 bits, signed.  What is
 * not listed was sent by a later version, and means a failure that this one has no name for.
 */
enum sdr_wire_status {
	SDR_WIRE_STATUS_OK = 0,
	SDR_WIRE_STATUS_KEY = 6,	  /* remote key unknown, range or access refused */
	SDR_WIRE_STATUS_TRUNC = 7,	  /* the message is longer than its receive */
	SDR_WIRE_STATUS_CANCELED = 8,	  /* cancelled by its owner */
	SDR_WIRE_STATUS_NOMEM = 9,	  /* a limit, or the memory, of the reporting side */
	SDR_WIRE_STATUS_ENGINE = 10,	  /* the engine of the reporting side failed */
	SDR_WIRE_STATUS_REG = 12,	  /* its device has no memory registration left */
	SDR_WIRE_STATUS_PROTO = 13,	  /* the other side broke the protocol */
	SDR_WIRE_STATUS_CODE = 15,	  /* parity that cannot be decoded here */
	SDR_WIRE_STATUS_UNSUPPORTED = 19, /* no such atomic here: operation, type, representation */
	SDR_WIRE_STATUS_ALIGN = 20,	  /* an atomic's elements are not aligned like their type */
	SDR_WIRE_STATUS_MEM = 21,	  /* memory of its device could not be copied */
	SDR_WIRE_STATUS_NOBODY = 22,	  /* nobody takes this call */
};

/* The same field in a CTS record. */
enum sdr_wire_cts_status {
	SDR_WIRE_CTS_LATE = 0,	   /* the receive was posted after the announcement came */
	SDR_WIRE_CTS_EXPECTED = 1, /* it had been waiting for it; WRITE: always */
};

/* What HELLO_ACK says of the HELLO that it answers; HELLO: OK. */
enum sdr_hello_status {
	SDR_HELLO_OK = 0,
	SDR_HELLO_REFUSED_GEOMETRY = 1, /* mtu, split, channels ... do not agree */
	SDR_HELLO_REFUSED_LIMIT = 2,	/* too many peers here */
	/* the engine here cannot reach the other's device, or socket */
	SDR_HELLO_REFUSED_PATH = 3,
	/* no refusal: the connection that this HELLO would open is there, under another name */
	SDR_HELLO_SAME = 4,
};

/* Why a connection is closed: the field `reason` of CLOSE.  Any but BYE_ACK closes. */
enum sdr_close_reason {
	SDR_CLOSE_BYE = 1,     /* the endpoint was closed in order */
	SDR_CLOSE_BYE_ACK = 2, /* the answer: seen */
};

/* Kinds of parity (struct sdr_frame_code, and as bits in HELLO's `codes`). */
enum sdr_wire_code {
	SDR_WIRE_CODE_XOR = 1,
	SDR_WIRE_CODE_MDS = 2,
};
#define SDR_WIRE_CODE_KINDS	   (1u << SDR_WIRE_CODE_XOR | 1u << SDR_WIRE_CODE_MDS)
#define SDR_WIRE_CODE_F_INTERLEAVE 0x1u /* chunks are dealt out to the submessages in turn */
#define SDR_WIRE_CODE_F_CHUNK	   0x2u /* a chunk counts only when all its packets are there */
#define SDR_WIRE_CODE_FLAGS	   0x3u

#endif /* SDR_STATUS_H */
