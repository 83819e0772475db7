#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# The provider as a file that another libfabric loads: what it exports, what fi_info says
# of it, and libfabric's own fi_pingpong over it, clean and under faults.
#
# SDR_LIBFABRIC2=PREFIX runs it all under the libfabric installed there too.
#
#   loadable.sh [CASE...]    names of cases, default all

. "$(dirname "$0")/cases.sh"

so=$FI_PROVIDER_PATH/libsdr-fi.so
faults=drop=0.02,dup=0.01,reorder=0.02,corrupt=0.005,seed=1
prefix=
variables="ENGINE RELIABILITY EC_CODE EC_K EC_M EC_DECODE EC_SCRATCH EC_THREADS OBJECTIVE MAX_OVERHEAD MTU CHUNK_SIZE
	IMM_SPLIT CHANNELS GENERATIONS CC RATE RTT_INIT RTO_RTTS TIMEOUT FAULT STATS
	VERBS_LATE VERBS_RX_DEPTH VERBS_TX_DEPTH"

# A program of the libfabric under test, with its library.
of_libfabric() { # PROGRAM ARGUMENTS...
	local program=$1
	shift
	if [ -n "$prefix" ]; then
		LD_LIBRARY_PATH=$prefix/lib:$prefix/lib64 spawn run "$prefix/bin/$program" "$@"
	else
		spawn run "$program" "$@"
	fi
}

# The only thing that others may call; with a sanitizer its run-time is in there too.
exports() {
	local names
	command -v nm >/dev/null || { skip "nm is missing (binutils)"; return 0; }
	names=$(nm -D --defined-only "$so" | awk '{ print $3 }' | grep -v '^__\(asan\|ubsan\|tsan\|odr\)' | tr '\n' ' ')
	[ "$names" = "fi_prov_ini " ] || no "exported: $names"
}

# libibverbs is looked for at run time: a machine without it loads the provider all the same.
no_libibverbs() {
	local lib names
	command -v readelf >/dev/null || { skip "readelf is missing (binutils)"; return 0; }
	for lib in "$so" "$FI_PROVIDER_PATH"/libsdr.so; do
		[ -f "$lib" ] || continue
		names=$(readelf -dW "$lib" | grep NEEDED | grep -E 'libibverbs|libmlx5')
		[ -z "$names" ] || { no "$lib needs: $names"; return 1; }
		names=$(nm -D --undefined-only "$lib" | awk '{ print $2 }' | grep -E '^_?(ibv|mlx5dv)_' | tr '\n' ' ')
		[ -z "$names" ] || { no "$lib has undefined: $names"; return 1; }
	done
	readelf -dW "$so" | grep -q NEEDED || no "readelf says nothing of $so"
}

lists_endpoints() {
	local type
	for type in FI_EP_RDM FI_EP_DGRAM; do
		of_libfabric fi_info -p sdr -t $type -d lo && await run ||
			{ no "fi_info -p sdr -t $type -d lo: exit status $?"; return 1; }
		awk -v type=$type '/^provider:/ { p = $2; d = "" } /^ *domain:/ { d = $2 }
			/^ *type:/ { if (p == "sdr" && d == "lo" && $2 == type) found = 1; if (p != "sdr") other = 1 }
			END { exit !found || other }' "$tmp/run.txt" || { no "$type on lo is not listed"; return 1; }
	done
}

lists_variables() {
	local v missing=
	of_libfabric fi_info -g sdr && await run || { no "fi_info -g sdr failed"; return 1; }
	for v in $variables; do
		grep -Eq "FI_SDR_$v\>" "$tmp/run.txt" || missing="$missing FI_SDR_$v"
	done
	[ -z "$missing" ] || no "not listed:$missing"
}

# The native endpoint comes first when nothing else is asked for.
native_first() {
	export FI_PROVIDER=sdr
	of_libfabric fi_info -t FI_EP_RDM && await run
	unset FI_PROVIDER
	[ "$(awk '/^provider:/ { print $2; exit }' "$tmp/run.txt")" = sdr ] || no "first is: $(head -n 1 "$tmp/run.txt")"
}

# Nobody gets sdr by accident: it is not there unless it is named.
only_when_named() {
	local list
	unset FI_PROVIDER
	of_libfabric fi_info && await run || { no "fi_info: exit status $?"; return 1; }
	grep -q '^provider: sdr' "$tmp/run.txt" && { no "fi_info lists it, and nobody asked"; return 1; }
	for list in sdr tcp,sdr; do
		FI_PROVIDER=$list of_libfabric fi_info && await run || { no "FI_PROVIDER=$list: exit status $?"; return 1; }
		grep -q '^provider: sdr' "$tmp/run.txt" || { no "FI_PROVIDER=$list does not list it"; return 1; }
	done
	FI_PROVIDER=^shm of_libfabric fi_info && await run || { no "FI_PROVIDER=^shm: exit status $?"; return 1; }
	grep -q '^provider: sdr' "$tmp/run.txt" && { no "FI_PROVIDER=^shm lists it"; return 1; }
	OMPI_MCA_mtl_ofi_provider_include=sdr of_libfabric fi_info && await run || { no "exit status $?"; return 1; }
	grep -q '^provider: sdr' "$tmp/run.txt" || no "Open MPI's own list does not list it"
}

# FI_PROVIDER=sdr and a request that it cannot serve: the log says which bit it was.
says_why_not() {
	FI_PROVIDER=sdr FI_LOG_LEVEL=warn of_libfabric fi_info -t FI_EP_RDM -c FI_COLLECTIVE
	await run && { no "granted"; return 1; }
	grep -q '<warn> nothing offered: capabilities FI_COLLECTIVE' "$tmp/run.txt" || no "it says: $(cat "$tmp/run.txt")"
}

pingpong() { # OPTIONS...
	local p rc
	p=$(free_port)
	of_libfabric fi_pingpong -B "$p" -p sdr -c -I 5 "$@" || return 1
	job[server]=${job[run]}
	mv "$tmp/run.pid" "$tmp/server.pid"
	mv "$tmp/run.txt" "$tmp/server.txt"
	unset "job[run]"
	for _ in {1..200}; do	# it takes its client's orders over TCP
		grep -qi ":$(printf '%04X' "$p") [0-9A-F]*:0000 0A" /proc/net/tcp /proc/net/tcp6 && break
		sleep 0.05
	done
	of_libfabric fi_pingpong -P "$p" -p sdr -c -I 5 "$@" "$host" || return 1
	await run
	rc=$?
	[ $rc = 0 ] || { no "client: exit status $rc"; return 1; }
	await server
	rc=$?
	[ $rc = 0 ] || { no "server: exit status $rc"; return 1; }
	# a line of results for each size, from the smallest on
	[ "$(grep -Ec '^[0-9]+[kmg]? +[0-9]' "$tmp/run.txt")" -ge "${sizes:-1}" ] || no "results are missing"
}

pingpong_msg() { sizes=10 pingpong -e rdm -m msg -S all; }
pingpong_tagged() { sizes=10 pingpong -e rdm -m tagged -S all; }
pingpong_dgram() { pingpong -e dgram; }
pingpong_msg_faults() { FI_SDR_FAULT=$faults pingpong_msg; }
pingpong_tagged_faults() { FI_SDR_FAULT=$faults pingpong_tagged; }
# Settings of the schemes are parity.sh's matter.
pingpong_schemes() {
	local s
	export FI_SDR_FAULT=$faults
	for s in auto hybrid sr sr_rto sr_nack ec ec_sr; do
		FI_SDR_RELIABILITY=$s pingpong_tagged || { no "FI_SDR_RELIABILITY=$s"; return 1; }
	done
}

under_libfabric() { # LABEL CASE...
	local label=$1 c
	shift
	for c; do
		run_case "$label$c" "$c"
	done
}

all="lists_endpoints lists_variables native_first only_when_named says_why_not pingpong_msg pingpong_tagged pingpong_dgram
	pingpong_msg_faults pingpong_tagged_faults pingpong_schemes"
[ -f "$so" ] || { echo "FAIL: $so is not there"; exit 1; }
command -v fi_pingpong >/dev/null || { echo "loadable.sh: fi_pingpong is missing (libfabric-bin)"; exit 77; }
[ $# -gt 0 ] || { run_case exports exports; run_case no_libibverbs no_libibverbs; }
[ $# -gt 0 ] || set -- $all
under_libfabric "" "$@"
if [ -n "${SDR_LIBFABRIC2:-}" ]; then
	prefix=$SDR_LIBFABRIC2
	under_libfabric "$("$prefix/bin/fi_info" --version | sed -n 's/^libfabric: */libfabric-/p')_" "$@"
fi
verdict
