# shellcheck shell=bash disable=SC2154,SC2034  # what it shares with lib.sh and net-cases.sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Sourced by net-cases.sh: which interface, address and port an endpoint takes.

# Two networks between the same hosts: ctl0 is there first, the default route is over wan0.
two_links() {
	hosts a r b && routers r && link a ctl0 b ctl0 1500 10.5.0 && link a wan0 r lan 1500 10.6.0 && link r wan b wan0 1500 10.7.0 &&
		route a 10.6.0.2 && route b 10.7.0.1
	A=10.6.0.1 B=10.7.0.2
	reachable a $B
}

# carried IFACE COMMAND... : what IFACE and the other one of ctl0 and wan0 have carried meanwhile, as $mine and $other
carried() {
	local i=$1 o=wan0 m0 o0
	shift
	[ "$i" = ctl0 ] || o=ctl0
	m0=$(($(sent a $i) + $(received a $i))) o0=$(($(sent a $o) + $(received a $o)))
	"$@" || return 1
	mine=$(($(sent a $i) + $(received a $i) - m0)) other=$(($(sent a $o) + $(received a $o) - o0))
	tell "$i $mine bytes, $o $other bytes"
}
# mpirun's own connections are over ctl0, some ten kilobytes.
mpi_over() {
	mpi_ready || return 0
	two_links || return 1
	mpi_oob=ctl0 carried "$1" mpi 1 10.5.0.1 10.5.0.2 --quick --only sizes,storm,ring,coll_all,coll_v || return 1
	[ "$mine" -gt 10000000 ] && [ "$other" -lt 1000000 ] || no "$1 carried $mine bytes, the other one $other"
}
iface_mpi_default() { mpi_over wan0; }
iface_mpi_wan() { FI_SDR_IFACE=wan0; export FI_SDR_IFACE; mpi_over wan0; }
iface_mpi_ctl() { FI_SDR_IFACE=ctl0; export FI_SDR_IFACE; mpi_over ctl0; }
iface_mpi_not() { FI_SDR_IFACE='!ctl0'; export FI_SDR_IFACE; mpi_over wan0; }
iface_mpi_cidr() { FI_SDR_IFACE=10.5.0.0/24; export FI_SDR_IFACE; mpi_over ctl0; }

domains() { on a fi_info -p sdr -t FI_EP_RDM | awk '$1 == "domain:" { print $2 }'; }
# first_is NAME : of what fi_info lists
first_is() {
	local list
	list=$(domains | tr '\n' ' ')
	tell "fi_info:" "$(uniq <<<"${list// /$'\n'}" | tr '\n' ' ')"
	[ "${list%% *}" = "$1" ] || no "fi_info's first entry is ${list%% *} instead of $1"
}

# As a host with containers: the bridge is there before, with an address and a member that is up.
iface_docker() {
	hosts a r && on a sh -c 'ip link add docker0 type bridge; ip addr add 172.17.0.1/16 dev docker0
		ip link add veth1 type veth peer name veth2; ip link set veth1 master docker0; ip link set veth1 up
		ip link set veth2 up; ip link set docker0 up' && link a eth0 r eth0 1500 10.1.0 && route a 10.1.0.2 && first_is eth0
}
iface_order() {
	two_links && first_is wan0 && FI_SDR_IFACE=ctl0,wan0 first_is ctl0 && FI_SDR_IFACE=wan0,ctl0 first_is wan0 || return 1
	! FI_SDR_IFACE=ctl0 domains | grep -qx wan0 || no "FI_SDR_IFACE=ctl0 lists wan0"
	! FI_SDR_IFACE='!ctl0' domains | grep -qx ctl0 || no "FI_SDR_IFACE=!ctl0 lists ctl0"
}
# To a destination that only one of them reaches.
iface_destination() {
	local list
	two_links || return 1
	list=$(on a fi_info -p sdr -t FI_EP_RDM -n 10.5.0.2 -P 20900 | awk '$1 == "domain:" { print $2 }' | head -n 1)
	[ "$list" = ctl0 ] || { no "towards 10.5.0.2: $list"; return 1; }
	list=$(on a fi_info -p sdr -t FI_EP_RDM -n 10.7.0.2 -P 20900 | awk '$1 == "domain:" { print $2 }' | head -n 1)
	[ "$list" = wan0 ] || no "towards 10.7.0.2: $list"
}
# A name that is nobody's: an error that tells it, and the names that there are.
iface_wrong() {
	two_links || return 1
	export FI_SDR_IFACE=eth7 FI_LOG_LEVEL=warn FI_LOG_PROV=sdr
	start client a "$xfer" -B 20900 -T 10 -S 8 $B || return 1
	await client && { no "it ended well"; return 1; }
	tell "$(grep eth7 "$tmp/client.txt" | head -n 1)"
	said client 'FI_SDR_IFACE.*eth7'
}

iface_pingpong() {
	two_links && FI_SDR_IFACE=wan0 carried wan0 pingpong -S 65536 -I 50 || return 1
	[ "$mine" -gt 5000000 ] && [ "$other" -lt 100000 ] || no "wan0 carried $mine bytes, ctl0 $other"
}

# Two interfaces, a path over each, and workers at both ends; with one side that asks for paths, under faults.
iface_rails() {
	local m0 m1
	hosts a b && link a rail0 b rail0 1500 10.5.0 && link a rail1 b rail1 1500 10.6.0 || return 1
	B=10.5.0.2
	reachable a $B || return 1
	export FI_SDR_IFACE=rail0,rail1 FI_SDR_PATHS=2 FI_SDR_WORKERS=2 FI_SDR_SPREAD_MIN=256k
	m0=$(sent a rail0) m1=$(sent a rail1)
	transfer -m tagged -S 8,300k,4m,5000001 -I 6 || return 1
	m0=$(($(sent a rail0) - m0)) m1=$(($(sent a rail1) - m1))
	tell "rail0 $m0 bytes, rail1 $m1 bytes"
	# which of them carries more is chance
	grep -q '"paths_up": *[1-9]' "$tmp/last.client" && [ "$m0" -gt 10000 ] && [ "$m1" -gt 10000 ] ||
		{ no "one of them was not used"; return 1; }
	FI_SDR_FAULT=drop=0.01,dup=0.01,reorder=0.01,seed=2 transfer -m write -S 64k,5000001 -I 4
}

# ---- ports -----------------------------------------------------------------------------------------

range=20100-20109
# ports HOST : UDP ports that processes have there
ports() { on "$1" ss -Hunap | awk '{ n = split($4, p, ":"); print p[n] }' | sort -nu | tr '\n' ' '; }

iface_ports_mpi() {
	local seen='' p
	mpi_ready || return 0
	export FI_SDR_PORT_RANGE=$range
	two_links || return 1
	mpi_oob=ctl0 mpi_run 2 10.5.0.1 10.5.0.2 --quick || return 1
	while alive mpi; do
		seen="$seen $(ports a) $(ports b)"
		sleep 0.1
	done
	mpi_well 4 || return 1
	# whoever asks the kernel for a way, as getaddrinfo does, has a port for a moment
	seen=$(tr ' ' '\n' <<<"$seen" | grep . | sort -n | uniq -c | awk '$1 > 2 { print $2 }' | tr '\n' ' ')
	tell "UDP ports: $seen"
	[ -n "$seen" ] || { no "no port was seen"; return 1; }
	for p in $seen; do
		[ "$p" -ge 20100 ] && [ "$p" -le 20109 ] || { no "port $p is outside of $range"; return 1; }
	done
}

# Ten endpoints have the range, the eleventh hears of it.
iface_ports_full() {
	local i
	export FI_SDR_PORT_RANGE=$range FI_LOG_LEVEL=warn FI_LOG_PROV=sdr
	two_links && filter b input udp dport 20900 drop || return 1
	for i in {1..10}; do
		start "c$i" a "$xfer" -B 20900 -T 20 -S 8 $B || return 1
	done
	for i in {1..100}; do
		[ "$(ports a | wc -w)" = 10 ] && break
		sleep 0.1
	done
	tell "UDP ports: $(ports a)"
	[ "$(ports a)" = "$(seq -s ' ' 20100 20109) " ] || { no "ten endpoints have the ports $(ports a)"; return 1; }
	start last a "$xfer" -B 20900 -T 10 -S 8 $B || return 1
	await last && { no "the eleventh ended well"; return 1; }
	tell "$(grep $range "$tmp/last.txt" | head -n 1)"
	said last "$range"
}

iface_port() {
	two_links && FI_SDR_PORT=20333 start client a "$xfer" -B 20900 -T 10 -S 8 $B || return 1
	for _ in {1..50}; do
		[ -n "$(ports a)" ] && break
		sleep 0.1
	done
	[ "$(ports a)" = "20333 " ] || no "FI_SDR_PORT=20333 has the ports $(ports a)"
}

iface_bind() {
	two_links && FI_SDR_BIND=10.5.0.1 start client a "$xfer" -B 20900 -T 10 -S 8 $B || return 1
	for _ in {1..50}; do
		on a ss -Hunap | grep -q '10\.5\.0\.1:' && return 0
		sleep 0.1
	done
	no "FI_SDR_BIND=10.5.0.1: $(on a ss -Hunap)"
}

iface_cases="iface_mpi_default iface_mpi_wan iface_mpi_ctl iface_mpi_not iface_mpi_cidr iface_docker iface_order
	iface_destination iface_wrong iface_pingpong iface_rails iface_ports_mpi iface_ports_full iface_port iface_bind"
