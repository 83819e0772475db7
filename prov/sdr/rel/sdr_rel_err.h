/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Why an operation failed, for people and for programs. */
#ifndef SDR_REL_ERR_H
#define SDR_REL_ERR_H

#include <stddef.h>
#include <stdint.h>

/*
 * Why an operation failed: goes out as prov_errno; text and next step from sdr_rel_strerror.  Those
 * that peers receive have the values of enum sdr_wire_status.
 */
enum sdr_rel_err {
	SDR_REL_OK = 0,
	SDR_REL_ERR_NO_ANSWER = 1, /* handshake never answered within the timeout */
	SDR_REL_ERR_STOPPED = 2,   /* the peer answered before and stopped */
	SDR_REL_ERR_RESTARTED = 3, /* another process took the peer's address */
	SDR_REL_ERR_CLOSED = 4,	   /* the peer closed its endpoint */
	SDR_REL_ERR_REFUSED = 5,   /* geometry or key of the two sides do not agree */
	/* remote key unknown or revoked, out of bounds or access not granted */
	SDR_REL_ERR_KEY = 6,
	SDR_REL_ERR_TRUNC = 7, /* message longer than the receive buffer */
	SDR_REL_ERR_CANCELED = 8,
	SDR_REL_ERR_NOMEM = 9,	 /* a named limit of this endpoint or the peer's */
	SDR_REL_ERR_ENGINE = 10, /* the engine failed, or this connection's part of it */
	SDR_REL_ERR_NOMSG = 11,	 /* peek found nothing */
	SDR_REL_ERR_REG = 12,	 /* a device, here or the peer's, has no registration left */
	SDR_REL_ERR_PROTO = 13,	 /* the peer broke the protocol */
	SDR_REL_ERR_PATH = 14,	 /* an engine cannot exchange data with the other side's */
	/* the peer cannot decode the parity of the settings, or sent what cannot be decoded */
	SDR_REL_ERR_CODE = 15,
	/* the two sides have no version of the wire in common; see sdr_rel_err_version */
	SDR_REL_ERR_VERSION = 16,
	/*
	 * the peer answers, and nothing that is due comes closer; see sdr_rel_err_stalled
	 */
	SDR_REL_ERR_STALLED = 17,
	SDR_REL_ERR_DENIED = 18, /* this host refuses to send */
	/* the peer does not know this operation, or not on this type */
	SDR_REL_ERR_UNSUPPORTED = 19,
	SDR_REL_ERR_ALIGN = 20,	 /* the target of an atomic is not aligned like its type */
	SDR_REL_ERR_MEM = 21,	 /* a device's memory could not be copied */
	SDR_REL_ERR_NOBODY = 22, /* a call that nobody takes over there */
	SDR_REL_ERRS,		 /* how many there are */
};

/*
 * A prov_errno of kind VERSION says besides which versions the peer speaks: bits 8 to 15 the
 * lowest, 16 to 23 the highest.
 */
static inline int sdr_rel_err_version(uint8_t min, uint8_t max)
{
	return SDR_REL_ERR_VERSION | min << 8 | max << 16;
}
/* One of kind STALLED says how long its largest UDP datagrams are: bits 8 to 23. */
static inline int sdr_rel_err_stalled(uint32_t bytes)
{
	return SDR_REL_ERR_STALLED | (int)(bytes & 0xffff) << 8;
}
/* enum sdr_rel_err */
static inline int sdr_rel_err_kind(int prov_err)
{
	int kind = prov_err & 0xff;

	return kind == SDR_REL_ERR_VERSION || kind == SDR_REL_ERR_STALLED ? kind : prov_err;
}

/* The cause and one next step. */
const char *sdr_rel_strerror(int prov_err);
#define SDR_REL_ERR_TEXT 384u /* bytes that hold any text */
/* The same, with the versions of both sides, or the size of datagrams, where that is the cause. */
void sdr_rel_err_text(int prov_err, char *buf, size_t len);
/* 0 or a negative errno; what is no enum sdr_rel_err: -EIO. */
int sdr_rel_errno(int prov_err);

#endif /* SDR_REL_ERR_H */
