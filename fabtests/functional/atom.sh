#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Atomics between processes through the provider, verified (sdr_atom.c): tickets, locks and sums at
# two, four and eight ranks, clean, with losses, over a delay, and with small packets.
# Exit status 1 if a case failed.
#
#   atom.sh [CASE...]        names of cases, default all
#   SDR_TEST_HOST=ADDRESS, SDR_TEST_ENGINE=NAME                        as in cases.sh

LIMIT=${LIMIT:-120}
. "$(dirname "$0")/cases.sh"

faults="drop=0.02,dup=0.01,reorder=0.05,seed=1"

storm() { # RANKS ITERATIONS
	spawn storm "$build/sdr_atom" -n "$1" -I "$2" -a "$host" && await storm
}

clean_2() { storm 2 400; }
clean_4() { storm 4 150; }
clean_8() { storm 8 60; }
faults_2() { FI_SDR_FAULT=$faults storm 2 200; }
faults_4() { FI_SDR_FAULT=$faults storm 4 80; }
faults_8() { FI_SDR_FAULT=$faults storm 8 40; }
far() { FI_SDR_FAULT=delay=3ms,drop=0.01,seed=2 storm 2 40; }
small_packets() { FI_SDR_MTU=1024 FI_SDR_FAULT=$faults storm 2 50; }

all="clean_2 clean_4 clean_8 faults_2 faults_4 faults_8 far small_packets"
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $all
for c; do
	run_case "$c" "$c"
done
verdict
