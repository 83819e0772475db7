# shellcheck shell=bash disable=SC2154,SC2034  # what it shares with lib.sh and net-cases.sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Sourced by net-cases.sh: marks of congestion by a router between two hosts, and routers that do with ECN bits what
# they should not; the traffic class; a ceiling over several endpoints and processes, by the bytes of the interface.
#
# Marks are asked for under a congestion control that answers them; NET_CC names another than auto.

# ---- marks ---------------------------------------------------------------------------------------------

controls() { FI_SDR_CC='' fi_info -g sdr 2>/dev/null | sed -n '/^# FI_SDR_CC:/,/^$/s/.*Allowed: \([a-z, ]*\).*/\1/p'; }
answers_marks() {
	export FI_SDR_CC=${NET_CC:-auto}
	[[ ", $(controls)," == *", $FI_SDR_CC,"* ]] && return 0
	skip "there is no congestion control named $FI_SDR_CC"
	return 1
}

# marked OPTIONS... : transfer, with what client and server counted in $tmp/a.json, $tmp/b.json
marked() {
	rm -f "$tmp"/[ab].json
	FI_SDR_STATS=$tmp/b.json start server b "$xfer" -A "${to:-$B}" -B 20900 -T "$LIMIT" && listening server b u 20900 &&
		FI_SDR_STATS=$tmp/a.json FI_LOG_LEVEL=info start client a "$xfer" -B 20900 -T "$LIMIT" -C "$@" "${to:-$B}" &&
		both_end_well client server
}
stat() { # SIDE NAME
	grep '"peer":"total"' "$tmp/$1.json" | tail -n 1 | sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p"
}
told() { tell "ect_tx $(stat a ect_tx), ce_tx $(stat a ce_tx), ce_rx $(stat b ce_rx), ecn_off $(stat a ecn_off)"; }

# Of all that may be marked, on its way from a to b: ECN is changed to this, of each packet or of one in N.
remark() { # ECN [N]
	local every=()
	[ $# = 1 ] || every=(numgen inc mod "$2" '==' 0)
	filter r forward iif lan ip ecn ect0 "${every[@]}" ip ecn set "$1" &&
		filter r forward iif lan ip6 ecn ect0 "${every[@]}" ip6 ecn set "$1"
}

# The router marks one in 20: the sender hears of each.
qos_is_marked() {
	local sent ce
	marked -m write -S 1m -I 40 -W 0 || return 1
	told
	sent=$(stat a ect_tx) ce=$(stat b ce_rx)
	[ "$sent" -gt 1000 ] || { no "only $sent packets left so that they may be marked"; return 1; }
	[ "$(stat a ecn_off)" = 0 ] || { no "the path was given up"; return 1; }
	awk -v ce="$ce" -v told="$(stat a ce_tx)" 'BEGIN { exit !(ce > 0 && told >= 0.9 * ce && told <= ce) }' ||
		no "$ce came marked, $(stat a ce_tx) were told"
}
qos_marks() { answers_marks || return 0; line 9000 9000 && remark ce 20 && qos_is_marked; }
qos_marks_ipv6() { answers_marks || return 0; line 9000 9000 && to=$B6 && remark ce 20 && qos_is_marked; }
qos_marks_pieces() { answers_marks || return 0; line 9000 1500 && remark ce 20 && qos_is_marked; }

# offload HOST IFACE WHAT 0|1 : what ethtool -K does; a veth aggregates what it gets from one that does not segment
offload() {
	local what
	case $3 in
	tso) what=0x1f ;;
	gso) what=0x24 ;;
	gro) what=0x2c ;;
	esac
	on "$1" python3 -c '
import array, fcntl, socket, struct, sys
v = array.array("B", struct.pack("II", int(sys.argv[2], 0), int(sys.argv[3])))
fcntl.ioctl(socket.socket(), 0x8946, struct.pack("16sP", sys.argv[1].encode(), v.buffer_info()[0]))' "$2" $what "$4"
}
# Each packet by itself on the wire, marked by itself, and aggregated again where it arrives.
qos_segments() {
	local end
	for end in "a eth0" "r wan" "s lan"; do
		offload $end tso 0 && offload $end gso 0 || { skip "no python3, or no way to switch segmentation off"; return 1; }
	done
	offload b eth0 gro 1 && remark ce 20 && qos_is_marked
}
qos_marks_segments() { answers_marks || return 0; line 9000 9000 && { qos_segments || [ -f "$tmp/skip" ]; }; }
qos_marks_segments_ipv6() { answers_marks || return 0; line 9000 9000 && to=$B6 && { qos_segments || [ -f "$tmp/skip" ]; }; }

# Whatever the path does: the transfer ends well, ECN is given up, once, and the log says why.
qos_is_given_up() { # TEXT
	marked -m write -S 1m -I 60 -W 0 || return 1
	told
	[ "$(stat a ecn_off)" = 1 ] || { no "the path was not given up"; return 1; }
	said client "no ECN on this path: .*$1"
}
qos_bleached() { answers_marks || return 0; line 9000 9000 && remark not-ect && qos_is_given_up wipes; }
qos_bleached_ipv6() { answers_marks || return 0; line 9000 9000 && to=$B6 && remark not-ect && qos_is_given_up wipes; }
qos_mangled() {
	answers_marks || return 0
	line 9000 9000 && remark ce && FI_SDR_FAULT=delay=1ms qos_is_given_up 'marks what it should not'
}
qos_dropped() {
	answers_marks || return 0
	line 9000 9000 && filter r forward ip ecn ect0 drop && qos_is_given_up 'drops what has'
}

# Set off on either side, nothing leaves so that it may be marked.
qos_off() {
	answers_marks || return 0
	line 9000 9000 && FI_SDR_ECN=off marked -m write -S 1m -I 4 || return 1
	[ "$(stat a ect_tx)$(stat b ect_rx)" = 00 ] || no "packets left so that they may be marked"
}

# ---- traffic class -------------------------------------------------------------------------------------

# Of everything that a sends; b has its own.
qos_dscp_of() { # FAMILY
	line 9000 9000 || return 1
	on r nft -f - <<-END
		table inet count {
			counter good { }
			counter bad { }
			chain c { type filter hook forward priority 0; iif lan udp dport 20900 $1 dscp ef counter name good; iif lan udp dport 20900 $1 dscp != ef counter name bad; }
		}
	END
	start server b "$xfer" -A "${to:-$B}" -B 20900 -T "$LIMIT" && listening server b u 20900 &&
		FI_SDR_DSCP=EF start client a "$xfer" -B 20900 -T "$LIMIT" -C -S 8,1m "${to:-$B}" && both_end_well client server || return 1
	on r nft list counters | awk '/counter good/ { g = 1 } /counter bad/ { g = 0 } /packets/ { n[g] = $2 } END { exit !(n[1] > 10 && n[0] == 0) }' ||
		no "not everything had the code point: $(on r nft list counters | grep packets | tr -s '\t\n' ' ')"
}
qos_dscp() { qos_dscp_of ip; }
qos_dscp_ipv6() { to=fd2::2 && qos_dscp_of ip6; }

# ---- ceiling -------------------------------------------------------------------------------------------

many=$build/sdr_many
export_ceiling() { # CC RATE-MAX : through sockets, since what leaves is counted on an interface
	export FI_SDR_SHM=off FI_SDR_RATE=4gbit FI_SDR_CC=$1 FI_SDR_RATE_MAX=$2
}
# bits per second on the loopback interface of a, IP headers and 14 bytes a packet counted, over 3 s
looped() {
	local from to t0 t1
	from=$(on a awk '/lo:/ { print $10 }' /proc/net/dev) t0=$(date +%s%N)
	sleep 3
	to=$(on a awk '/lo:/ { print $10 }' /proc/net/dev) t1=$(date +%s%N)
	awk -v b=$((to - from)) -v ns=$((t1 - t0)) 'BEGIN { printf "%.0f", b * 8e9 / ns }'
}
# below RATE SHARES... : what left is at most 2 % above it; that it is reached, and shared, is a matter of the machine
below() {
	local rate=$1 got
	shift
	sleep 1
	got=$(looped)
	while [ $# -gt 0 ]; do
		await "$1" || no "$1 failed"
		shift
	done
	bar "$(ratio "$got" "$rate")" 0.95 "$FI_SDR_CC under $FI_SDR_RATE_MAX: share of the ceiling"
	awk -v g="$got" -v r="$rate" 'BEGIN { exit !(g > 0 && g <= 1.02 * r) }' || no "$got bit/s, above the ceiling"
}
qos_ceiling_of() { # CC RATE : four endpoints of one process
	export_ceiling "$1" "$2"
	hosts a && start many a "$many" -n 4 -T 6 127.0.0.1 && below "${2%mbit}000000" many && tell "$(tail -n 1 "$tmp/many.txt")"
}
qos_ceiling() {
	local cc
	for cc in $(controls | tr -d ,); do
		qos_ceiling_of "$cc" 500mbit && qos_ceiling_of "$cc" 20mbit || return 1
	done
}
# Three processes; a file of this host's real /dev/shm is not for us to touch.
qos_ceiling_host() {
	local i
	mount -t tmpfs none /dev/shm || { skip "no /dev/shm of our own"; return 0; }
	export_ceiling fixed 300mbit/host
	hosts a || return 1
	for i in 1 2 3; do
		start many$i a "$many" -n 1 -T 6 127.0.0.1 || return 1
	done
	below 300000000 many1 many2 many3
	tell "$(cat "$tmp"/many[123].txt | sed -n 's/many \(MBps=[0-9.]*\).*/\1/p' | tr '\n' ' ')"
	[ -f "/dev/shm/sdr-rate-max-$(id -u)" ] || no "there is no file to share"
	umount /dev/shm
}

qos_cases="qos_marks qos_marks_ipv6 qos_marks_pieces qos_marks_segments qos_marks_segments_ipv6 qos_bleached qos_bleached_ipv6
	qos_mangled qos_dropped qos_off qos_dscp qos_dscp_ipv6 qos_ceiling qos_ceiling_host"
