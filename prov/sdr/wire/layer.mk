# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# wire/: RoCEv2 headers and ICRC, the immediate codec, control messages, frames.
# Every .c and .h of the layer is in the list (what is not listed is neither built
# nor distributed).

EXTRA_DIST += prov/sdr/wire/README.md

noinst_LIBRARIES += libsdr_wire.a
libsdr_wire_a_SOURCES = \
	prov/sdr/wire/sdr_wire.h \
	prov/sdr/wire/sdr_limits.h \
	prov/sdr/wire/sdr_status.h \
	prov/sdr/wire/sdr_roce.h prov/sdr/wire/sdr_roce.c \
	prov/sdr/wire/sdr_icrc.h prov/sdr/wire/sdr_icrc.c \
	prov/sdr/wire/sdr_imm.h prov/sdr/wire/sdr_imm.c \
	prov/sdr/wire/sdr_knock.h prov/sdr/wire/sdr_knock.c \
	prov/sdr/wire/sdr_class.h prov/sdr/wire/sdr_class.c \
	prov/sdr/wire/sdr_sdk_msg.h prov/sdr/wire/sdr_sdk_msg.c \
	prov/sdr/wire/sdr_dgram_msg.h prov/sdr/wire/sdr_dgram_msg.c \
	prov/sdr/wire/sdr_qp_info.h prov/sdr/wire/sdr_qp_info.c \
	prov/sdr/wire/sdr_tag.h \
	prov/sdr/wire/sdr_tlv.h \
	prov/sdr/wire/sdr_version.h prov/sdr/wire/sdr_version.c \
	prov/sdr/wire/sdr_hello.h prov/sdr/wire/sdr_hello.c \
	prov/sdr/wire/sdr_part.h prov/sdr/wire/sdr_part.c \
	prov/sdr/wire/sdr_varint.h \
	prov/sdr/wire/sdr_frame.h prov/sdr/wire/sdr_frame_impl.h prov/sdr/wire/sdr_frame.c \
	prov/sdr/wire/sdr_ack.c \
	prov/sdr/wire/sdr_record.h prov/sdr/wire/sdr_record.c \
	prov/sdr/wire/sdr_atomic.h prov/sdr/wire/sdr_atomic.c \
	prov/sdr/wire/sdr_cm_msg.h prov/sdr/wire/sdr_cm_msg.c
