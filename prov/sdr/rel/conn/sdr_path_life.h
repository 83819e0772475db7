/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Whether a path is alive: see sdr_path_life.c. */
#ifndef SDR_PATH_LIFE_H
#define SDR_PATH_LIFE_H

#include "sdr_conn.h"

/* The peer has answered by it, what was asked then. */
void sdr_path_alive(struct sdr_conn *c, struct sdr_path *p, uint64_t asked_ns);
/* What goes there is not answered: it goes elsewhere.  It was alive, and is not the last. */
void sdr_path_silent(struct sdr_conn *c, struct sdr_path *p);

#endif /* SDR_PATH_LIFE_H */
