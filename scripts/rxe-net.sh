#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# The network of the guest that rxe-vm.sh boots: soft-RoCE devices (rdma_rxe) on veth pairs.
#
#     rxe0 on va 10.9.0.1 fd09::1    <-->  vb 10.9.0.2 fd09::2 with rxe1       "up"
#     rxe2 on vc 10.9.1.1 fd09:1::1  <-->  vd 10.9.1.2 fd09:1::2 in netns soft   "soft"
#
# rdma_rxe sends and receives in the initial namespace only, and owns UDP port 4791 there; in the
# namespace "soft" that port is free, so a process there can be the peer of rxe2 without a device.
#
# rxe0 and rxe1 live in one namespace, whose routing would take the short way through lo, where
# rdma_rxe drops everything.  So what is generated here and goes to an address of the other end is
# routed out of the veth by a rule of its own, before the table of local addresses is looked at;
# what comes in over the veth still meets that table, and accept_local lets it in.
#
# Run as root in that guest, never on a machine whose network matters: it changes its routing.

set -u

usage() {
	cat <<-END
	usage: rxe-net.sh up [MTU]          rxe0 and rxe1 on a veth pair (MTU 4180 to 65535, default 5000)
	       rxe-net.sh soft [MTU]        rxe2, connected to the network namespace "soft"
	       rxe-net.sh netem SPEC|off    impairments on both ends of each pair, as tc-netem(8) has it:
	                                    rxe-net.sh netem "delay 5ms loss 1%"; each end applies it to what
	                                    it sends, so a round trip sees it twice
	       rxe-net.sh sent DEVICE       packets that an RDMA device has sent
	END
}

die() {
	echo "rxe-net.sh: $*" >&2
	exit 1
}

# A packet of 4096 bytes over IPv6 needs 4180; rdma_rxe offers 4096 from 4176 on and then retries
# for ever what does not fit.
mtu_checked() {
	case $1 in
	'' | *[!0-9]*) die "not an MTU: $1" ;;
	esac
	[ "$1" -ge 4180 ] && [ "$1" -le 65535 ] || die "MTU $1: allowed are 4180 to 65535"
	echo "$1"
}

# Settings of an interface; "all" is for what the kernel takes as the larger of the two.
conf() { # INTERFACE...
	local d
	for d; do
		d=/proc/sys/net/ipv4/conf/$d
		echo 0 >"$d/rp_filter" && echo 1 >"$d/accept_local" &&
			echo 1 >"$d/arp_ignore" && echo 2 >"$d/arp_announce" || die "cannot write to $d"
	done
}

# One process for each batch: starting one costs 0.1 s where this runs.
up() {
	local mtu a=02:00:00:00:09:01 b=02:00:00:00:09:02
	mtu=$(mtu_checked "${1:-5000}") || exit 1
	# the peer is made first: va comes first in every list of interfaces
	ip link add vb mtu "$mtu" address $b type veth peer name va mtu "$mtu" address $a || die "no veth pair"
	conf all va vb
	ip -batch - <<-END || die "ip(8) refused the IPv4 set-up"
	link set va up
	link set vb up
	addr add 10.9.0.1/24 dev va
	addr add 10.9.0.2/24 dev vb
	neigh replace 10.9.0.2 lladdr $b dev va nud permanent
	neigh replace 10.9.0.1 lladdr $a dev vb nud permanent
	route add 10.9.0.2/32 dev va src 10.9.0.1 table 101
	route add 10.9.0.1/32 dev vb src 10.9.0.2 table 102
	rule add pref 10 iif lo to 10.9.0.2 lookup 101
	rule add pref 10 iif lo to 10.9.0.1 lookup 102
	rule add pref 20 lookup local
	rule del pref 0
	END
	ip -6 -batch - <<-END || die "ip(8) refused the IPv6 set-up"
	addr add fd09::1/64 dev va nodad
	addr add fd09::2/64 dev vb nodad
	neigh replace fd09::2 lladdr $b dev va nud permanent
	neigh replace fd09::1 lladdr $a dev vb nud permanent
	route add fd09::2/128 dev va src fd09::1 table 101
	route add fd09::1/128 dev vb src fd09::2 table 102
	rule add pref 10 iif lo to fd09::2 lookup 101
	rule add pref 10 iif lo to fd09::1 lookup 102
	rule add pref 20 lookup local
	rule del pref 0
	END
	rdma link add rxe0 type rxe netdev va && rdma link add rxe1 type rxe netdev vb || die "no soft-RoCE device"
}

soft() {
	local mtu c=02:00:00:00:09:03 d=02:00:00:00:09:04
	mtu=$(mtu_checked "${1:-5000}") || exit 1
	ip netns add soft || die "no network namespace"
	ip link add vc mtu "$mtu" address $c type veth peer name vd mtu "$mtu" address $d netns soft || die "no veth pair"
	ip -batch - <<-END || die "ip(8) refused the set-up of vc"
	link set vc up
	addr add 10.9.1.1/24 dev vc
	addr add fd09:1::1/64 dev vc nodad
	neigh replace 10.9.1.2 lladdr $d dev vc nud permanent
	neigh replace fd09:1::2 lladdr $d dev vc nud permanent
	END
	ip -n soft -batch - <<-END || die "ip(8) refused the set-up of vd"
	link set lo up
	link set vd up
	addr add 10.9.1.2/24 dev vd
	addr add fd09:1::2/64 dev vd nodad
	neigh replace 10.9.1.1 lladdr $c dev vd nud permanent
	neigh replace fd09:1::1 lladdr $c dev vd nud permanent
	END
	rdma link add rxe2 type rxe netdev vc || die "no soft-RoCE device"
}

# The queue is long: what netem drops for want of room would be taken for an error of the QP.
netem_at() { # DEVICE SPEC [options of tc]
	local dev=$1 spec=$2
	shift 2
	if [ "$spec" = off ]; then
		tc "$@" qdisc del dev "$dev" root 2>/dev/null
		return 0
	fi
	# shellcheck disable=SC2086
	tc "$@" qdisc replace dev "$dev" root netem limit 20000 $spec || die "tc(8) refused on $dev: $spec"
}

netem() {
	[ -d /sys/class/net/va ] || die "no veth pair yet: rxe-net.sh up"
	netem_at va "$1"
	netem_at vb "$1"
	[ -d /sys/class/net/vc ] || return 0
	netem_at vc "$1"
	netem_at vd "$1" -n soft
}

[ "$(id -u)" = 0 ] || case ${1:-} in -h | --help | '') ;; *) die "only for root, in the guest of rxe-vm.sh" ;; esac
case ${1:-} in
up) up "${2:-}" ;;
soft) soft "${2:-}" ;;
netem) netem "${2:?SPEC or off}" ;;
sent) cat "/sys/class/infiniband/${2:?DEVICE}/ports/1/hw_counters/sent_pkts" ;;
-h | --help) usage ;;
*) usage >&2; exit 2 ;;
esac
