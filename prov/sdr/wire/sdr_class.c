/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The class header in front of every control datagram.  Decides whether bytes are one, and of this
 * version.  No state, no timers; any thread.
 */
#include "base/sdr_assert.h"
#include "sdr_wire.h"
#include "sdr_tag.h"

#include <errno.h>

void sdr_class_encode(uint8_t *p, enum sdr_class c, uint8_t type)
{
	SDR_ASSERT((unsigned int)c <= UINT8_MAX && c > 0);
	p[0] = SDR_CLASS_MAGIC;
	p[1] = SDR_WIRE_VERSION;
	p[2] = (uint8_t)c;
	p[3] = type;
}

int sdr_class_decode(const uint8_t *p, size_t len, uint8_t *type)
{
	if (len < SDR_CLASS_LEN || p[0] != SDR_CLASS_MAGIC)
		return -EBADMSG;
	if (p[1] != SDR_WIRE_VERSION)
		return -EPROTONOSUPPORT;
	switch (p[2]) {
	case SDR_CLASS_SDK:
	case SDR_CLASS_REL:
	case SDR_CLASS_DGRAM:
		*type = p[3];
		return p[2];
	case SDR_CLASS_SDK | SDR_CLASS_SEALED:
	case SDR_CLASS_REL | SDR_CLASS_SEALED:
	case SDR_CLASS_DGRAM | SDR_CLASS_SEALED:
		return len < SDR_CLASS_LEN + SDR_TAG_LEN ? -EBADMSG : -ENOKEY;
	default:
		return -EBADMSG;
	}
}
