#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Tests on RDMA devices, in the guest that scripts/rxe-vm.sh boots (run.sh of this folder does):
# rxe0 at 10.9.0.1 and rxe1 at 10.9.0.2, connected by a veth pair; rxe2 at 10.9.1.1, connected to
# a network namespace in which only the soft engine can live.  It ends with "N passed, M failed".
#
#   guest.sh [CASE...]       names of cases or patterns of them ('verbs_*', '*_ipv6'), default all
#
# A case `verbs_...` must move its data through the devices: their counters of packets are compared
# with those of datagrams from sockets (through_devices); `interop_...` through rxe2 (through_rxe2).
# That they are packets of UC queue pairs is shown by verbs_uc_qps, during a transfer.
#
# `loss_NAME` and `reorder_NAME` are the case NAME under that weather: netem at every end of the
# veth pairs, so that RDMA packets are lost and reordered as those of sockets are.  In the end
# loss_seen and reorder_seen ask netem whether it did so.
#
# Starting a process takes 0.1 s and more here: cases have few of them, and read files with `read`.

. "$(dirname "${BASH_SOURCE[0]}")/../functional/cases.sh"
LIMIT=100 SLACK=30
src=${SDR_SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
net=$src/scripts/rxe-net.sh
functional=$src/fabtests/functional
mpi=$build/sdr_mpi
host=10.9.0.2 host6=fd09::2	# rxe1; routed there from rxe0
far=10.9.1.2 far6=fd09:1::2	# the namespace
near=10.9.1.1 near6=fd09:1::1	# rxe2, seen from there
roce=4791
loss="loss 1% delay 5ms"
reorder="delay 5ms 1ms reorder 25%"
far_away="delay 150ms"

# ---- tools -----------------------------------------------------------------------------------

# Runs a program where an engine is: verbs, soft, or far (soft, in the namespace).
start() { # WHERE NAME COMMAND...
	local where=$1 name=$2
	shift 2
	case $where in
	far) FI_SDR_ENGINE=soft spawn "$name" ip netns exec soft "$@" ;;
	*) FI_SDR_ENGINE=$where spawn "$name" "$@" ;;
	esac
}

# until_open NAME FILE PATTERN : a line of the socket table of the process's network matches.
until_open() {
	local i table
	for i in {1..300}; do
		for table in "/proc/$(<"$tmp/$1.pid")/net/$2" "/proc/$(<"$tmp/$1.pid")/net/${2}6"; do
			[[ $(<"$table") =~ $3 ]] && return 0
		done 2>/dev/null
		alive "$1" || break
		sleep 0.05
	done
	no "$1 did not open its port"
}

# transfer SERVER_WHERE ADDRESS CLIENT_WHERE PORT OPTIONS... : sdr_xfer, every byte verified.
transfer() {
	local server=$1 address=$2 client=$3 p=$4
	shift 4
	start "$server" server "$xfer" -A "$address" -B "$p" -T "$LIMIT" || return 1
	until_open server udp ":$(printf '%04X' "$p") " &&
		start "$client" client "$xfer" -B "$p" -T "$LIMIT" "$@" "$address" && both_end_well client server
}

# pingpong WHERE SERVER_DOMAIN CLIENT_DOMAIN OPTIONS... : fi_pingpong; both ends check the data.
pingpong() {
	local where=$1 there=$2 here=$3
	shift 3
	start "$where" server fi_pingpong -p sdr -d "$there" -c "$@" && until_open server tcp ':B9E8 [0-9A-F]+:0000 0A' &&
		start "$where" client fi_pingpong -p sdr -d "$here" -c "$@" "$host" && both_end_well client server || return 1
	[ "$(grep -Ec '^[0-9]+[kmg]? +[0-9]' "$tmp/client.txt")" -ge "${sizes:-1}" ] || no "results are missing"
}

sent_by() { # DEVICE : packets
	local n=0
	read -r n 2>/dev/null <"/sys/class/infiniband/$1/ports/1/hw_counters/sent_pkts"
	echo "${n:-0}"
}

received_by() { # DEVICE : packets
	local n=0
	read -r n 2>/dev/null <"/sys/class/infiniband/$1/ports/1/hw_counters/rcvd_pkts"
	echo "${n:-0}"
}

# Sets rdma and sockets: packets sent by all devices, datagrams sent by sockets here, both families.
count_sent() {
	local a _ d n
	rdma=0 sockets=0
	for d in rxe0 rxe1 rxe2; do
		rdma=$((rdma + $(sent_by $d)))
	done
	while read -r a _ _ _ n _; do	# Udp: InDatagrams NoPorts InErrors OutDatagrams
		[ "$a" != Udp: ] || case $n in [0-9]*) sockets=$((sockets + n)) ;; esac
	done </proc/net/snmp
	while read -r a n; do
		[ "$a" != Udp6OutDatagrams ] || sockets=$((sockets + n))
	done </proc/net/snmp6
}

# The case, and the proof that the devices sent its data: ten packets at least, and far fewer
# datagrams than packets.
through_devices() {
	local before_rdma before_sockets
	count_sent
	before_rdma=$rdma before_sockets=$sockets
	"$@" || return 1
	count_sent
	rdma=$((rdma - before_rdma)) sockets=$((sockets - before_sockets))
	[ $rdma -ge 10 ] && [ $((sockets * 3)) -le $((rdma + 150)) ] ||
		no "$rdma packets were sent by RDMA devices, $sockets datagrams by sockets"
}

# The case, and the proof that what rxe2 has to do with it went through the device both ways: the
# messages of an interop case are 800 packets of 4096 bytes each way.
through_rxe2() {
	local tx rx
	tx=$(sent_by rxe2) rx=$(received_by rxe2)
	"$@" || return 1
	tx=$(($(sent_by rxe2) - tx)) rx=$(($(received_by rxe2) - rx))
	[ $tx -ge 800 ] && [ $rx -ge 800 ] || no "rxe2 sent $tx packets and received $rx"
}

# A case of the functional tests, between the two addresses here.
functional() { # ENGINE SCRIPT CASE
	SDR_TEST_HOST=$host SDR_TEST_ENGINE=$1 bash "$functional/$2.sh" "$3"
}

# fails WHERE NAME PATTERN COMMAND... : ends with 1, and says it.
fails() {
	local where=$1 name=$2 pattern=$3 rc
	shift 3
	start "$where" "$name" env FI_LOG_LEVEL=warn "$@" || return 1
	await "$name"
	rc=$?
	[ $rc = 1 ] || { no "$name: exit status $rc instead of 1"; return 1; }
	said "$name" "$pattern"
}

# ---- the guest itself ------------------------------------------------------------------------

env_devices() {
	spawn info ibv_devinfo && await info || { no "ibv_devinfo failed"; return 1; }
	awk '/^hca_id:/ { d = $2 } /state:.*PORT_ACTIVE/ { up[d] = 1 } /active_mtu:.*4096/ { mtu[d] = 1 }
		END { exit !(up["rxe0"] && up["rxe1"] && up["rxe2"] && mtu["rxe0"] && mtu["rxe1"] && mtu["rxe2"]) }' \
		"$tmp/info.txt" || no "rxe0, rxe1 and rxe2 are not all active with packets of 4096 bytes"
}

# Another project's program over UC queue pairs, and the counters that cases go by.
env_perftest() {
	local before n
	before=$(sent_by rxe0)
	spawn server ib_write_bw -F -c UC -d rxe1 -x 1 -s 4096 -n 1000 -p 18515 &&
		until_open server tcp ':4853 [0-9A-F]+:0000 0A' &&
		spawn client ib_write_bw -F -c UC -d rxe0 -x 1 -s 4096 -n 1000 -p 18515 "$host" &&
		both_end_well client server || return 1
	said client 'Connection type *: UC' && said client '^ *4096 +1000 +[0-9.]+ +([1-9]|0\.[0-9]*[1-9])' || return 1
	n=$(($(sent_by rxe0) - before))
	[ "$n" -ge 1000 ] || { no "sent_pkts of rxe0 rose by $n"; return 1; }
	spawn statistic rdma statistic show link rxe0/1 && await statistic &&
		said statistic "sent_pkts $(sent_by rxe0) "
}

# ---- the soft engine over the same wire --------------------------------------------------------

soft_xfer() { transfer soft "$host" soft "$(free_port)" -S 8,4k,64k,1m -I 2; }
soft_xfer_ipv6() { transfer soft "$host6" soft "$(free_port)" -S 8,4k,64k,1m -I 2; }
soft_pingpong_rdm() { sizes=10 pingpong soft vb va -e rdm -S all -I $iters; }
soft_pingpong_dgram() { pingpong soft vb va -e dgram -I 5; }

# ---- verbs -------------------------------------------------------------------------------------

# Both devices, for both kinds of endpoints, and no other interface.
verbs_info() {
	start verbs info fi_info -p sdr -v && await info || { no "fi_info: exit status $?"; return 1; }
	awk '/^ *type: FI_EP_/ { type = $2 }
		/fi_domain_attr:/ { domain = 1 }
		/^ *name:/ && domain { seen[$2 " " type]++; domain = 0; if ($2 !~ /^rxe[012]$/) other = 1 }
		END { exit !(seen["rxe0 FI_EP_RDM"] && seen["rxe1 FI_EP_RDM"] && seen["rxe0 FI_EP_DGRAM"] &&
			seen["rxe1 FI_EP_DGRAM"]) || other }' "$tmp/info.txt" ||
		no "fi_info -p sdr -v does not list rxe0 and rxe1, or others with them"
}

# With verbs and soft to choose from, and nothing said, verbs comes first.
verbs_first() {
	start auto info fi_info -p sdr -t FI_EP_RDM && await info || { no "fi_info failed"; return 1; }
	[[ $(grep -m 1 'domain:' "$tmp/info.txt") = *rxe0 ]] || { no "the first is $(grep -m 1 'domain:' "$tmp/info.txt")"; return 1; }
	said info 'domain: va'
}

verbs_xfer_tagged() { transfer verbs "$host" verbs "$(free_port)" -m tagged -S 0,1,8,1000,4k,64k,1m,5000001 -I 2; }
verbs_xfer_msg() { transfer verbs "$host" verbs "$(free_port)" -m msg -S 0,8,4095,64k,1m -I 2; }
verbs_xfer_write() { transfer verbs "$host" verbs "$(free_port)" -m write -S 1,8,4097,64k,1m -I 2; }
verbs_xfer_ipv6() { transfer verbs "$host6" verbs "$(free_port)" -S 8,4k,64k,1m -I 2; }
verbs_xfer_channels() { FI_SDR_CHANNELS=3 transfer verbs "$host" verbs "$(free_port)" -S 8,64k,1m -I 2; }
# Every packet to the server's device has the code point, and none of another comes that way.
# Receive workers: at both ends of an endpoint, more than channels, fewer than those; at one alone; the SDK's, which
# count.
verbs_workers() {
	FI_SDR_WORKERS=2 FI_SDR_CHANNELS=2 transfer verbs "$host" verbs "$(free_port)" -m tagged -S 0,8,64k,1m,5000001 -I 2 &&
		FI_SDR_WORKERS=2 FI_SDR_CHANNELS=3 transfer verbs "$host" verbs "$(free_port)" -m write -S 1,64k,1m -I 2
}
verbs_workers_one() { FI_SDR_WORKERS=2 transfer verbs "$host" verbs "$(free_port)" -m msg -S 8,64k,1m -I 2; }
verbs_workers_no_repair() { FI_SDR_WORKERS=2 FI_SDR_CHANNELS=2 functional verbs xfer clean_no_repair; }
verbs_workers_count() {
	spawn workers "$build/sdr_verbs_workers" verbs:rxe0 verbs:rxe1 2 3 &&
		await workers || { no "exit status $?: $(<"$tmp/workers.txt")"; return 1; }
	said workers '^PASS: workers'
}

verbs_dscp() {
	spawn sniff python3 -c '
import collections, socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind(("vb", 0))
n = collections.Counter()
print("sniffing", flush=True)
while n["seen"] < 100:
    d = s.recv(9000)
    if d[12:14] == b"\x08\x00" and d[23] == 17 and d[30:34] == socket.inet_aton("'"$host"'") and d[36:38] == b"\x12\xb7":
        n["seen"] += 1
        n[d[15]] += 1
print(dict(n), flush=True)' && until_said sniff sniffing 30 || return 1
	FI_SDR_DSCP=EF transfer verbs "$host" verbs "$(free_port)" -m write -S 64k,1m -I 2 -o && await sniff && said sniff "'seen': 100, 184: 100"
}
verbs_pingpong_rdm() { sizes=10 pingpong verbs rxe1 rxe0 -e rdm -S all -I $iters; }
# Through the UD queue pairs.  A datagram that is lost stays lost, and fi_pingpong waits for it for ever: in bad
# impairments another run may do.
verbs_pingpong_dgram() {
	local tries=1 i LIMIT=20
	[ "$network_now" = off ] || tries=5
	for ((i = 0; i < tries; i++)); do
		rm -f "$tmp/why"
		pingpong verbs rxe1 rxe0 -e dgram -I 3 && return 0
		kill_all
	done
	return 1
}

# During a transfer: connected UC queue pairs at both devices, owned by the two processes; after it,
# as many packets as the data has.
verbs_uc_qps() {
	local p before0 i
	p=$(free_port)
	before0=$(sent_by rxe0)
	start verbs server "$xfer" -A "$host" -B "$p" -T "$LIMIT" && until_open server udp ":$(printf '%04X' "$p") " &&
		start verbs client "$xfer" -B "$p" -T "$LIMIT" -o -S 4m -I 20 -W 0 "$host" || return 1
	for i in {1..50}; do
		rdma resource show qp type UC >"$tmp/qps.txt"
		grep -q '^link rxe0/1 .*state RTS.* comm sdr_xfer' "$tmp/qps.txt" &&
			grep -q '^link rxe1/1 .*state RTS.* comm sdr_xfer' "$tmp/qps.txt" && break
		alive client || { no "no UC queue pair in RTS at both devices while it ran"; return 1; }
	done
	both_end_well client server || return 1
	i=$(($(sent_by rxe0) - before0))
	[ $i -ge $((20 * 1024)) ] || no "80 MiB in packets of at most 4096 bytes, and rxe0 sent $i packets"
}

# Two ranks, each at its own device.
mpi() { # ARGUMENTS of sdr_mpi...
	local v vars=()
	[ -x "$mpi" ] || { no "$mpi is not there (run.sh builds it with mpicc)"; return 1; }
	export FI_SDR_ENGINE=verbs
	for v in FI_PROVIDER_PATH IPATH_NO_BACKTRACE "${!FI_SDR_@}"; do vars+=(-x "$v"); done
	spawn mpi mpirun.openmpi --allow-run-as-root --oversubscribe -np 2 "${vars[@]}" \
		--mca pml cm --mca mtl ofi --mca btl self --mca osc pt2pt --mca coll ^sm \
		--mca mtl_ofi_provider_include sdr --mca opal_common_ofi_verbose 1 --mca mtl_base_verbose 10 \
		"$mpi" --seed 1 --quick "$@" || return 1
	await mpi || { no "mpirun: exit status $?: $(grep -E '^(FAIL|rank)' "$tmp/mpi.txt" | head -n 3)"; return 1; }
	said mpi '^[1-9][0-9]* passed, 0 failed' && said mpi 'mtl:ofi:provider: rxe0' && said mpi 'mtl:ofi:provider: rxe1'
}
verbs_mpi() { mpi; }
verbs_mpi_short() { mpi --only sizes,modes,order,coll_all,osc_fence; }

# The contract of uc/sdr_uc.h, clause by clause, between the two devices.
verbs_conform() {
	spawn conform "$build/fabtests/unit/test_uc_verbs" || return 1
	await conform || { no "exit status $?: $(grep -a -A 1 'LINE\|FAILED' "$tmp/conform.txt" | head -n 6)"; return 1; }
	said conform 'PASSED'
}

# The functional tests with this engine: how things end, faults inside the provider.
verbs_faults() { functional verbs xfer faults_tagged; }
verbs_faults_write() { functional verbs xfer faults_write; }
verbs_no_repair() { functional verbs xfer clean_no_repair; }
verbs_nack() { functional verbs xfer scheme_sr_nack; }
verbs_mtu_differs() { functional verbs xfer mtu_differs; }
verbs_port_in_use() { functional verbs badinput port_in_use_by_sdr; }
verbs_receiver_killed() { functional verbs ends receiver_killed; }
verbs_sender_killed() { functional verbs ends sender_killed; }
verbs_peer_restarts() { functional verbs ends peer_restarts; }
verbs_nobody_there() { functional verbs ends nobody_there; }
verbs_client_first() { functional verbs ends client_first; }

# Packets that come after their message is complete: sdr_verbs_late says what it tries.
late_ipv4() { late 10.9.0.1 10.9.0.2; }
late_ipv6() { late '[fd09::1]' '[fd09::2]'; }
late() {
	spawn late "$build/sdr_verbs_late" "$@" || return 1
	await late || { no "exit status $?: $(grep -A 1 FAIL "$tmp/late.txt" | head -n 6)"; return 1; }
	said late '^PASS'
}

# Memory of devices, which its drivers' fakes let nobody touch: read and written by the RDMA devices, by dma-bufs that
# the program makes them take; and copied, where they refuse those, which they do by themselves, or may not be asked.
verbs_hmem_direct() { hmem direct && hmem_silent; }
verbs_hmem_forbidden() { hmem forbidden && hmem_silent; }
verbs_hmem_staged() { hmem staged && said hmem 'data pass through memory of the host.*dma-buf'; }
hmem_silent() { ! grep 'pass through memory of the host' "$tmp/hmem.txt" >&2 || no "it says that data are staged"; }
hmem() {
	LIMIT=300 start verbs hmem env FI_LOG_LEVEL=warn FI_LOG_PROV=sdr "$build/sdr_verbs_hmem" 10.9.0.1 10.9.0.2 "$1" || return 1
	await hmem || { no "exit status $?: $(grep -A 1 FAIL "$tmp/hmem.txt" | head -n 6)"; return 1; }
	said hmem '^6 passed, 0 failed'
}

# Through the SDK: a receive completed with its first chunk, its buffer used for something else.
late_sdk() {
	spawn early "$build/sdr_early" verbs:rxe0 verbs:rxe1 10 || return 1
	await early || { no "exit status $?: $(<"$tmp/early.txt")"; return 1; }
	said early '^PASS: early, [1-9]'
}

# ---- verbs here, soft in the namespace ---------------------------------------------------------

# Either side may be the server; data goes both ways in each.
interop_verbs_to_soft() { transfer far "$far" verbs $roce -S 8,4k,64k,1m -I 2; }
interop_verbs_to_soft_ipv6() { transfer far "$far6" verbs $roce -S 8,4k,64k,1m -I 2; }
interop_soft_to_verbs() { transfer verbs "$near" far "$(free_port)" -S 8,4k,64k,1m -I 2; }
interop_soft_to_verbs_ipv6() { transfer verbs "$near6" far "$(free_port)" -S 8,4k,64k,1m -I 2; }
interop_workers() { FI_SDR_WORKERS=2 FI_SDR_CHANNELS=2 transfer verbs "$near" far "$(free_port)" -S 8,64k,1m -I 2; }
interop_write() { transfer far "$far" verbs $roce -m write -S 8,1000,64k,1m -I 2; }

# The soft engine alone, with queue pairs straight from libibverbs.
interop_engine() { engine "$near" "$far"; }
interop_engine_ipv6() { engine "$near6" "$far6"; }
engine() { # DEVICE_IP SOFT_IP
	spawn engine "$build/sdr_soft_nic" rxe2 soft "$@" || return 1
	await engine || { no "exit status $?: $(tail -n 2 "$tmp/engine.txt")"; return 1; }
	said engine '^ok - .*port 4791'
}

# ---- what goes wrong ---------------------------------------------------------------------------

# Root without its capabilities: the files are its own still, wherever the tree lies.
plain="setpriv --bounding-set=-all --inh-caps=-all"

# Without a right to the devices: said when verbs was asked for, soft when it was not.
bad_permission() {
	local rc
	chmod 000 /dev/infiniband/uverbs*
	# shellcheck disable=SC2086
	fails verbs denied ':sdr:.*permission.*/dev/infiniband' \
		$plain "$xfer" -A "$host" -B "$(free_port)" -T 10 && transfer_plain auto "$host"
	rc=$?
	chmod 666 /dev/infiniband/uverbs*
	return $rc
}
transfer_plain() { # WHERE ADDRESS
	local p
	p=$(free_port)
	# shellcheck disable=SC2086
	start "$1" server $plain "$xfer" -A "$2" -B "$p" -T "$LIMIT" && until_open server udp ":$(printf '%04X' "$p") " &&
		start "$1" client $plain "$xfer" -B "$p" -T "$LIMIT" -S 8,64k -I 1 "$2" && both_end_well client server
}

bad_memlock() {
	# shellcheck disable=SC2086
	fails verbs locked ':sdr:.*([Mm]emlock|RLIMIT_MEMLOCK|ulimit -l)' \
		prlimit --memlock=65536 $plain "$xfer" -A "$host" -B "$(free_port)" -T 10
}

# Too few objects of the device: a control group's limit serves as an example.
bad_limits() {
	local group=$tmp/cgroup/few rc
	mkdir -p "$tmp/cgroup" && mount -t cgroup2 none "$tmp/cgroup" && echo +rdma >"$tmp/cgroup/cgroup.subtree_control" &&
		mkdir "$group" && echo "rxe1 hca_object=4" >"$group/rdma.max" || { no "no control group"; return 1; }
	# shellcheck disable=SC2016
	fails verbs limited ':sdr:.*cannot .*(rdma.max|limit)' bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - \
		"$group" "$xfer" -A "$host" -B "$(free_port)" -T 10
	rc=$?
	rmdir "$group"
	umount "$tmp/cgroup"
	return $rc
}

# More queue pairs than the wire names.
bad_channels() {
	local p
	p=$(free_port)
	FI_SDR_CHANNELS=16 start verbs server "$xfer" -A "$host" -B "$p" -T 30 && until_open server udp ":$(printf '%04X' "$p") " &&
		FI_SDR_CHANNELS=16 fails verbs channels ':sdr:.*FI_SDR_CHANNELS' "$xfer" -B "$p" -T 20 -S 8 "$host"
}

# An address that no device has.
bad_no_device() {
	fails verbs none ':sdr:.*(RDMA device|verbs)' "$xfer" -A 127.0.0.1 -B "$(free_port)" -T 10
}

# midway SIZE : a transfer of so many bytes at 20 Mbit/s, in its middle.
midway() {
	local size=$1 p
	p=$(free_port)
	export FI_SDR_CC=fixed FI_SDR_RATE=20mbit FI_SDR_TIMEOUT=10000
	start verbs server env FI_LOG_LEVEL=warn "$xfer" -A "$host" -B "$p" -T "$LIMIT" && until_open server udp ":$(printf '%04X' "$p") " &&
		start verbs client env FI_LOG_LEVEL=warn "$xfer" -B "$p" -T "$LIMIT" -S 8,$size -I 1 -W 0 -o -C "$host" &&
		until_said client '^sdr,[a-z]+,to,8,' 30 || return 1
	sleep 1
	alive client && alive server || no "a side ended by itself"
}

# The port of the client's device: the endpoint says it, instead of waiting for time to be up.
bad_port_down() {
	local rc
	midway 64m || return 1
	ip link set va down
	await client
	rc=$?
	ip link set va up
	ip neigh replace 10.9.0.2 lladdr 02:00:00:00:09:02 dev va nud permanent
	ip route replace 10.9.0.2/32 dev va src 10.9.0.1 table 101
	[ $rc = 1 ] || { no "client: exit status $rc instead of 1"; return 1; }
	said client '[Pp]ort.*(down|not active)'
}

# rdma_rxe cannot take a device from those who use it: its removal waits until they have ended, and
# nothing is reported.  So the transfer ends well, the removal then happens, and there is no device.
bad_device_removed() {
	local rc
	midway 16m || return 1
	spawn removal rdma link delete rxe0
	both_end_well client server && { await removal || no "rdma link delete: exit status $?"; } &&
		{ ! start verbs info fi_info -p sdr -d rxe0 || ! await info || no "rxe0 is still listed"; }
	rc=$?
	rdma link add rxe0 type rxe netdev va
	return $rc
}

# ---- impairments -------------------------------------------------------------------------------

# Counters of netem at one end of the veth pair: packets, dropped, sent ahead of others.
loss_seen() {
	tc -s qdisc show dev va | grep -Eq 'dropped [1-9]' || no "netem dropped nothing: $(tc -s qdisc show dev va)"
}
reorder_seen() {
	tc -s qdisc show dev va | grep -Eq 'requeues [1-9]' || no "netem reordered nothing: $(tc -s qdisc show dev va)"
}

# ---- the run -----------------------------------------------------------------------------------

network_now=off
impair() { # SPEC
	[ "$network_now" != "$1" ] || return 0
	bash "$net" netem "$1" || exit 1
	network_now=$1
}

# run_named NAME : under the impairments that it names, with the proof that it needs.
run_named() {
	local name=$1 run=$1 spec=off
	iters=3
	case $name in
	*_seen) spec=$network_now ;;
	loss_*) spec=$loss run=${name#loss_} iters=1 ;;
	late_*) spec=$far_away ;;
	reorder_*) spec=$reorder run=${name#reorder_} iters=1 ;;
	esac
	impair "$spec"
	case $run in
	verbs_info | verbs_first | verbs_nobody_there) run_case "$name" "$run" ;;
	verbs_* | late_*) run_case "$name" through_devices "$run" ;;
	interop_*) run_case "$name" through_rxe2 "$run" ;;
	*) run_case "$name" "$run" ;;
	esac
}

all="env_devices env_perftest
	soft_xfer soft_xfer_ipv6 soft_pingpong_rdm soft_pingpong_dgram
	verbs_info verbs_first verbs_conform verbs_uc_qps
	verbs_xfer_tagged verbs_xfer_msg verbs_xfer_write verbs_xfer_ipv6 verbs_xfer_channels verbs_dscp
	verbs_workers verbs_workers_one verbs_workers_no_repair verbs_workers_count
	verbs_pingpong_rdm verbs_pingpong_dgram
	verbs_mpi verbs_faults verbs_faults_write verbs_no_repair verbs_nack verbs_mtu_differs
	verbs_hmem_direct verbs_hmem_staged verbs_hmem_forbidden
	verbs_port_in_use verbs_receiver_killed verbs_sender_killed verbs_peer_restarts verbs_nobody_there verbs_client_first
	interop_verbs_to_soft interop_verbs_to_soft_ipv6 interop_soft_to_verbs interop_soft_to_verbs_ipv6 interop_write interop_workers
	interop_engine interop_engine_ipv6
	bad_permission bad_memlock bad_limits bad_channels bad_no_device
	loss_soft_xfer loss_verbs_xfer_tagged loss_verbs_xfer_write loss_verbs_xfer_ipv6 loss_verbs_pingpong_rdm
	loss_verbs_hmem_direct loss_verbs_hmem_staged
	loss_verbs_pingpong_dgram loss_verbs_mpi_short loss_verbs_workers
	loss_interop_verbs_to_soft loss_interop_soft_to_verbs_ipv6 loss_seen
	reorder_soft_xfer reorder_verbs_xfer_tagged reorder_verbs_xfer_write reorder_verbs_pingpong_rdm reorder_verbs_mpi_short reorder_verbs_workers
	reorder_interop_verbs_to_soft reorder_interop_soft_to_verbs reorder_seen
	late_ipv4 late_ipv6 late_sdk
	bad_port_down bad_device_removed"

# Read as a whole before it runs: an editor may be at this file.
{
[ -n "${RXE_VM:-}" ] || { echo "FAIL: this is not the guest of scripts/rxe-vm.sh: use fabtests/rxe/run.sh"; exit 2; }
[ -d /sys/class/infiniband/rxe1 ] || bash "$net" up || exit 1
[ -d /sys/class/infiniband/rxe2 ] || bash "$net" soft || exit 1
[ $# -gt 0 ] || set -- '*'
for pattern; do
	n=0
	for c in $all; do
		# shellcheck disable=SC2254
		case $c in
		$pattern) run_named "$c"; n=$((n + 1)) ;;
		esac
	done
	[ $n -gt 0 ] || { echo "FAIL: there is no case \"$pattern\""; failed=$((failed + 1)); }
done
impair off
verdict
exit
}
