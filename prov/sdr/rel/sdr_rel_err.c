/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One row for each reason why an operation fails: its errno, and the cause and one next step for
 * fi_cq_strerror and logs.  Constant, any thread.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "sdr_rel_err.h"
#include "wire/sdr_limits.h"

static const struct {
	int err; /* errno */
	const char *text;
} errs[] = {
	[SDR_REL_OK] = { 0, "success" },
	[SDR_REL_ERR_NO_ANSWER] = { ETIMEDOUT,
				    "the peer never answered the handshake: check that its process runs, that "
				    "the address and port are right, and that UDP passes the firewall both "
				    "ways" },
	[SDR_REL_ERR_STOPPED] = { ETIMEDOUT,
				  "the peer stopped answering: it died or the path is cut; check the remote "
				  "process and the link, or raise FI_SDR_TIMEOUT if outages this long are "
				  "normal" },
	[SDR_REL_ERR_RESTARTED] = { ECONNRESET,
				    "another process took the peer's address: the peer restarted; resolve its "
				    "address again and repeat the operation" },
	[SDR_REL_ERR_CLOSED] = { ECONNABORTED,
				 "the peer closed its endpoint before the operation was complete: check "
				 "why it ended early" },
	[SDR_REL_ERR_REFUSED] = { ECONNREFUSED,
				  "the peer refused the connection: both sides need the same "
				  "FI_SDR_IMM_SPLIT, FI_SDR_CHANNELS and FI_SDR_GENERATIONS, and the same "
				  "version of sdr" },
	[SDR_REL_ERR_KEY] = { EACCES,
			      "remote memory access refused: the key is unknown there or was closed "
			      "meanwhile, the range leaves the region, or the region was registered "
			      "without that access; check key, address and "
			      "FI_REMOTE_READ/FI_REMOTE_WRITE" },
	[SDR_REL_ERR_TRUNC] = { EMSGSIZE,
				"the message is longer than the receive buffer: post a larger one" },
	[SDR_REL_ERR_CANCELED] = { ECANCELED, "the operation was cancelled" },
	[SDR_REL_ERR_NOMEM] = { ENOMEM,
				"a limit of the endpoint or its peer is reached: post less at a time, or "
				"raise the process's memory" },
	[SDR_REL_ERR_ENGINE] = { EIO,
				 "the network engine failed, or ended its connection to this peer: see "
				 "the log (FI_LOG_LEVEL=warn) and repeat the operation; reopen the "
				 "endpoint if that fails as well" },
	[SDR_REL_ERR_NOMSG] = { ENOMSG, "no message matches" },
	[SDR_REL_ERR_REG] = { ENOMEM,
			      "the device, here or the peer's, has no more memory registrations: have "
			      "fewer large transfers under way at a time, or raise the limit of locked "
			      "memory (ulimit -l)" },
	[SDR_REL_ERR_PATH] = { ECONNREFUSED,
			       "the two sides reach each other, but one's engine cannot exchange data "
			       "with the other's device: see that side's log (FI_LOG_LEVEL=warn), or use "
			       "FI_SDR_ENGINE=soft on both" },
	[SDR_REL_ERR_CODE] = { EOPNOTSUPP,
			       "the peer cannot decode the parity of FI_SDR_EC_CODE, FI_SDR_EC_K, "
			       "FI_SDR_EC_M and FI_SDR_CHUNK_SIZE: use smaller values, or "
			       "FI_SDR_RELIABILITY=auto" },
	[SDR_REL_ERR_PROTO] = { EPROTO,
				"the peer broke the protocol: check that both sides run the same version "
				"of sdr" },
	[SDR_REL_ERR_VERSION] = { EPROTONOSUPPORT,
				  "the two sides have no version of the protocol in common: install the "
				  "same release of sdr on both" },
	[SDR_REL_ERR_STALLED] = { ETIMEDOUT,
				  "the peer answers, but nothing large arrives, or nothing at all of what "
				  "is under way: a path MTU or a firewall; check that large UDP datagrams "
				  "pass both ways, or lower FI_SDR_MTU" },
	[SDR_REL_ERR_DENIED] = { ETIMEDOUT,
				 "the peer did not answer, and this host itself refuses to send to it: "
				 "its firewall drops outgoing UDP datagrams; allow them to the peer's "
				 "address and port (nft list ruleset)" },
	[SDR_REL_ERR_UNSUPPORTED] = { EOPNOTSUPP,
				      "the peer does not carry out this operation: its version of sdr has "
				      "no atomics, or its processor another long double; install the same "
				      "release on both, or use another datatype" },
	[SDR_REL_ERR_ALIGN] = { EINVAL,
				"the target of the atomic is not aligned like its datatype: give the "
				"remote address of an element" },
	[SDR_REL_ERR_MEM] = { EIO,
			      "memory of a device, here or the peer's, could not be copied: its driver "
			      "failed, or it was freed before the operation was over; check that it lives "
			      "as long, and the device" },
	[SDR_REL_ERR_NOBODY] = { ECONNREFUSED,
				 "nobody takes connections there: the endpoint at that address does not "
				 "listen, has as many requests waiting as its backlog allows, or has given "
				 "up; check address and port, that it has called fi_listen, and FI_BACKLOG" },
};

_Static_assert(sizeof(errs) / sizeof(errs[0]) == SDR_REL_ERRS, "a row for each error");

int sdr_rel_errno(int prov_err)
{
	prov_err = sdr_rel_err_kind(prov_err);
	if (prov_err < 0 || prov_err >= SDR_REL_ERRS)
		return -EIO;
	return -errs[prov_err].err;
}

const char *sdr_rel_strerror(int prov_err)
{
	prov_err = sdr_rel_err_kind(prov_err);
	if (prov_err < 0 || prov_err >= SDR_REL_ERRS)
		return "unknown error of the sdr provider";
	return errs[prov_err].text;
}

/* "version 2", "versions 3 to 5" */
static void versions_text(uint32_t min, uint32_t max, char *buf, size_t len)
{
	if (min == max)
		snprintf(buf, len, "version %u", min);
	else
		snprintf(buf, len, "versions %u to %u", min, max);
}

void sdr_rel_err_text(int prov_err, char *buf, size_t len)
{
	int kind = sdr_rel_err_kind(prov_err);
	char peer[32], own[32];

	if (kind == prov_err || (kind != SDR_REL_ERR_VERSION && kind != SDR_REL_ERR_STALLED)) {
		snprintf(buf, len, "%s", sdr_rel_strerror(prov_err));
		return;
	}
	if (kind == SDR_REL_ERR_STALLED) {
		snprintf(
			buf, len,
			"the peer answers, but nothing large arrives, or nothing at all of what is "
			"under way: a path MTU or a firewall; check that UDP datagrams of %d bytes pass "
			"both ways, or lower FI_SDR_MTU",
			prov_err >> 8 & 0xffff);
		return;
	}
	versions_text(prov_err >> 8 & 0xff, prov_err >> 16 & 0xff, peer, sizeof(peer));
	versions_text(SDR_WIRE_VERSION_MIN, SDR_WIRE_VERSION_MAX, own, sizeof(own));
	snprintf(
		buf, len,
		"the peer speaks %s of the protocol, this side %s: install the same release of sdr on "
		"both",
		peer, own);
}
