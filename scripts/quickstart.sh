#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# From a bare Debian 12 to a verified transfer over a long, lossy link: installs what is
# missing, builds under build/, shows what the provider offers, and moves data between two
# processes whose every packet is delayed and dropped inside the provider (FI_SDR_FAULT), so
# that no second machine and no root network set-up is needed.

set -u
. "$(dirname "$0")/lib.sh"

usage() {
	cat <<-END
	usage: scripts/quickstart.sh [options]
	  --sizes LIST    message sizes (default 1m,16m,64m)
	  --loss LIST     packet loss, per cent (default 0,0.1,1)
	  --rtt MS        round trip time (default 25)
	  --rate BPS      sending rate, bits per second (default 1e9)
	  --messages N    messages of each size, one after the other (default 5)
	  --no-install    do not install packages, only say what is missing
	  -h, --help      this text
	Everything made lies under build/; logs in build/logs/.
	END
}

SIZES=1m,16m,64m LOSSES=0,0.1,1 RTT=25 RATE=1e9 N=5 INSTALL=1
while [ $# -gt 0 ]; do
	case $1 in
	--sizes) SIZES=${2:?} ; shift ;;
	--loss) LOSSES=${2:?} ; shift ;;
	--rtt) RTT=${2:?} ; shift ;;
	--rate) RATE=${2:?} ; shift ;;
	--messages) N=${2:?} ; shift ;;
	--no-install) INSTALL=0 ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done
# How the link was asked for; python does the arithmetic so that 1e9 and 12.5 are numbers.
number() { python3 -c "print($1)" 2>/dev/null || die "not a number: $1"; }

if [ $INSTALL = 1 ]; then
	# shellcheck disable=SC2086
	packages_install $PKGS_BUILD
else
	# shellcheck disable=SC2086
	missing=$(packages_missing $PKGS_BUILD | tr '\n' ' ')
	[ -z "$missing" ] || die "missing packages: $missing"
fi
mkdir -p "$LOGS"

# A build that is there already is used as it was configured.
build() { autogen && { [ -f "$BUILD/Makefile" ] || configure_tree "$BUILD"; } && make -C "$BUILD" -j"$JOBS" all; }

say "building (log: build/logs/quickstart-build.log)"
if ! (build) >"$LOGS/quickstart-build.log" 2>&1 </dev/null; then
	tail -n 30 "$LOGS/quickstart-build.log" >&2
	die "the build failed; the whole log: $LOGS/quickstart-build.log"
fi

export FI_PROVIDER_PATH=$BUILD/.libs IPATH_NO_BACKTRACE=1
say "FI_PROVIDER_PATH=$FI_PROVIDER_PATH fi_info -p sdr"
if ! timeout -k 5 60 fi_info -p sdr >"$LOGS/fi_info.log" 2>&1; then
	FI_LOG_LEVEL=debug timeout -k 5 60 fi_info -p sdr 2>&1 | tail -n 15 >&2
	cat "$LOGS/fi_info.log" >&2
	die "libfabric does not see the provider in $FI_PROVIDER_PATH"
fi
awk '$1 == "fabric:" { f = $2 } $1 == "domain:" { d = $2 }
	$1 == "type:" { printf "    %-12s %-8s %s\n", $2, d, f }' "$LOGS/fi_info.log"

HALF=$(number "$RTT/2") || exit 1
RATE_BPS=$(number "int($RATE)") || exit 1
RTT_US=$(number "int($RTT*1000)") || exit 1
export FI_SDR_CC=fixed FI_SDR_RATE=$RATE_BPS FI_SDR_RTT_INIT=$RTT_US

server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null' EXIT

# one SIZE LOSS_PERCENT SEED : a server and a client; prints one row of the table.
one() {
	local size=$1 loss=$2 seed=$3 tag=quickstart-$1-$2 port fault rc
	port=$(free_port)
	fault="delay=${HALF}ms,seed=$seed"
	[ "$(number "float($loss) > 0")" = False ] || fault="$fault,drop=$(number "$loss/100")"
	rm -f "$LOGS/$tag".*
	FI_SDR_FAULT="$fault" FI_SDR_STATS=$LOGS/$tag.server.json \
		timeout -k 5 180 "$BUILD/sdr_xfer" -p sdr -B "$port" -A 127.0.0.1 -T 120 \
		>"$LOGS/$tag.server.log" 2>&1 </dev/null &
	server=$!
	sleep 0.3
	FI_SDR_FAULT="$fault" FI_SDR_STATS=$LOGS/$tag.client.json \
		timeout -k 5 180 "$BUILD/sdr_xfer" -p sdr -B "$port" -T 120 \
		-o -S "$size" -I "$N" -C 127.0.0.1 >"$LOGS/$tag.csv" 2>"$LOGS/$tag.client.log"
	rc=$?
	if [ $rc != 0 ]; then
		kill "$server" 2>/dev/null
		wait "$server" 2>/dev/null
		server=
		printf '%s at %s %% loss failed (exit status %s):\n' "$size" "$loss" "$rc" >&2
		tail -n 8 "$LOGS/$tag.client.log" "$LOGS/$tag.server.log" >&2
		return 1
	fi
	wait "$server"
	rc=$?
	server=
	if [ $rc != 0 ]; then
		printf '%s at %s %% loss: the server failed (exit status %s):\n' "$size" "$loss" "$rc" >&2
		tail -n 8 "$LOGS/$tag.server.log" >&2
		return 1
	fi
	python3 - "$LOGS/$tag.csv" "$LOGS/$tag.client.json" "$loss" "$RTT" "$RATE_BPS" <<-'PY'
	import csv, json, sys

	path_csv, path_json, loss, rtt, rate = sys.argv[1:]
	row = list(csv.DictReader(open(path_csv)))[-1]
	size = int(row["size_bytes"])

	# One JSON object a line: each peer, and their sum.
	total = {}
	for line in open(path_json):
	    v = json.loads(line)
	    if v["peer"] == "total":
	        for k, x in v.items():
	            if isinstance(x, (int, float)):
	                total[k] = total.get(k, 0) + x

	n = lambda k: total.get(k, 0)
	how = [(n("rtx_rack"), "rack"), (n("rtx_nack"), "nack"), (n("rtx_tlp"), "tlp"),
	       (n("rtx_rto"), "rto"), (n("repair_tx"), "more parity")]
	parts = ", ".join("%d %s" % h for h in how if h[0]) or "-"
	parity = n("parity_tx") / max(n("pkts_tx") - n("parity_tx") - n("repair_tx"), 1) * 100
	med = float(row["median_ms"])
	ideal = size * 8e3 / float(rate) + float(rtt)
	name = "%d MiB" % (size >> 20) if size >= 1 << 20 else "%d B" % size
	print("  %8s %7s %10.1f %10.1f %7.3f %6.1f %% %8d %8d   %s"
	      % (name, loss + " %", med, ideal, med / ideal, parity, n("chunks_fec"), sum(h[0] for h in how), parts))
	PY
}

cat <<END

A verified transfer between two processes, ${RTT} ms round trip, $(number "$RATE/1e6") Mbit/s, packet loss in both
directions. Time: median of $N messages, from the send call to the completion that says that all bytes lie
in the receiver's buffer. Ideal: bytes / rate + round trip. Of the whole run ($N messages and one to warm up): parity
sent with the data, chunks that the receiver computed from it, packets sent again and what noticed the loss.

  $(printf '%8s %7s %10s %10s %7s %8s %8s %8s   %s' size loss 'time ms' 'ideal ms' ratio parity decoded again how)
END
bad=0
seed=1
for loss in ${LOSSES//,/ }; do
	for size in ${SIZES//,/ }; do
		one "$size" "$loss" "$seed" || bad=$((bad + 1))
		seed=$((seed + 1))
	done
done
[ $bad = 0 ] || die "$bad of the transfers failed; logs in $LOGS"

cat <<END

All bytes were verified on arrival. What to try next:
  export FI_PROVIDER_PATH=$FI_PROVIDER_PATH        # or: make -C build install
  fi_info -p sdr                 what the provider offers
  fi_info -g sdr                 its environment variables
  fi_pingpong -p sdr -e rdm -c   here, and "fi_pingpong -p sdr -e rdm -c 127.0.0.1" in a second terminal
  FI_SDR_FAULT=delay=50ms,drop=0.02 build/sdr_xfer    ... and the same with "127.0.0.1" at the end
  mpirun -n 2 --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include sdr PROGRAM
  scripts/quickstart.sh --loss 2,5 --rtt 100
  scripts/test.sh                every test of the project
More: README.md, build/man/fi_sdr.7 (man -l).
END
