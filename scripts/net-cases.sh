#!/usr/bin/env bash
# shellcheck disable=SC2034  # rounds is for net/mtu.sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# The provider between sites, in network namespaces: a narrow middle of the path, several interfaces,
# address translation, ranges of ports, firewalls, forgers.  Real kernels, routes, ICMP and programs
# (fi_pingpong, sdr_perf, sdr_xfer, Open MPI); every byte is verified, every process is ended by a limit.
#
#   net-cases.sh [--bars] [--list] [CASE...]     names of cases or patterns (mtu_*), default all
#
# Ratios of speed and delays depend on the machine: they are printed, and judged with --bars only.
# With root or, where the kernel lets users have namespaces of their own, without: everything happens in
# a network, mount, process and host name space that ends with this script, and nothing of the machine's own
# network is touched.  Where that is not allowed each case is skipped, with the reason.
#
# Delay and loss are FI_SDR_FAULT's, on both sides (kernels without netem).  The libraries beside this file:
# net/lib.sh builds the networks and runs the programs; net/mtu.sh, iface.sh, nat.sh, guard.sh and qos.sh are the cases.
# Environment: SDR_BUILDDIR (default build/), NET_KEEP=DIR keeps what the programs said there.

set -u
here=$(cd "$(dirname "$0")" && pwd)
export SDR_BUILDDIR=${SDR_BUILDDIR:-$here/../build}

if [ -z "${NET_INSIDE:-}" ]; then
	export NET_INSIDE=yes
	room=(unshare --net --mount --uts --pid --fork --kill-child --mount-proc)
	[ "$(id -u)" = 0 ] || room=(unshare --user --map-root-user "${room[@]:1}")
	why=$("${room[@]}" sh -c 'mount -t tmpfs none /run && mkdir /run/netns && ip netns add a && ip netns exec a nft list tables' 2>&1) &&
		exec "${room[@]}" "$0" "$@"
	NET_INSIDE="no: $(tail -n 1 <<<"$why")"
fi
# Names of network namespaces are files there: those of another run, or of the machine, are not these.
[ "$NET_INSIDE" != yes ] || { mount -t tmpfs none /run && mkdir /run/netns; } || exit 1
# shellcheck source=scripts/net/lib.sh
. "$here/net/lib.sh"
for part in mtu iface nat guard qos; do
	# shellcheck source=/dev/null
	. "$here/net/$part.sh"
done

# shellcheck disable=SC2154  # set by the parts
all="$mtu_cases $iface_cases $nat_cases $guard_cases $qos_cases"
bars=
names=()
for arg; do
	case $arg in
	--bars) bars=1 ;;
	--list) printf '%s\n' $all; exit 0 ;;
	-*) sed -n '/^#   net-cases/s/^# *//p' "$0" >&2; exit 2 ;;
	*)
		n=${#names[@]}
		for c in $all; do
			# shellcheck disable=SC2053  # a pattern
			[[ $c == $arg ]] && names+=("$c")
		done
		[ ${#names[@]} -gt "$n" ] || { echo "net-cases.sh: there is no case \"$arg\" (--list)" >&2; exit 2; } ;;
	esac
done
[ ${#names[@]} -gt 0 ] || read -r -d '' -a names <<<"$all"
for c in "${names[@]}"; do
	shown "$c"
done
verdict
