/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The end of a process that did not close what it opened (sdr_exit.c).
 */
#ifndef SDR_EXIT_H
#define SDR_EXIT_H

struct sdr_domain;

/*
 * Between the two the process's end is announced to the peers of the domain's endpoints, by
 * sdr_exit_farewell.
 */
void sdr_exit_domain_add(struct sdr_domain *dom);
void sdr_exit_domain_del(struct sdr_domain *dom);
void sdr_exit_farewell(void);

#endif /* SDR_EXIT_H */
