/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Kinds of values that a setting can have (sdr_env_kind.c, those of networks sdr_env_net.c).  A new
 * kind is a row here and three functions there.
 */
#ifndef SDR_ENV_KIND_H
#define SDR_ENV_KIND_H

#include <stddef.h>

struct sdr_env_var;

/* A whole number in a field of any width; as snprintf. */
int sdr_whole_format(const struct sdr_env_var *v, const void *at, char *buf, size_t len);

struct sdr_env_kind {
	/* Into the field at `at`; 0, or -EINVAL and why: "must be ...". */
	int (*parse)(const struct sdr_env_var *v, const char *text, void *at, char *why,
		     size_t len);
	/* As snprintf. */
	int (*format)(const struct sdr_env_var *v, const void *at, char *buf, size_t len);
	/* What is allowed, separated by ", "; NULL: v->range says it. */
	void (*names)(const struct sdr_env_var *v, char *buf, size_t len);
};

extern const struct sdr_env_kind sdr_kind_choice; /* one of v->names: its value */
extern const struct sdr_env_kind sdr_kind_label;  /* one of v->names: the name */
extern const struct sdr_env_kind sdr_kind_engine; /* the default, or one of the registry */
extern const struct sdr_env_kind sdr_kind_scheme; /* a scheme, sdr_scheme_table */
extern const struct sdr_env_kind sdr_kind_cc;	  /* a congestion control, sdr_cc_table */
extern const struct sdr_env_kind sdr_kind_uint;	  /* whole, suffixes k, m, g (powers of 1024) */
extern const struct sdr_env_kind sdr_kind_real;
/* bits per second: whole, or with kbit, mbit, gbit (powers of 1000) */
extern const struct sdr_env_kind sdr_kind_rate;
extern const struct sdr_env_kind sdr_kind_ceiling; /* a rate, and who shares it */
extern const struct sdr_env_kind sdr_kind_dscp;	   /* 0..63, or a name of one */
extern const struct sdr_env_kind sdr_kind_text;
extern const struct sdr_env_kind sdr_kind_split;  /* of the immediate */
extern const struct sdr_env_kind sdr_kind_iface;  /* a text that sdr_iface_rules_parse takes */
extern const struct sdr_env_kind sdr_kind_host;	  /* a numeric address of a host */
extern const struct sdr_env_kind sdr_kind_remote; /* ADDRESS[:PORT], that others can send to */
extern const struct sdr_env_kind sdr_kind_ports;  /* A-B */
extern const struct sdr_env_kind sdr_kind_fault;  /* a text that fault injection understands */

#endif /* SDR_ENV_KIND_H */
