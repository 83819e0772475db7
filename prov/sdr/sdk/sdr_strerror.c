/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Texts for the errors of this library: what happened and what to do next, in one line each.
 * Constant strings, any thread.
 */
#include <errno.h>
#include <stddef.h>

#include <sdr/sdr.h>

static const struct {
	unsigned int err; /* errno */
	const char *text;
} sdr_errors[] = {
	{ 0, "success" },
	{ EAGAIN,
	  "not yet: all message IDs are in flight, the receiver has not posted its buffer, or the engine is full; "
	  "call sdr_context_progress and try again" },
	{ EINVAL,
	  "an argument is outside its range: check length, offset (multiple of the MTU), alignment, and the "
	  "size field of the attributes" },
	{ EBUSY, "still in use: destroy the QPs and deregister the memory of the context first" },
	{ EALREADY, "this message number was completed before: use the next one" },
	{ ENOMEM,
	  "out of memory, or too many messages in flight: complete receives and poll sends" },
	{ ENOTCONN, "the QP is not connected: exchange the infos and call sdr_qp_connect" },
	{ EISCONN, "the QP is connected already: create another QP for another peer" },
	{ EPROTO,
	  "the two sides' QPs differ: give both the same mtu, max_msg, immediate split, channels and "
	  "generations, and the same version of sdr" },
	{ EBADMSG,
	  "these bytes are not a QP info: carry all SDR_QP_INFO_SIZE bytes of sdr_qp_info_get unchanged" },
	{ EOPNOTSUPP,
	  "the immediate split leaves no bits for the user's immediate: set user_bits" },
	{ EADDRINUSE, "another process uses this UDP port: choose another port, or none" },
	{ EADDRNOTAVAIL, "no interface of this machine has this address: see `ip address`" },
	{ EAFNOSUPPORT,
	  "this machine does not speak this kind of address: try the other of IPv4 and IPv6" },
	{ EMSGSIZE, "the device cannot carry packets of this size: lower the mtu" },
	{ ENODEV,
	  "no such device: names are soft[:ADDRESS[:PORT]] and verbs[:DEVICE[:ADDRESS[:PORT]]]; `ibv_devices` lists "
	  "RDMA devices" },
	{ EDESTADDRREQ,
	  "the other side's QP info has no address: name one when its context is created (soft:ADDRESS), or take "
	  "its info with sdr_qp_info_route" },
	{ EMFILE, "too many open files in this process: raise `ulimit -n`" },
	{ ENOBUFS,
	  "the kernel has no buffers for another socket: close some, or raise net.core limits" },
	{ EACCES, "the system refused the socket: check permissions and firewall rules" },
	{ EPERM, "the system refused the socket: check permissions and firewall rules" },
	{ EIO, "the engine broke: destroy the context and create it again" },
	{ ENETDOWN, "the network interface is down: bring it up and create the context again" },
	{ ENETUNREACH, "no route to the peer: check the routing table" },
};

const char *sdr_strerror(int err)
{
	unsigned int e = err < 0 ? 0u - (unsigned int)err : (unsigned int)err;
	size_t i;

	for (i = 0; i < sizeof(sdr_errors) / sizeof(sdr_errors[0]); i++)
		if (sdr_errors[i].err == e)
			return sdr_errors[i].text;
	return "an error of the operating system: see errno(3) for this number";
}
