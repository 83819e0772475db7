/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where an endpoint is bound, and by which name others know it (sdr_ep_addr.c).  All but the first
 * under ep->lock.
 */
#ifndef SDR_EP_ADDR_H
#define SDR_EP_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct fi_info;
struct sdr_ep;
struct sdr_uc_addr;

/* What the info says.  0 or -FI_EINVAL. */
int sdr_ep_addr_init(struct sdr_ep *ep, const struct fi_info *info);
/* Another address and port (fi_setname), until the engine is open: -FI_EOPBADSTATE. */
int sdr_ep_addr_set(struct sdr_ep *ep, const void *addr, size_t len);
/* What to bind: ep->src, completed by the settings.  0, or FI error with err. */
int sdr_ep_addr_choose(struct sdr_ep *ep, struct sockaddr_storage *src, char *err, size_t err_len);
/* What the engine is bound to: from now on the endpoint has a name. */
void sdr_ep_addr_bound(struct sdr_ep *ep, const struct sdr_uc_addr *addr);
/*
 * The name that others are given (fi_getname): FI_SDR_ADVERTISE's, or the address that it is bound
 * to.  0, or -FI_EOPBADSTATE before the engine is open.
 */
int sdr_ep_name(const struct sdr_ep *ep, struct sockaddr_storage *out);
/* Into the application's buffer, as fi_getname wants it: 0 or -FI_ETOOSMALL. */
int sdr_ep_addr_give(const struct sockaddr_storage *sa, void *addr, size_t *len);
/*
 * How this endpoint reaches an address: names of this host lead to this host, whatever a router in
 * front of it does with them.  Those are its own, and with FI_SDR_ADVERTISE without a port all of
 * that address in FI_SDR_PORT_RANGE, which the router forwards here.  False: the same.
 */
bool sdr_ep_addr_home(const struct sdr_ep *ep, struct sdr_uc_addr *addr);
/* The other way round: the name of who sends from an address of this host; false: the same. */
bool sdr_ep_addr_away(const struct sdr_ep *ep, struct sdr_uc_addr *addr);
/*
 * Says in the log where routing would send to this peer from another address than the endpoint's.
 */
void sdr_ep_addr_way(const struct sdr_ep *ep, const struct sdr_uc_addr *peer);
/* For the log: "10.0.0.2:20100 on wan0 (FI_SDR_IFACE), advertised as ..., ports 20100-20109". */
void sdr_ep_addr_text(const struct sdr_ep *ep, char *buf, size_t len);

#endif /* SDR_EP_ADDR_H */
