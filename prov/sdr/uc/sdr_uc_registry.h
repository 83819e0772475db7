/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The engines that can be opened: one table (sdr_uc_registry.c). */
#ifndef SDR_UC_REGISTRY_H
#define SDR_UC_REGISTRY_H

#include "sdr_uc_engine.h"

/* In order of preference, what "auto" tries first; ends with NULL. */
extern const struct sdr_uc_engine *const sdr_uc_engines[];

/* By the first n bytes of name; NULL: there is none. */
const struct sdr_uc_engine *sdr_uc_engine_find(const char *name, size_t n);
/* The same, or one that other processes cannot be reached with. */
const struct sdr_uc_engine *sdr_uc_engine_find_here(const char *name, size_t n);
/* The preferred one of those that serve any address of this host. */
const struct sdr_uc_engine *sdr_uc_engine_any(void);
/*
 * For people, what every host has first: "soft, verbs", and with what they are "soft is RoCEv2 over
 * a UDP socket, verbs is ...".
 */
void sdr_uc_engine_names(char *buf, size_t len);
void sdr_uc_engine_help(char *buf, size_t len);
/* The names that sdr_uc_open takes. */
void sdr_uc_engine_syntax(char *buf, size_t len);
/*
 * Appends an engine's devices to *v (from malloc or NULL) with *n entries.  How many there are new,
 * or negative errno; 0 and errors: the reason in err.
 */
int sdr_uc_engine_probe(const struct sdr_uc_engine *e, struct sdr_uc_dev **v, unsigned int *n,
			char *err, size_t err_len);

#endif /* SDR_UC_REGISTRY_H */
