/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What an engine says of itself before one is open: one row of the registry (sdr_uc_registry.h).
 *
 * An engine either serves devices, which it can list (probe), or any address of this host (probe is
 * NULL).  Beside its row nothing of an engine is known to the layers above, by name or otherwise.
 * All calls are thread-safe.
 */
#ifndef SDR_UC_ENGINE_H
#define SDR_UC_ENGINE_H

#include <net/if.h>
#include <sys/socket.h>
#include "base/sdr_mem.h"
#include "sdr_uc.h"

#define SDR_UC_NAME_MAX	 16u	/* bytes of an engine's name, final zero included */
#define SDR_UC_DEV_NAME	 64u	/* bytes of a device's name, likewise */
#define SDR_UC_ERR_LEN	 256u	/* bytes that hold every message written to err */
#define SDR_UC_DEPTH_MAX 16384u /* packets of a device queue's depth */
#define SDR_DSCP_MAX	 63u	/* six bits of the IP header */

struct sdr_uc_engine;
struct sdr_uc_mem;

/* A device at one of its addresses. */
struct sdr_uc_dev {
	const struct sdr_uc_engine *engine; /* that serves it */
	char name[SDR_UC_DEV_NAME];	    /* "rxe0" */
	char netdev[IF_NAMESIZE];	    /* "eth0"; "" unknown */
	uint8_t port;			    /* from 1 */
	int gid_index;
	struct sockaddr_storage addr; /* port 0; IPv6 link-local with its scope */
	uint32_t mtu;		      /* payload bytes per packet */
	uint64_t speed_bps;	      /* 0 unknown */
	char late[8];		      /* sdr_uc_info.late of an engine on it */
	char driver[16];	      /* kernel driver: "rxe", "mlx5"; "" unknown */
};

/*
 * Payload bytes of a control datagram that is no longer on the wire than a data packet of mtu
 * bytes; of those that every path carries at least.
 */
static inline uint32_t sdr_uc_ctl_of_mtu(uint32_t mtu)
{
	uint32_t most = mtu + SDR_DATA_OVERHEAD - SDR_CTL_OVERHEAD;

	return most > SDR_CTL_MIN ? most : SDR_CTL_MIN;
}

/* How to open one; what an engine has no use for it ignores. */
struct sdr_uc_open_attr {
	/* port 0: any; address 0: all of the family; family 0: all of IPv4 */
	struct sockaddr_storage bind;
	/*
	 * Where any port does, and for every further source port: one that is free in lo..hi, 4791
	 * left out, which belongs to devices; -EADDRINUSE when there is none.  0, 0: the kernel's
	 * choice.
	 */
	uint16_t port_lo, port_hi;
	/*
	 * Sources beside the one at bind (sdr_uc_info.sources): addresses of the same family, port
	 * 0: any.  At most SDR_PATHS_MAX - 1; engines that have one source ignore them.  One that
	 * cannot be opened is left out: info.sources says how many there are, err why.
	 */
	const struct sockaddr_storage *more;
	uint8_t nmore;
	const char *device; /* NULL: the one that has the address */
	/*
	 * payload bytes per packet, and a bound of everything that is sent (sdr_uc_ctl_of_mtu); 0:
	 * what the local device carries
	 */
	uint32_t mtu;
	const char *fault; /* syntax in sdr_fault.h; NULL or "": none */
	uint64_t seed;	   /* of fault injection where its text has no seed=; 0 is a seed too */
	/* sockets: buffers, bytes requested of the kernel; 0: the engine's defaults */
	uint32_t rcvbuf;
	uint32_t sndbuf;
	uint8_t channels; /* sockets: source ports, for ECMP; 0: 1 */
	uint8_t off;	  /* SDR_SOFT_NO_*: kernel features to do without */
	bool no_ecn;	  /* info.ecn is to be false: marks are neither asked for nor looked at */
	/* threads that place packets, of sockets also send, 0..SDR_WORKERS_MAX */
	uint8_t workers;
	uint8_t dscp; /* differentiated services code point of everything that is sent, 0..63 */
	/* sockets: peers of this host through shared memory; unpredictable to others, 0: not */
	uint64_t shm;
	/* devices: protection against late packets, "root", "mw", "mr"; NULL or "auto": by itself */
	const char *late;
	uint32_t rx_depth; /* devices: receives per queue pair, packets; 0: the engine's default */
	uint32_t tx_depth; /* devices: sends, likewise */
	/* reason of a failure, also of one that only `more` had, with its remedy; may be NULL */
	char *err;
	size_t err_len; /* bytes at err */
};

struct sdr_uc_engine {
	const char *name;  /* "verbs": in FI_SDR_ENGINE, and before the colon of a name */
	const char *is;	   /* for help texts: "an RDMA device" */
	const char *one;   /* in a sentence: "a UDP socket" */
	const char *what;  /* in front of an address: "UDP port" */
	const char *look;  /* where a user sees which addresses there are: "ibv_devinfo -v ..." */
	const char *names; /* that sdr_uc_open takes, for messages */
	/*
	 * Devices that can be used now, each at each of its addresses: *v from malloc with *n
	 * entries.  0 entries is no error (err says what is missing), and then nothing needs to be
	 * freed.  Negative errno when there are devices that cannot be used, with reason and remedy
	 * in err.  NULL: serves any address of this host.
	 */
	int (*probe)(struct sdr_uc_dev **v, unsigned int *n, char *err, size_t err_len);
	/* Payload bytes of the largest control datagram from this address; dev NULL: no device. */
	uint32_t (*ctl_max)(const struct sockaddr *from, const struct sdr_uc_dev *dev);
	/* Leaves attr->fault to its caller.  0 or negative errno with a->err. */
	int (*open)(const struct sdr_uc_open_attr *a, struct sdr_uc **uc);
	/*
	 * Memory that the application registered itself (fi_mr_reg): engines of this process on
	 * this device use the registration instead of making their own, until it is released.  far:
	 * where it lies; NULL: where the CPU reaches it.  dmabuf: of far, which the application
	 * has named; NULL: far is asked.  0, or what the device said, with a reason.  NULL: there
	 * is nothing to register with.
	 */
	int (*mem_reg)(const char *device, void *buf, size_t len, const struct sdr_mem *far,
		       const struct sdr_dmabuf *dmabuf, struct sdr_uc_mem **mem, char *err,
		       size_t err_len);
	void (*mem_dereg)(struct sdr_uc_mem *mem);
};

#endif /* SDR_UC_ENGINE_H */
