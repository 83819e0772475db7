/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A build without the headers of libibverbs: there are no devices, and a request for one is
 * answered why.
 */
#include <errno.h>
#include <stdio.h>

#include "sdr_verbs.h"

static int sdr_verbs_none(char *err, size_t err_len, int ret)
{
	if (err && err_len)
		snprintf(
			err, err_len,
			"this build of sdr has no verbs engine (apt-get install libibverbs-dev, then configure "
			"again)");
	return ret;
}

int sdr_verbs_list(struct sdr_uc_dev **v, unsigned int *n, char *err, size_t err_len)
{
	*v = NULL;
	*n = 0;
	return sdr_verbs_none(err, err_len, 0);
}

int sdr_verbs_open(const struct sdr_verbs_attr *attr, struct sdr_uc **uc)
{
	*uc = NULL;
	return sdr_verbs_none(attr->err, attr->err_len, -EOPNOTSUPP);
}

int sdr_verbs_mem_reg(const char *device, void *buf, size_t len, const struct sdr_mem *far,
		      const struct sdr_dmabuf *dmabuf, struct sdr_uc_mem **mem, char *err,
		      size_t err_len)
{
	(void)device;
	(void)buf;
	(void)len;
	(void)far;
	(void)dmabuf;
	*mem = NULL;
	return sdr_verbs_none(err, err_len, -EOPNOTSUPP);
}

void sdr_verbs_mem_dereg(struct sdr_uc_mem *mem)
{
	(void)mem;
}
