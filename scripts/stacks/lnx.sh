#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name (lib.sh)
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# lnx of libfabric 2, which makes one endpoint of shared memory and sdr (shm+sdr; the other column: shm+tcp):
# libfabric's own tests of tagged messages, which is what lnx links, once as a job has it, where ranks of one
# host use shared memory alone, and once without (FI_LNX_DISABLE_SHM), where all goes by the other provider.
# What sdr counted says which way it went.
#
# usage: lnx.sh --prefix PREFIX [OPTION]...
#   --prefix PREFIX   libfabric 2 with lnx, shm and tcp, and its fabtests, are there; libsdr-fi.so was built with
#                     its headers (--with-libfabric=PREFIX), or it has nothing for lnx

. "$(dirname "$(readlink -f "$0")")/lib.sh"
stack_options "prefix" "$@"
prefix=${option[prefix]:-}
if [ -z "$prefix" ] || ! [ -x "$prefix/bin/fi_rdm_tagged_pingpong" ]; then
	stack_missing "no fabtests: give --prefix PREFIX (fi_rdm_tagged_pingpong is in PREFIX/bin)"
fi
export PATH=$prefix/bin:$PATH LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
version=$(fi_info --version | sed -n 's/^libfabric: //p')
fi_info -l | grep -q '^lnx:' || stack_missing "libfabric $version in $prefix has no lnx"
stack_begin "lnx of libfabric $version"
FI_LNX_PROV_LINKS=shm+sdr fi_info -p lnx >/dev/null 2>&1 ||
	stack_missing "lnx finds no link shm+sdr: build libsdr-fi.so with the headers in $prefix (FI_LOG_LEVEL=info says more)"

# tcp has an entry for each address of each interface, and a link takes all it is not told to leave.
link() { if [ "$over" = tcp ]; then echo shm+tcp:lo; else echo "shm+$over"; fi; }
# Both processes under one /dev/shm; lnx has addresses of its own, which they exchange by a socket (-E).
pair() { # PROGRAM [OPTION]...
	rm -f "$keep/stats"
	# shellcheck disable=SC2016  # for the shell that is started
	FI_PROVIDER=lnx FI_LNX_PROV_LINKS=$(link) FI_SDR_STATS=$keep/stats stack_run bash -c '
		"$@" -E -p lnx &
		server=$!
		sleep 1
		"$@" -E -p lnx 127.0.0.1 || { kill $server; exit 1; }
		wait $server' pair "$@" || return
	[ "$over" != sdr ] || cat "$keep/stats"
}
by_host() { FI_LNX_DISABLE_SHM=0 pair "$@"; }
by_link() { FI_LNX_DISABLE_SHM=1 pair "$@"; }
carried() { sed -n 's/.*"peer":"total".*"msgs_tx":\([0-9]*\),"msgs_rx":\([0-9]*\).*/\1 \2/p' "$1" | awk '{ n += $1 + $2 } END { print n + 0 }'; }
count_host() { if [ "$2" = 0 ] && [ "$(carried "$1")" = 0 ]; then echo 1 0; else echo 0 1; fi; }
count_link() {
	if [ "$2" = 0 ] && { [ "$over" != sdr ] || [ "$(carried "$1")" -gt 0 ]; }; then echo 1 0; else echo 0 1; fi
}

while read -r name command; do
	# shellcheck disable=SC2086  # a program and its options
	stack_case "$name, shared memory" count_host by_host $command
	# shellcheck disable=SC2086
	stack_case "$name, without" count_link by_link $command
done <<'END'
pingpong fi_rdm_tagged_pingpong -I 20 -v -S all
bandwidth fi_rdm_tagged_bw -I 20 -v -S all
peek fi_rdm_tagged_peek
unexpected fi_unexpected_msg -e rdm -I 10
END
stack_end
