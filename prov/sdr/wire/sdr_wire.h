/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Everything that crosses the network below the reliable endpoint, in one include.  Every struct,
 * limit and number that both sides must agree on is in this folder and nowhere else.
 *
 * Three layers share one UDP port:
 *
 *   RoCEv2 frames   the soft engine's packets (sdr_roce.h, sdr_icrc.h, sdr_imm.h).
 *   control class   the first four bytes of a control datagram's payload say who it is for
 *                   (sdr_class.h): the SDK (sdr_sdk_msg.h, sdr_qp_info.h), the reliable endpoint, a
 *                   datagram endpoint (sdr_dgram_msg.h).
 *   frames          a reliable endpoint's datagram is a handshake (sdr_hello.h) or a header and a
 *                   sequence of frames (sdr_frame.h): acknowledgements, bitmaps, records.
 *
 * RoCE headers are big-endian as IBTA says; everything of ours is little-endian.  Decoders never
 * read past the length they are given, and refuse what they do not understand with -EBADMSG.  No
 * state, no threads.
 */
#ifndef SDR_WIRE_H
#define SDR_WIRE_H

#include "base/sdr_endian.h"
#include "sdr_limits.h"
#include "sdr_roce.h"
#include "sdr_icrc.h"
#include "sdr_imm.h"
#include "sdr_class.h"
#include "sdr_sdk_msg.h"
#include "sdr_qp_info.h"
#include "sdr_dgram_msg.h"

#endif /* SDR_WIRE_H */
