#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Runs the MPI program and NetPIPE (integrity check) with Debian's Open MPI 4.1 over the ofi MTL,
# clean and with FI_SDR_FAULT, at 2 and 4 ranks; one line per case, "N passed, N failed" at the end.
#
#   fabtests/mpi/run.sh [--quick] [--only REGEX]        (a regex over the names of the cases)
#
# Environment (defaults):
#   PROV              sdr       what mtl_ofi_provider_include gets; also e.g. 'tcp;ofi_rxm'
#   FI_PROVIDER_PATH  the build directory's .libs; FI_* variables are handed on with -x
#   NP                "2 4"     rank counts
#   SEED              1
#   FAULT             drop=0.01,delay=5ms,seed=1       (cases run only for PROV=sdr)
#   SCHEMES           "auto hybrid sr sr_rto sr_nack ec ec_sr"   values of FI_SDR_RELIABILITY, a case each
#   SCHEME_FAULT      drop=0.01,dup=0.005,seed=1       of these (only for PROV=sdr, too)
#   CASE_TIMEOUT      300       seconds a case, then SIGKILL
#   SKIP              -         sections of sdr_mpi to leave out, with commas
#   LOG               a directory under /tmp; the logs of failing cases stay there
#
# What Open MPI does with these settings, and why they are there:
# - Debian's /etc/openmpi/openmpi-mca-params.conf says mtl=^ofi, btl=^uct,openib,ofi, pml=^ucx and
#   osc=^ucx,pt2pt, so pml, mtl and osc must be named here, or ob1 over shared memory runs.
# - pml cm has no BTL below it: every point-to-point byte goes through the MTL, also between ranks of
#   one host. btl=self is set all the same, so that no vader (shared memory) can be picked by anyone.
#   coll=^sm: collectives have no shared-memory short cut either (they run over the pml).
# - One-sided: osc rdma needs a BTL with RDMA and atomics, osc sm is shared memory (chosen when all
#   ranks are on one host: that would prove nothing). osc pt2pt runs over the pml, that is over the
#   provider, hence "osc pt2pt" for the main cases. It refuses MPI_THREAD_MULTIPLE.
#   "osc rdma" over "btl ofi" drives fi_write, fi_read and fi_atomic directly; it asks for
#   FI_RMA|FI_ATOMIC and takes no provider without atomics, so the osc-rdma cases run only where
#   fi_info finds those, for PROV=sdr or with OSC_RDMA=1 (tcp;ofi_rxm has both and is still refused).
#   btl_ofi_mode=2 lets it carry its own control messages too. Without the section osc_atomic:
#   MPI_Compare_and_swap is a null dereference in mca_btl_ofi_acswap of 4.1.4, whatever the provider.
# - Each case is checked to have used the provider: every rank must have logged that the mtl ofi
#   selected it ("mtl:ofi:prov: NAME") and that the pml is cm.
# - With root each case has a pid namespace of its own: when its time is up nothing survives.

set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${SDR_BUILDDIR:-$(cd "$here/../.." && pwd)}
PROV=${PROV:-sdr}
NP=${NP:-2 4}
SEED=${SEED:-1}
FAULT=${FAULT:-drop=0.01,delay=5ms,seed=1}
SCHEMES=${SCHEMES:-auto hybrid sr sr_rto sr_nack ec ec_sr}
SCHEME_FAULT=${SCHEME_FAULT:-drop=0.01,dup=0.005,seed=1}
CASE_TIMEOUT=${CASE_TIMEOUT:-300}
SKIP=${SKIP:--}
quick='' only=.
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=--quick ;;
	--only) only=${2:?--only wants a regex}; shift ;;
	*) echo "usage: $0 [--quick] [--only REGEX]" >&2; exit 2 ;;
	esac
	shift
done
if [ -z "${FI_PROVIDER_PATH:-}" ] && [ -e "$build/.libs/libsdr-fi.so" ]; then
	export FI_PROVIDER_PATH=$build/.libs
fi
export IPATH_NO_BACKTRACE=1
unset FI_SDR_FAULT

for tool in mpicc.openmpi mpirun.openmpi NPopenmpi; do
	command -v $tool > /dev/null && continue
	echo "not ok - $tool is missing: apt-get install openmpi-bin libopenmpi-dev netpipe-openmpi"
	echo "0 passed, 1 failed"
	exit 1
done

LOG=${LOG:-$(mktemp -d /tmp/sdr-mpi.XXXXXX)}
mkdir -p "$LOG"
jail=
if [ "$(id -u)" = 0 ] && unshare --pid --fork --kill-child --mount-proc true 2> /dev/null; then
	jail="unshare --pid --fork --kill-child --mount-proc"
fi
passed=0 failed=0

say() { # result name seconds [text]
	printf '%-6s %-24s %4d s  %s\n' "$1" "$2" "$3" "${4:-}"
	case $1 in
	PASS) passed=$((passed + 1)) ;;
	FAIL) failed=$((failed + 1)) ;;
	esac
}

# mpi RANKS LOGFILE MCA... -- PROGRAM...
mpi() {
	local np=$1 log=$2 mca=() vars=() v
	shift 2
	while [ "$1" != -- ]; do mca+=("$1"); shift; done
	shift
	for v in $(compgen -e | grep -E '^(FI_|IPATH_|LD_LIBRARY_PATH$|ASAN_|UBSAN_|TSAN_|LD_PRELOAD$)'); do
		vars+=(-x "$v")
	done
	# the inner timeout is for where there is no jail: mpirun ends its ranks on TERM
	timeout -s KILL $((CASE_TIMEOUT + 10)) $jail \
		timeout -k 5 "$CASE_TIMEOUT" mpirun.openmpi --allow-run-as-root --oversubscribe \
		-np "$np" "${vars[@]}" \
		--mca pml cm --mca mtl ofi --mca coll ^sm \
		--mca mtl_ofi_provider_include "$PROV" \
		--mca mtl_base_verbose 10 --mca pml_base_verbose 10 --mca opal_common_ofi_verbose 1 \
		"${mca[@]}" "$@" > "$log" 2>&1 < /dev/null
}

# the provider carried the messages of all RANKS
used() {
	local np=$1 log=$2 n
	n=$(grep -F 'mtl:ofi:prov:' "$log" | sed 's/.*mtl:ofi:prov: *//' | tr -d '\r' |
		awk -v want="$PROV" '$0 == want || index(";" $0 ";", ";" want ";")' | wc -l)
	[ "$n" -ge "$np" ] || { echo "mtl ofi selected '$PROV' on $n of $np ranks"; return 1; }
	n=$(grep -c 'select: component cm selected' "$log")
	[ "$n" -ge "$np" ] || { echo "pml cm on $n of $np ranks"; return 1; }
}

# why a case failed, in one line
reason() {
	local rc=$1 log=$2 last
	last=$(grep -E '^(ok|FAIL) ' "$log" | tail -n 1 | awk '{print $2}')
	case $rc in
	124 | 137) echo "killed after $CASE_TIMEOUT s${last:+, after section $last}; $log" ;;
	*) echo "rc $rc${last:+, last section $last}; $log" ;;
	esac
}

# case_mpi NAME RANKS [ARGS of sdr_mpi] [-- MCA...]
case_mpi() {
	local name=$1 np=$2 log=$LOG/$1.log args=() rc start=$SECONDS why
	shift 2
	[[ $name =~ $only ]] || return 0
	while [ $# -gt 0 ] && [ "$1" != -- ]; do args+=("$1"); shift; done
	[ $# -gt 0 ] && shift
	[ $# -gt 0 ] || set -- --mca btl self --mca osc pt2pt
	mpi "$np" "$log" "$@" -- "$LOG/sdr_mpi" --seed "$SEED" --skip "$SKIP" "${args[@]}"
	rc=$?
	if [ $rc -ne 0 ] || ! grep -q '^[1-9][0-9]* passed, 0 failed' "$log"; then
		say FAIL "$name" $((SECONDS - start)) "$(reason $rc "$log")"
		grep -E '^rank [0-9]+, |^FAIL ' "$log" | head -n 8 | sed 's/^/       /'
	elif ! why=$(used "$np" "$log"); then
		say FAIL "$name" $((SECONDS - start)) "$why; $log"
	else
		say PASS "$name" $((SECONDS - start)) "$(grep -E '^[0-9]+ passed' "$log") (sections)"
	fi
}

# case_netpipe NAME REPEATS UPPER ARGS...
# Both ways at once only with -I: without it NetPIPE sends from the very buffer into which it has posted a receive, which
# MPI forbids.  The last byte of the two messages differs, so it changes there under the send, and what is decoded from
# data of before and parity of after is wrong.
case_netpipe() {
	local name=$1 n=$2 upper=$3 log=$LOG/$1.log good rc start=$SECONDS why
	shift 3
	[[ $name =~ $only ]] || return 0
	mpi 2 "$log" --mca btl self -- NPopenmpi -i -n "$n" -u "$upper" -o "$LOG/$name.np" "$@"
	rc=$?
	good=$(grep -c 'Integrity check passed' "$log")
	if [ $rc -ne 0 ] || [ "$good" -lt 20 ] || grep -qi 'check failed' "$log"; then
		say FAIL "$name" $((SECONDS - start)) "$good sizes passed; $(reason $rc "$log")"
	elif ! why=$(used 2 "$log"); then
		say FAIL "$name" $((SECONDS - start)) "$why; $log"
	else
		say PASS "$name" $((SECONDS - start)) "$good sizes up to $upper bytes, $n times each"
	fi
}

mpicc.openmpi -std=gnu11 -O2 -g -Wall -Wextra -o "$LOG/sdr_mpi" "$here"/sdr_mpi*.c ||
	{ echo "not ok - sdr_mpi does not build"; echo "0 passed, 1 failed"; exit 1; }

have_atomics=
if [ "$PROV" = sdr ] || [ -n "${OSC_RDMA:-}" ]; then
	fi_info -p "$PROV" -t FI_EP_RDM -c 'FI_RMA|FI_ATOMIC' > /dev/null 2>&1 && have_atomics=1
fi
networks=clean
if [ "$PROV" = sdr ]; then networks="clean fault"; fi
for network in $networks; do
	if [ $network = fault ]; then export FI_SDR_FAULT=$FAULT; fi
	for np in $NP; do
		# shellcheck disable=SC2086
		case_mpi "mpi-np$np-$network" "$np" $quick
		if [ -n "$have_atomics" ]; then
			# shellcheck disable=SC2086
			case_mpi "osc-rdma-np$np-$network" "$np" $quick \
				--only osc_fence,osc_lock,osc_pscw -- \
				--mca btl self,ofi --mca btl_ofi_mode 2 --mca btl_ofi_provider_include "$PROV" \
				--mca osc rdma --mca osc_rdma_btls ofi
		fi
	done
	if [ $network = fault ]; then
		case_netpipe netpipe-$network 5 1048576
		case_netpipe netpipe-both-$network 5 131072 -2 -a -I
	else
		case_netpipe netpipe-$network 200 1048576
		case_netpipe netpipe-both-$network 100 131072 -2 -a -I
	fi
	unset FI_SDR_FAULT
done
# The cases above run under whatever the environment says (auto); here every scheme gets its turn, without a delay.
if [ "$PROV" = sdr ]; then
	export FI_SDR_FAULT=$SCHEME_FAULT
	for scheme in $SCHEMES; do
		export FI_SDR_RELIABILITY=$scheme
		# shellcheck disable=SC2086
		case_mpi "mpi-$scheme-fault" 4 $quick
	done
	unset FI_SDR_FAULT FI_SDR_RELIABILITY
fi
if [ -z "$have_atomics" ]; then echo "       osc-rdma cases: not run (fi_info finds no FI_RMA|FI_ATOMIC, or PROV is not sdr)"; fi
if [ "$PROV" != sdr ]; then echo "       fault cases: not run, FI_SDR_FAULT is sdr's"; fi
[ $failed -eq 0 ] && rm -rf "$LOG"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
