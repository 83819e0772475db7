/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The table of environment variables.
 *
 * Every FI_SDR_ variable is once in sdr_env_vars: name, kind of value, default, unit, what is
 * allowed, help, and where in struct sdr_env its value lies.  How a kind is read and written is in
 * sdr_env_kind.c; no variable is known by its name.
 */

#include <stddef.h>

#include "fec/sdr_code.h"
#include "sdr_env.h"
#include "sdr_env_kind.h"
#include "sdr_work.h"

#define AT(m) .off = offsetof(struct sdr_env, m), .width = sizeof(((struct sdr_env *)NULL)->m)

/* The names of choices and their numbers; of a label the name itself is kept. */
static const struct sdr_env_name sdr_ec_code_names[] = {
	{ "mds", SDR_CODE_MDS },
	{ "xor", SDR_CODE_XOR },
	{ NULL, 0 },
};
static const struct sdr_env_name sdr_ec_decode_names[] = {
	{ "row", false },
	{ "chunk", true },
	{ NULL, 0 },
};
static const struct sdr_env_name sdr_objective_names[] = {
	{ "mean", SDR_OBJECTIVE_MEAN },
	{ "p99", SDR_OBJECTIVE_P99 },
	{ "p999", SDR_OBJECTIVE_P999 },
	{ NULL, 0 },
};
/* of what says that something is not to be */
static const struct sdr_env_name sdr_no_names[] = {
	{ "on", false },
	{ "off", true },
	{ NULL, 0 },
};
static const struct sdr_env_name sdr_verbs_late_names[] = {
	{ "auto", 0 }, { "root", 0 }, { "mw", 0 }, { "mr", 0 }, { NULL, 0 },
};

/* What a range cannot say of a number inside it. */
static bool sdr_env_fours(double x)
{
	return (uint64_t)x % 4 == 0;
}

static bool sdr_env_power(double x)
{
	return ((uint64_t)x & ((uint64_t)x - 1)) == 0;
}

const struct sdr_env_var sdr_env_vars[] = {
	{ .name = "engine",
	  .kind = &sdr_kind_engine,
	  .def = "auto",
	  .help = "Engine that moves the packets: %s; auto offers devices first, then "
		  "sockets, and takes a socket where a device cannot be opened.",
	  AT(engine) },
	{ .name = "reliability",
	  .kind = &sdr_kind_scheme,
	  .def = "auto",
	  .peers = true,
	  .help = "How losses are repaired: sr sends again what RACK, tail probes and "
		  "NACKs show as lost; ec sends parity with everything and more of it on "
		  "demand; hybrid sends parity where a repair would come too late; auto "
		  "does as hybrid where that pays, else as sr, decided for each transfer. "
		  "sr_rto, sr_nack and ec_sr are the plain schemes of the SDR paper, for "
		  "comparison.",
	  AT(rel.scheme) },
	{ .name = "ec_code",
	  .kind = &sdr_kind_choice,
	  .def = "mds",
	  .names = sdr_ec_code_names,
	  .help = "Erasure code of ec and ec_sr: mds repairs any FI_SDR_EC_M losses of a "
		  "codeword, xor one in each of FI_SDR_EC_M groups.",
	  AT(rel.ec_code) },
	{ .name = "ec_k",
	  .kind = &sdr_kind_uint,
	  .def = "32",
	  .unit = "chunks",
	  .range = "1..255",
	  .min = 1,
	  .max = 255,
	  .help = "Data chunks of a submessage under ec and ec_sr; 256 at most with "
		  "FI_SDR_EC_M.",
	  AT(rel.ec_k) },
	{ .name = "ec_m",
	  .kind = &sdr_kind_uint,
	  .def = "8",
	  .unit = "chunks",
	  .range = "1..255",
	  .min = 1,
	  .max = 255,
	  .help = "Parity chunks of a submessage under ec and ec_sr; 256 at most with "
		  "FI_SDR_EC_K.",
	  AT(rel.ec_m) },
	{ .name = "ec_decode",
	  .kind = &sdr_kind_choice,
	  .def = "row",
	  .names = sdr_ec_decode_names,
	  .help = "What a codeword of ec and ec_sr is made of: the packets at one place "
		  "of all chunks, or whole chunks as in the SDR paper.",
	  AT(rel.ec_chunk_decode) },
	{ .name = "ec_scratch",
	  .kind = &sdr_kind_uint,
	  .def = "512m",
	  .unit = "bytes",
	  .range = "1m..64g",
	  .min = 1048576,
	  .max = 68719476736.0,
	  .help = "Parity that an endpoint may hold at a time, sent and received.",
	  AT(rel.ec_scratch) },
	{ .name = "hmem_stage",
	  .kind = &sdr_kind_uint,
	  .def = "256m",
	  .unit = "bytes",
	  .range = "64m..64g",
	  .min = SDR_REL_SEG_MAX,
	  .max = 68719476736.0,
	  .help = "Memory of an endpoint with FI_HMEM through which devices' data pass, for "
		  "each direction.",
	  AT(rel.stage) },
	{ .name = "berths",
	  .kind = &sdr_kind_uint,
	  .def = "64m",
	  .unit = "bytes",
	  .range = "0..64g",
	  .min = 0,
	  .max = 68719476736.0,
	  .help = "Memory of an endpoint on an RDMA device whose keys far peers get before they "
		  "send; 0: each large message waits a round trip for its key. None with FI_HMEM "
		  "where the device writes such memory itself.",
	  AT(rel.berths) },
	{ .name = "ec_threads",
	  .kind = &sdr_kind_uint,
	  .def = "1",
	  .unit = "threads",
	  .range = "0..64",
	  .min = 0,
	  .max = SDR_WORK_THREADS_MAX,
	  .help = "Threads of a domain that help to make parity of messages from 1 MiB "
		  "on, and decode what would hold up an endpoint; 0: the thread that sends "
		  "makes it, and the one that receives decodes.",
	  AT(ec_threads) },
	{ .name = "objective",
	  .kind = &sdr_kind_choice,
	  .def = "p99",
	  .names = sdr_objective_names,
	  .help = "Completion time that auto and hybrid make small: the mean, or that of "
		  "99 or 99.9 % of the transfers.",
	  AT(rel.objective) },
	{ .name = "max_overhead",
	  .kind = &sdr_kind_real,
	  .def = "0.25",
	  .unit = "parity bytes per data byte",
	  .range = "0..4",
	  .min = 0,
	  .max = 4,
	  .help = "Parity that auto and hybrid may send with data; 0 switches it off.",
	  AT(rel.max_overhead) },
	{ .name = "mtu",
	  .kind = &sdr_kind_uint,
	  .def = "0",
	  .unit = "bytes",
	  .range = "0, or a multiple of 4 in 256..8192",
	  .min = SDR_EP_MTU_MIN,
	  .max = SDR_MTU_MAX,
	  .zero = true,
	  .rule = sdr_env_fours,
	  .help = "Payload of a data packet; no control datagram is longer on the wire (but one of 1024 bytes of "
		  "payload always goes). 0 is what the interface carries: 8192, 4096, or less.",
	  AT(rel.mtu) },
	{ .name = "chunk_size",
	  .kind = &sdr_kind_uint,
	  .def = "65536",
	  .unit = "bytes",
	  .range = "256..1073741824",
	  .min = 256,
	  .max = 1073741824.0,
	  .help = "Bytes per bit of the chunk bitmap; rounded to a multiple "
		  "of the packet's payload.",
	  AT(rel.chunk) },
	{ .name = "imm_split",
	  .kind = &sdr_kind_split,
	  .def = "10+18+4",
	  .unit = "bits",
	  .range = "message ID + packet offset + user immediate, 32 in all",
	  .help = "Layout of the 32-bit immediate; both sides must agree.",
	  AT(rel.split) },
	{ .name = "channels",
	  .kind = &sdr_kind_uint,
	  .def = "1",
	  .range = "1..16",
	  .min = 1,
	  .max = SDR_CHANNELS_MAX,
	  .help = "Internal queue pairs of a generation, each with its own source port, "
		  "over which routers that hash ports spread the load.",
	  AT(rel.channels) },
	{ .name = "paths",
	  .kind = &sdr_kind_uint,
	  .def = "1",
	  .unit = "paths",
	  .range = "1..16",
	  .min = 1,
	  .max = SDR_PATHS_MAX,
	  .help = "Paths that a connection may use at a time, each from a source of its own: the "
		  "addresses of the interfaces that FI_SDR_IFACE names, in turn, where those are "
		  "several, else further ports of the endpoint's address, over which routers that "
		  "hash ports spread the load. Devices have one.",
	  AT(rel.paths) },
	{ .name = "workers",
	  .kind = &sdr_kind_uint,
	  .def = "0",
	  .unit = "threads",
	  .range = "0..16",
	  .max = SDR_WORKERS_MAX,
	  .help = "Workers of an endpoint. On a UDP socket: threads that place large messages, each "
		  "from a port of its own that firewalls should let through, and send them to a peer "
		  "that has workers, too. On a device: threads that take in what arrives, of a share "
		  "of the channels each, so FI_SDR_CHANNELS should be as many. 0: the thread that "
		  "drives the endpoint does it.",
	  AT(workers) },
	{ .name = "spread_min",
	  .kind = &sdr_kind_uint,
	  .def = "8m",
	  .unit = "bytes",
	  .range = "256k..64m",
	  .min = SDR_UC_SPREAD_MIN,
	  .max = SDR_REL_SEG_MAX,
	  .help = "A message of so much or more goes to the ports of the peer's receive workers.",
	  AT(rel.spread_min) },
	{ .name = "generations",
	  .kind = &sdr_kind_uint,
	  .def = "4",
	  .range = "1, 2, 4, 8 or 16",
	  .min = 1,
	  .max = SDR_GENERATIONS_MAX,
	  .rule = sdr_env_power,
	  .help = "Internal queue pairs that tell the uses of a message ID apart.",
	  AT(rel.generations) },
	{ .name = "cc",
	  .kind = &sdr_kind_cc,
	  .def = "auto",
	  .help = "Congestion control: auto shares the path by the delay of its queue, bbr goes by "
		  "delivery rate (for comparison), fixed sends at FI_SDR_RATE (provisioned links).",
	  AT(rel.cc) },
	{ .name = "rate",
	  .kind = &sdr_kind_rate,
	  .def = "0",
	  .unit = "bits per second",
	  .range = "0, or 1000..1000gbit; kbit, mbit, gbit",
	  .min = 1e3,
	  .max = 1e12,
	  .zero = true,
	  .help = "Sending rate under FI_SDR_CC=fixed, wire headers counted.",
	  AT(rel.rate_bps) },
	{ .name = "rate_max",
	  .kind = &sdr_kind_ceiling,
	  .def = "0",
	  .range = "0, or bits per second from 1000 to 1000gbit (kbit, mbit, gbit), alone or with "
		   "/process, /endpoint or /host",
	  .min = 1e3,
	  .max = 1e12,
	  .zero = true,
	  .help = "Ceiling that reliable endpoints keep under every congestion control, IP headers, "
		  "repairs and acknowledgements counted: all of the process together, each by "
		  "itself (/endpoint), or those of all processes of this user on this host (/host, "
		  "which take turns by a file in /dev/shm); 0: none.",
	  AT(rate_max) },
	{ .name = "ecn",
	  .kind = &sdr_kind_choice,
	  .def = "on",
	  .names = sdr_no_names,
	  .help = "Whether queues on the way may mark packets in place of dropping them (RFC "
		  "3168), and marks that come are counted: with a congestion control that answers "
		  "marks, between peers on sockets, as long as the path carries them.",
	  AT(rel.no_ecn) },
	{ .name = "shm",
	  .kind = &sdr_kind_choice,
	  .def = "on",
	  .names = sdr_no_names,
	  .help = "Whether an endpoint on a UDP socket and a peer of the same host and user, once "
		  "they have sent each other some hundred kilobytes or messages, go on through "
		  "shared memory: 1 MiB a peer in each direction, for 64 peers.",
	  AT(no_shm) },
	{ .name = "dscp",
	  .kind = &sdr_kind_dscp,
	  .def = "0",
	  .range = "0..63, CS0..CS7, AF11..AF43, EF, VA, LE or DF",
	  .min = 0,
	  .max = SDR_DSCP_MAX,
	  .help = "Differentiated services code point of everything that endpoints send, where the "
		  "application names no traffic class (tclass).",
	  AT(dscp) },
	{ .name = "rtt_init",
	  .kind = &sdr_kind_uint,
	  .def = "0",
	  .unit = "microseconds",
	  .range = "0..10000000",
	  .min = 0,
	  .max = 10000000,
	  .help = "Round-trip time assumed before the first measurement; 0 is 50 ms.",
	  AT(rel.rtt_init_us) },
	{ .name = "rto_rtts",
	  .kind = &sdr_kind_real,
	  .def = "3",
	  .unit = "round-trip times",
	  .range = "1..100",
	  .min = 1,
	  .max = 100,
	  .help = "Retransmission timeout under FI_SDR_RELIABILITY=sr_rto.",
	  AT(rel.rto_rtts) },
	{ .name = "timeout",
	  .kind = &sdr_kind_uint,
	  .def = "30000",
	  .unit = "milliseconds",
	  .range = "100..86400000",
	  .min = 100,
	  .max = 86400000.0,
	  .help = "Operations with a peer fail after this time in which nothing came of what "
		  "its endpoint owes by itself (acknowledgements, answers to reads and writes, "
		  "announced bytes), even if it answers probes, or without a sign of it at all.  "
		  "A receive that is not posted yet is waited for as long as the peer answers.",
	  AT(rel.timeout_ms) },
	{ .name = "iface",
	  .kind = &sdr_kind_iface,
	  .def = "",
	  .range = "names of interfaces and networks, separated by commas, e.g. wan0,10.1.0.0/16 "
		   "or !docker0",
	  .help = "Interfaces that endpoints use, in order of preference; what begins with ! is "
		  "excluded, and all others stay where nothing else is named. By default all, "
		  "the one of the route to the destination or of the default route first.",
	  AT(iface) },
	{ .name = "bind",
	  .kind = &sdr_kind_host,
	  .def = "",
	  .range = "a numeric address of this host, 0.0.0.0 or ::",
	  .help = "Address of endpoints where the application names none.",
	  AT(bind) },
	{ .name = "port",
	  .kind = &sdr_kind_uint,
	  .def = "0",
	  .range = "0..65535",
	  .min = 0,
	  .max = 65535,
	  .help = "UDP port of the first endpoint that names none; one more of its address is an "
		  "error, or takes its port from FI_SDR_PORT_RANGE. 0: any.",
	  AT(port) },
	{ .name = "port_range",
	  .kind = &sdr_kind_ports,
	  .def = "",
	  .range = "FIRST-LAST, e.g. 20100-20199",
	  .help = "UDP ports that the sockets of endpoints get, those of FI_SDR_CHANNELS and "
		  "FI_SDR_PATHS too; 4791 is never one of them. Processes of a host may share it.",
	  AT(ports) },
	{ .name = "advertise",
	  .kind = &sdr_kind_remote,
	  .def = "",
	  .range = "a numeric ADDRESS, ADDRESS:PORT, [IPV6] or [IPV6]:PORT",
	  .help = "Name that an endpoint hands out (fi_getname) in place of its address: what a "
		  "router in front of it translates; without a port, the endpoint's own.",
	  AT(advertise) },
	{ .name = "keepalive",
	  .kind = &sdr_kind_uint,
	  .def = "15000",
	  .unit = "milliseconds",
	  .range = "0, or 100..86400000",
	  .min = 100,
	  .max = 86400000.0,
	  .zero = true,
	  .help = "Idle time after which a peer that something waits for is asked for a sign of "
		  "life, and an endpoint behind address translation reminds the translator of "
		  "the connections that it opened; 0: only as often as FI_SDR_TIMEOUT needs.",
	  AT(rel.keepalive_ms) },
	{ .name = "nat",
	  .kind = &sdr_kind_choice,
	  .def = "on",
	  .names = sdr_no_names,
	  .help = "Whether a peer that is seen at another address than it says it has is known "
		  "by that one too, after a check: on behind address translation, off where "
		  "every peer has an address of its own.",
	  AT(rel.no_aliases) },
	{ .name = "cache",
	  .kind = &sdr_kind_text,
	  .def = "",
	  .range = "- or the name of a file",
	  .help = "File that remembers, from process to process, what paths were found to "
		  "carry: rate, round trip, losses. Read when the first domain opens, written "
		  "when the last one closes; -: none.",
	  AT(cache) },
	{ .name = "verbs_late",
	  .kind = &sdr_kind_label,
	  .def = "auto",
	  .names = sdr_verbs_late_names,
	  .help = "How a device keeps packets that come late out of memory that is used "
		  "for something else: root switches an indirect key to nothing (mlx5), "
		  "mw unbinds a memory window, mr gives a registration up; auto chooses "
		  "by the device.",
	  AT(late) },
	{ .name = "verbs_rx_depth",
	  .kind = &sdr_kind_uint,
	  .def = "1024",
	  .unit = "packets",
	  .range = "64..16384",
	  .min = 64,
	  .max = SDR_UC_DEPTH_MAX,
	  .help = "Receives posted to each internal queue pair of a device: what may "
		  "arrive before the application looks.",
	  AT(rx_depth) },
	{ .name = "verbs_tx_depth",
	  .kind = &sdr_kind_uint,
	  .def = "256",
	  .unit = "packets",
	  .range = "16..16384",
	  .min = 16,
	  .max = SDR_UC_DEPTH_MAX,
	  .help = "Sends that an internal queue pair of a device takes at a time.",
	  AT(tx_depth) },
	{ .name = "fault",
	  .kind = &sdr_kind_fault,
	  .def = "",
	  .range =
		  "e.g. drop=0.01,dup=1e-4,reorder=1e-3,corrupt=1e-4,burst=8,delay=12.5ms,jitter=1ms,rate=1gbit,queue=4m,blackout=2s+10s,seed=7",
	  .help = "Fault injection: impairs what this process sends, packet by packet; for "
		  "tests.",
	  AT(fault) },
	{ .name = "stats",
	  .kind = &sdr_kind_text,
	  .def = "",
	  .range = "- or the name of a file",
	  .help = "Statistics when an endpoint closes, one JSON object a line for each "
		  "peer and one for the sum, on standard output or appended to a file.",
	  AT(stats) },
	{ .name = NULL },
};
