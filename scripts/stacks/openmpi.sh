#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name (lib.sh)
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Open MPI (4.1 of Debian, or 5.x) over sdr, over libfabric's tcp, and over its own TCP (pml ob1), which
# shows what fails over any transport.  Messages travel by mtl ofi; one-sided operations by osc pt2pt,
# and by osc rdma over btl ofi where the provider has atomics.
#
# usage: openmpi.sh [OPTION]...
#   --prefix PREFIX   Open MPI is there; else Debian's packages openmpi-bin, libopenmpi-dev
#   --python PROGRAM  a Python with mpi4py and numpy for that Open MPI (/usr/bin/python3: Debian's
#                     python3-mpi4py, python3-numpy)
#   --osu PREFIX      OSU micro-benchmarks 7.4, installed: those that validate are run with -c, the one-sided
#                     ones by osc pt2pt and by osc rdma
#   --mpi4py DIR      the folder test/ of mpi4py's source, of the same version: its own tests

. "$(dirname "$(readlink -f "$0")")/lib.sh"
stack_options "prefix python osu mpi4py" "$@"
columns="sdr tcp ob1"
if [ -n "${option[prefix]:-}" ]; then
	PATH=${option[prefix]}/bin:$PATH
	mpirun=${option[prefix]}/bin/mpirun
	export LD_LIBRARY_PATH=${option[prefix]}/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
else
	mpirun=mpirun.openmpi
fi
command -v "$mpirun" >/dev/null ||
	stack_missing "no $mpirun: apt-get install openmpi-bin libopenmpi-dev, or give --prefix PREFIX"
python=${option[python]:-/usr/bin/python3}
have_python=
"$python" -c 'import mpi4py, numpy' 2>/dev/null && have_python=1
stack_begin "$("$mpirun" --version | head -n 1)"

tcp_name=tcp
fi_info -p 'tcp;ofi_rxm' -t FI_EP_RDM >/dev/null 2>&1 && tcp_name='tcp;ofi_rxm'

# mpi PROCESSES [MCA...] -- PROGRAM...: over $over
mpi() {
	local n=$1 mca=() vars=() v name=$over root=()
	shift
	while [ "$1" != -- ]; do mca+=("$1"); shift; done
	shift
	[ "$over" != tcp ] || name=$tcp_name
	for v in $(compgen -e | grep -E '^(FI_|IPATH_|LD_LIBRARY_PATH$)'); do vars+=(-x "$v"); done
	if [ "$over" = ob1 ]; then
		mca=(--mca pml ob1 --mca btl 'self,tcp' --mca osc '^ucx,sm') # without what names a provider
	else
		[ ${#mca[@]} -gt 0 ] || mca=(--mca btl self --mca osc pt2pt)
		mca=(--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include "$name" "${mca[@]}")
	fi
	[ "$(id -u)" != 0 ] || root=(--allow-run-as-root)
	stack_run "$mpirun" "${root[@]}" --oversubscribe --mca mca_base_param_files /dev/null --mca coll '^sm' \
		-np "$n" "${vars[@]}" "${mca[@]}" "$@"
}

rdma_osc() { # PROGRAM...: osc rdma over btl ofi
	local name=$over
	[ "$over" != tcp ] || name=$tcp_name
	mpi "$np" --mca btl 'self,ofi' --mca btl_ofi_mode 2 --mca btl_ofi_provider_include "$name" \
		--mca osc rdma --mca osc_rdma_btls ofi -- "$@"
}

if [ -n "$have_python" ]; then
	stack_case "mpi4py: messages" count_passed_failed mpi "$np" -- "$python" "$here/mpi_check.py" messages
	stack_case "mpi4py: collectives, 4 ranks" count_passed_failed mpi 4 -- "$python" "$here/mpi_check.py" collectives
	stack_case "mpi4py: windows, osc pt2pt" count_passed_failed mpi "$np" -- "$python" "$here/mpi_check.py" windows
	stack_case "mpi4py: MPI_THREAD_MULTIPLE" count_passed_failed mpi "$np" -- "$python" "$here/mpi_check.py" threads
	if fi_info -p sdr -t FI_EP_RDM -c 'FI_RMA|FI_ATOMIC' >/dev/null 2>&1; then
		stack_case "mpi4py: windows, osc rdma" count_passed_failed rdma_osc "$python" "$here/mpi_check.py" windows
		stack_case "the same, MPI_THREAD_MULTIPLE" count_passed_failed rdma_osc "$python" "$here/mpi_check.py" windows threads
	else
		echo "osc rdma over btl ofi: not run, sdr has no FI_ATOMIC"
	fi
else
	echo "mpi4py: not run, apt-get install python3-mpi4py python3-numpy, or give --python PROGRAM"
fi

hpcc_input() {
	{
		printf 'HPLinpack benchmark input file\nof sdr\nHPL.out\n8 device out\n'
		printf '1 of Ns\n500 Ns\n1 of NBs\n80 NBs\n0 PMAP\n1 of grids\n2 Ps\n2 Qs\n16.0 threshold\n'
		printf '1 of panel\n2 PFACTs\n1 of rec\n4 NBMINs\n1 of NDIVs\n2 NDIVs\n1 of rfact\n1 RFACTs\n'
		printf '1 of bcast\n1 BCASTs\n1 of depth\n1 DEPTHs\n2 SWAP\n64 swapping\n0 L1\n0 U\n1 Equil\n8 align\n'
		printf '##### of PTRANS\n0 of Ns\n0 values\n0 of NBs\n0 values\n'
	} >hpccinf.txt
}

run_hpcc() {
	mkdir -p "$keep/hpcc-$over" && cd "$keep/hpcc-$over" && hpcc_input && rm -f hpccoutf.txt || return 1
	mpi 4 -- "$(command -v hpcc)" || return 1
	cat hpccoutf.txt
}
# PTRANS and HPL have residuals, RandomAccess counts errors, STREAM validates, "Success" is all of it.
count_hpcc() {
	good='^Success=1$| PASSED( |$)|\\(passed\\)|^Solution Validates' bad='^Success=0$| FAILED( |$)|\\(failed\\)|Validation Failed' \
		count_lines "$@"
}
if command -v hpcc >/dev/null && [ -z "${option[prefix]:-}" ]; then
	stack_case "HPCC, 4 ranks" count_hpcc run_hpcc
else
	echo "HPCC: not run, apt-get install hpcc (for Debian's Open MPI)"
fi

run_netpipe() { mpi 2 -- NPopenmpi -i -n 50 -u 1048576 -o "$keep/netpipe-$over.np"; }
count_netpipe() { good='Integrity check passed' bad='check failed' count_lines "$@"; }
if command -v NPopenmpi >/dev/null && [ -z "${option[prefix]:-}" ]; then
	stack_case "NetPIPE, integrity" count_netpipe run_netpipe
else
	echo "NetPIPE: not run, apt-get install netpipe-openmpi (for Debian's Open MPI)"
fi

# A benchmark that validates says "Pass" or "Fail" (one-sided: "passed", "failed", "skipped") with each size.
# Barriers, puts and gets have no validation: there a line of figures counts, which says that it ended.
count_osu() { good='[0-9] +(Pass|passed) *$' bad='[0-9] +(Fail|failed) *$' count_lines "$@"; }
count_osu_lines() { good='^ *[0-9]' bad='^ERROR' count_lines "$@"; }
osu_case() { # NAME PROGRAM HOW...: HOW runs a program over $over; few rounds, nothing is measured here
	local name=$1 program=$2 few=(-i 5 -x 1 -m 65536)
	shift 2
	# What a window has allocated is shared memory between ranks of one host, and travels over nothing.
	case $name in *', osc rdma') few+=(-w create) ;; esac
	case $name in
	*barrier* | osu_put_* | osu_get_*)
		stack_case "$name, not validated" count_osu_lines "$@" "$program" "${few[@]}" ;;
	osu_acc_* | osu_fop_* | osu_cas_*)
		stack_case "$name" count_osu "$@" "$program" -c "${few[@]}" ;;
	osu_latency_mt) # it validates between as many threads as there are
		stack_case "$name" count_osu "$@" "$program" -c -u 0 "${few[@]}" -t 2:2 ;;
	*) stack_case "$name" count_osu "$@" "$program" -c -u 0 "${few[@]}" ;;
	esac
}
if [ -n "${option[osu]:-}" ]; then
	[ -d "${option[osu]}/libexec/osu-micro-benchmarks/mpi" ] ||
		stack_missing "no ${option[osu]}/libexec/osu-micro-benchmarks: install the OSU micro-benchmarks there"
	for kind in pt2pt collective one-sided; do
		for program in $(find "${option[osu]}/libexec/osu-micro-benchmarks/mpi/$kind" -type f -perm -u+x -name 'osu_*' | sort); do
			name=$(basename "$program")
			case $kind in
			collective) osu_case "$name" "$program" mpi 4 -- ;;
			*) osu_case "$name" "$program" mpi 2 -- ;;
			esac
			[ $kind != one-sided ] || osu_case "$name, osc rdma" "$program" rdma_osc
		done
	done
else
	echo "OSU: not run, give --osu PREFIX"
fi

# A process for each of its files: one that crashes in Open MPI ends no other's tests, and counts as one failed.
own_tests() {
	local file status
	for file in "${option[mpi4py]}"/test_*.py; do
		file=$(basename "$file" .py)
		mpi "$np" -- "$python" "${option[mpi4py]}/runtests.py" --no-threads -v -i "^$file\$"
		status=$?
		echo "$file: status $status"
	done
}
# Each rank says what unittest says at its end; a file's tests are those of the rank that failed most.
count_unittest() {
	awk '/^Ran [0-9]+ tests?/ { if ($2 > ran) ran = $2 }
		/^FAILED \(/ { f = 0; gsub(/[^0-9,=a-z]/, ""); k = split($0, a, ",")
			for (i = 1; i <= k; i++) { split(a[i], b, "="); if (b[1] ~ /^(failures|errors)$/) f += b[2] }
			if (f > failed) failed = f }
		/^test_[a-z0-9_]+: status / { if ($3 && !failed) { failed = 1; if (!ran) ran = 1 }
			all += ran; bad += failed; ran = failed = 0 }
		END { print all - bad, bad + 0 }' "$1"
}
if [ -n "${option[mpi4py]:-}" ]; then
	[ -e "${option[mpi4py]}/runtests.py" ] || stack_missing "no ${option[mpi4py]}/runtests.py: give the folder test/ of mpi4py's source"
	stack_case "mpi4py's own tests" count_unittest own_tests
else
	echo "mpi4py's own tests: not run, give --mpi4py DIR"
fi
stack_end
