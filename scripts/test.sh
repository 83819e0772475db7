#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Installs what is missing, builds with every compiler and sanitizer, runs every test, and
# ends with one line: "N passed, N failed".
#
# What is counted: every cmocka case, every "ok"/"not ok" (or PASS:/FAIL:) line of a test
# script, every test program that reports no cases of its own, and every step that is a
# check in itself (a build without warnings, distcheck, the exported symbols).  A program
# that dies counts as one failure besides the cases it reported.  Nothing is skipped without
# a line that says so; a test that was asked for and cannot run is a failure.

set -u
. "$(dirname "$0")/lib.sh"

STEPS="lint gcc check seeds quickstart figures exports man clang asan tsan fuzz mpi net rxe distcheck package"
# Those that wait most of their time, or keep one processor busy: they run one behind the other beside the
# steps after check, which give way to them; what they build gives way as well.
BESIDE="rxe net mpi fuzz package distcheck"
ALONE="gcc check"	# before them
# Nothing waits for it, and it waits for nothing: beside all others, in time that nobody else has a use for.
UNDER="lint"

usage() {
	cat <<-END
	usage: scripts/test.sh [options]
	  --only A,B      run these steps only
	  --skip A,B      leave these steps out
	  --seeds N       N seeds of the simulator beyond those of make check
	  --fuzz SEC      seconds for each libFuzzer target (default 10)
	  --full          the long form of every test (MPI under faults: half an hour more)
	  --in-order      one step after the other; else $BESIDE
	                  run beside those after check, and $UNDER beside all
	  --no-install    do not install packages; stop if one is missing
	  -v              show the output of the steps as well as logging it
	  -h, --help      this text
	steps, in order:
	  lint        columns, clang-format, shellcheck, cppcheck, clang-tidy (scripts/lint.sh)
	  gcc         build with gcc, warnings are errors
	  check       make check: unit tests, simulator seeds, functional tests, fuzz targets
	  seeds       more seeds of the simulator, with --seeds
	  quickstart  what the README shows first: scripts/quickstart.sh, in short
	  figures     scripts/figures.sh, in short: every figure is drawn and has its caption
	  exports     what the two libraries export is what their headers promise; and no more than two
	              files of rel call each other (scripts/cycles.py, by the objects' symbols)
	  man         man pages are made; every FI_SDR_ variable of the provider is in fi_sdr(7)
	  clang       build with clang and without assertions, warnings are errors; unit tests
	  asan        AddressSanitizer + UBSan: every test program
	  tsan        ThreadSanitizer: functional tests of what has threads, and the tests of the provider
	  fuzz        libFuzzer on every parser
	  mpi         Open MPI programs over the provider (fabtests/mpi/run.sh)
	  net         paths, interfaces, ports and address translation in network namespaces
	              (scripts/net-cases.sh); skipped where neither root nor users may have them
	  rxe         RDMA devices of a kernel in an emulated guest (fabtests/rxe/run.sh); downloads that
	              kernel once, 70 MB
	  distcheck   the tarball builds, passes some tests of each folder, installs and uninstalls
	  package     Debian's packages and RPMs are built; lintian; install, upgrade and purge in a clean Debian
	              (scripts/package-test.sh), skipped where neither root nor users may make one
	Build directories: build/ and build-{clang,asan,tsan,fuzz}/; logs: build/logs/.
	END
}

ONLY='' SKIP='' SEEDS=0 FULL=0 INSTALL=1 VERBOSE=0 FUZZ_SEC=10 IN_ORDER=0
while [ $# -gt 0 ]; do
	case $1 in
	--only) ONLY=${2:?} ; shift ;;
	--skip) SKIP=${2:?} ; shift ;;
	--seeds) SEEDS=${2:?} ; shift ;;
	--fuzz) FUZZ_SEC=${2:?} ; shift ;;
	--full) FULL=1 ;;
	--in-order) IN_ORDER=1 ;;
	--no-install) INSTALL=0 ;;
	-v) VERBOSE=1 IN_ORDER=1 ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done
for s in ${ONLY//,/ } ${SKIP//,/ }; do
	case " $STEPS " in
	*" $s "*) ;;
	*) die "there is no step \"$s\" (steps: $STEPS)" ;;
	esac
done

PASSED=0 FAILED=0
FAILURES=() NOTES=()

# Runs a step's function in a subshell with a log.  0: it succeeded.
logged() {
	local log=$1
	shift
	if [ $VERBOSE = 1 ]; then
		("$@") </dev/null 2>&1 | tee "$log"
		return "${PIPESTATUS[0]}"
	fi
	("$@") </dev/null >"$log" 2>&1
}

# The cases in one log: lines "case NAME" (failed), "skip NAME", and "sum PASSED FAILED".
count_log() {
	awk '
	/^\[       OK \] / { ok++ }
	/^\[  FAILED  \] / && !/test\(s\)/ { if (!seen[$0]++) { bad++; print "case " substr($0, 14) } }
	/^\[  SKIPPED \] / && !/test\(s\)/ { print "skip " substr($0, 14) }
	/^(PASS|FAIL|SKIP|ERROR) .*\(exit status: [0-9]+\)$/ { next }	# added by automake
	/^(ok|PASS:?) / { ok++ }
	/^(not ok|FAIL:?) / { bad++; print "case " $0 }
	/^(skip|SKIP:?) / { print "skip " $0 }
	END { print "sum " ok + 0, bad + 0 }' "$1"
}

# count_program STEP NAME LOG RESULT : adds one test program (RESULT as automake says it).
count_program() {
	local step=$1 name=$2 log=$3 result=$4 kind rest ok=0 bad=0
	while read -r kind rest; do
		case $kind in
		case) FAILURES+=("$step: $name: $rest") ;;
		skip) NOTES+=("skipped: $step: $name: $rest") ;;
		sum) ok=${rest% *} bad=${rest#* } ;;
		esac
	done < <(count_log "$log")
	case $result in
	PASS)
		if [ $((ok + bad)) = 0 ]; then ok=1; fi ;;
	SKIP)
		NOTES+=("skipped: $step: $name: $(tail -n 1 "$log" | cut -c1-120)") ;;
	*)
		if [ "$bad" = 0 ]; then
			bad=1
			FAILURES+=("$step: $name ($result; log: $log)")
		fi
		echo "--- $name: $result; the end of $log"
		tail -n 25 "$log" ;;
	esac
	PASSED=$((PASSED + ok))
	FAILED=$((FAILED + bad))
}

# count_make_check STEP DIR : adds what "make check" has just run in DIR; false: nothing ran.
count_make_check() {
	local step=$1 dir=$2 trs name result n=0
	while read -r trs; do
		n=$((n + 1))
		name=${trs#"$dir"/}
		name=${name%.trs}
		result=$(sed -n 's/^:global-test-result: *//p' "$trs" | head -n 1)
		count_program "$step" "$name" "${trs%.trs}.log" "${result:-ERROR}"
	done < <(find "$dir" -name '*.trs' -newer "$LOGS/$step.stamp" -not -path '*/sdr-[0-9]*' | sort)
	[ $n -gt 0 ]
}

case_ok() { PASSED=$((PASSED + 1)); }
case_failed() {
	FAILED=$((FAILED + 1))
	FAILURES+=("$1")
}

# ---- the steps -----------------------------------------------------------------------------

# Scripts among TESTS run over sockets, the others are self-contained programs; units are those
# that are not simulations.  Scripts come first: they are long, and wait most of their time; then simulations, which
# are long as well: what is long and begins last is what all wait for.
tests_of() { # DIR all|programs|units|scripts
	make -s -C "$1" list-tests | tr ' ' '\n' | awk '
	/[.]sh$/ { print; next }
	/\/sim\/|explore|share_bars/ { sims = sims $0 "\n"; next }
	{ rest = rest $0 "\n" }
	END { printf "%s%s", sims, rest }' | case $2 in
	all) cat ;;
	programs) grep -v '\.sh$' ;;
	units) grep -v '\.sh$' | grep -v '/sim/\|explore' ;;
	scripts) grep '\.sh$' ;;
	esac | tr '\n' ' '
}

# ThreadSanitizer and address space randomisation do not always get along.
fixed_addresses() {
	if setarch "$(uname -m)" -R true 2>/dev/null; then
		setarch "$(uname -m)" -R "$@"
	else
		"$@"
	fi
}

# What is left of this subshell gives way to the tests of other steps.
give_way() { renice -n 10 -p "$BASHPID" >/dev/null 2>&1; }

# With assertions, all but clang's: that one is what a user builds.
build_gcc() { autogen && build_tree "$BUILD" --enable-werror; }
# Lines suffice in what sanitizers print (-g1): whole debugging information takes them as long again to write.
build_clang() { autogen && build_tree "$BUILD-clang" --enable-werror --disable-assert CC=clang "CFLAGS=-O2 -g1"; }
# Of these three, what is run there.
ASAN_MAKE=(bin_PROGRAMS= noinst_PROGRAMS=sdr_share_bars man_MANS=)
build_asan() {
	autogen && configure_tree "$BUILD-asan" --enable-werror --enable-asan "CFLAGS=-O1 -g1" &&
		make -j"$JOBS" all "${ASAN_MAKE[@]}" && make -j"$JOBS" tests "${ASAN_MAKE[@]}"
}
build_tsan() {
	autogen && configure_tree "$BUILD-tsan" --enable-werror --enable-tsan "CFLAGS=-O1 -g1" &&
		make -j"$JOBS" all man_MANS= && make -j"$JOBS" tests check_PROGRAMS="$(tsan_programs)" man_MANS=
}
build_fuzz() {
	give_way
	autogen && configure_tree "$BUILD-fuzz" --enable-fuzz CC=clang "CFLAGS=-O1 -g1" &&
		make -s list-fuzzers | xargs make -j"$JOBS"
}

# run_check SECONDS DIR TESTS [VARIABLE=VALUE...] : make check.  More tests at a time than there are processors, for
# those over sockets wait most of their time, each at ports of its own; no test is judged by how fast it was.
run_check() {
	timeout -k 20 "$1" make -C "$2" -j$((2 * JOBS)) check TESTS="$3" "${@:4}"
}

step_check() {
	logged "$LOGS/check.log" run_check 3000 "$BUILD" "$(tests_of "$BUILD" all)"
	CHECK_RC=$?
	count_make_check check "$BUILD"
}

# make check runs the seeds from 1 on.
run_seeds() { timeout -k 20 2400 "$BUILD/fabtests/sim/sdr_props" --first 100001 --count "$SEEDS"; }

run_quickstart() { timeout -k 20 900 "$SRC/scripts/quickstart.sh" --no-install --sizes 1m,8m --messages 3; }

# Beside what scripts/figures.sh writes by itself, which is the user's.
run_figures() {
	local out=$BUILD/figures-test names
	rm -rf "$out"
	timeout -k 20 1200 "$SRC/scripts/figures.sh" --quick --no-install --build "$BUILD" --out "$out" || return 1
	names=$("$SRC/scripts/figures.sh" --list | awk '{ print $1 }')
	# shellcheck disable=SC2086
	PYTHONDONTWRITEBYTECODE=1 python3 "$SRC/scripts/figures/check.py" "$out" $names
}

step_clang() {
	logged "$LOGS/clang.log" run_check 2400 "$BUILD-clang" "$(tests_of "$BUILD-clang" units)"
	CHECK_RC=$?
	count_make_check clang "$BUILD-clang"
}

# A program's own options are in fabtests/asan, by its name: sdr_explore allocates millions of times; sdr_explore_crew and _lanes
# give up runs in the middle, whose fake frames are never freed, so that looking for a free one is all that it does.
step_asan() {
	export ASAN_OPTIONS=abort_on_error=0:detect_stack_use_after_return=1:include_if_exists=$SRC/fabtests/asan/%b UBSAN_OPTIONS=print_stacktrace=1
	logged "$LOGS/asan.log" run_check 3000 "$BUILD-asan" "$(tests_of "$BUILD-asan" programs)" "${ASAN_MAKE[@]}"
	CHECK_RC=$?
	unset ASAN_OPTIONS UBSAN_OPTIONS
	count_make_check asan "$BUILD-asan"
}

# What has threads: the provider, receive workers of the SDK and of devices, and of the scripts those whose programs are
# linked with it or have threads of their own; loadable.sh and badinput.sh run programs of the system, which are not
# instrumented and cannot load this build.
tsan_programs() { tests_of "$BUILD-tsan" programs | tr ' ' '\n' | grep -E '(^|/)test_(fi|sdr_fi|sdk_rxk|sdk_workers|sdk_engines|verbs_crew)' | tr '\n' ' '; }
tsan_scripts() { tests_of "$BUILD-tsan" scripts | tr ' ' '\n' | grep -Ev '/(loadable|badinput|sim|wan)[.]sh' | tr '\n' ' '; }

step_tsan() {
	local programs
	NOTES+=("tsan: without loadable.sh and badinput.sh, whose programs of the system cannot load a TSan build, and sim.sh and wan.sh, whose programs have no threads")
	programs=$(tsan_programs)
	export TSAN_OPTIONS="suppressions=$SRC/fabtests/tsan.supp halt_on_error=0 exitcode=66 second_deadlock_stack=1"
	export SDR_TEST_BRIEF=1
	# Paths over several interfaces, in a network of their own.
	logged "$LOGS/tsan-net.log" fixed_addresses env SDR_BUILDDIR="$BUILD-tsan" FI_PROVIDER_PATH="$BUILD-tsan/.libs" \
		timeout -k 20 300 "$SRC/scripts/net-cases.sh" iface_rails
	case $? in
	0) count_program tsan net-cases.sh "$LOGS/tsan-net.log" PASS ;;
	77) count_program tsan net-cases.sh "$LOGS/tsan-net.log" SKIP ;;
	*) count_program tsan net-cases.sh "$LOGS/tsan-net.log" FAIL ;;
	esac
	logged "$LOGS/tsan.log" fixed_addresses timeout -k 20 3000 make -C "$BUILD-tsan" -j$((2 * JOBS)) check \
		TESTS="$(tsan_scripts) $programs" check_PROGRAMS="$programs" check_LIBRARIES= man_MANS=
	CHECK_RC=$?
	unset TSAN_OPTIONS SDR_TEST_BRIEF
	count_make_check tsan "$BUILD-tsan"
}

# The ordinary build of a target writes its valid inputs: what libFuzzer starts from.
fuzz_one() {
	mkdir -p "corpus-$1"
	[ ! -x "$BUILD/$1" ] || "$BUILD/$1" -w "corpus-$1"
	timeout -k 10 $((FUZZ_SEC + 60)) "./$1" -max_total_time="$FUZZ_SEC" -max_len=9216 -timeout=10 \
		-print_final_stats=1 "corpus-$1"
}

step_fuzz() {
	local t n=0
	cd "$BUILD-fuzz" || return 1
	for t in $(make -s list-fuzzers); do
		n=$((n + 1))
		if logged "$LOGS/fuzz-$t.log" fuzz_one "$t"; then
			case_ok
		else
			case_failed "fuzz: $t (replay: build-fuzz/$t build-fuzz/crash-...; log: $LOGS/fuzz-$t.log)"
			tail -n 15 "$LOGS/fuzz-$t.log"
		fi
	done
	cd "$SRC" || return 1
	CHECK_RC=0
	[ $n -gt 0 ]
}

step_lint() {
	logged "$LOGS/lint.log" "$SRC/scripts/lint.sh"
	CHECK_RC=$?
	count_program lint lint.sh "$LOGS/lint.log" "$([ $CHECK_RC = 0 ] && echo PASS || echo FAIL)"
}

# Names declared in the public header, exported by the library, both ways.
exports_check() {
	local want have
	have=$(nm -D --defined-only "$BUILD/.libs/libsdr-fi.so" | awk '$2 != "A" { print $3 }')
	[ "$have" = fi_prov_ini ] || { echo "libsdr-fi.so exports: $have (wanted fi_prov_ini alone)"; return 1; }
	want=$(cat "$SRC"/include/sdr/*.h | gcc -E -P -I"$SRC/include" - | tr '\n' ' ' | grep -oE '\bsdr_[a-z_0-9]+ ?\(' |
		tr -d ' (' | sort -u)
	have=$(nm -D --defined-only "$BUILD/.libs/libsdr.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u)
	diff <(echo "$want") <(echo "$have") || { echo "(<: declared in include/sdr, >: exported by libsdr.so; prov/sdr/sdk/libsdr.map decides)"; return 1; }
	want=$(awk '/^ / && !/^ SDR_/ { print $1 }' "$SRC/debian/libsdr0.symbols" | sort)
	have=$(nm -D --defined-only --with-symbol-versions "$BUILD/.libs/libsdr.so" | awk '$2 != "A" { sub(/@@/, "@", $3); print $3 }' | sort)
	diff <(echo "$want") <(echo "$have") || { echo "(<: in debian/libsdr0.symbols, >: exported by libsdr.so)"; return 1; }
}

cycles_check() {
	python3 "$SRC/scripts/cycles.py" "$BUILD" prov/sdr/rel 2
}

# Every parameter of the provider is in the man page that was made, and the other way round.
man_check() {
	local page=$BUILD/man/fi_sdr.7 vars v bad=0
	for v in fi_sdr.7 sdr_sdk.3 sdr-protocol.7 sdr_model.1 sdr_perf.1 sdr_sim.1; do
		[ -s "$BUILD/man/$v" ] || { echo "man/$v was not made"; bad=1; }
	done
	vars=$(FI_PROVIDER_PATH=$BUILD/.libs IPATH_NO_BACKTRACE=1 timeout -k 5 60 fi_info -g sdr |
		grep -oE 'FI_SDR_[A-Z0-9_]+' | sort -u)
	[ -n "$vars" ] || { echo "fi_info -g sdr shows no FI_SDR_ variable"; return 1; }
	for v in $vars; do
		grep -q "$v" "$page" || { echo "$v is not in $page"; bad=1; }
	done
	for v in $(grep -ohE '\bFI_SDR_[A-Z0-9_]*[A-Z0-9]' "$page" "$SRC/README.md" | sort -u); do
		case $v in FI_SDR_EP_OPS_*) continue ;; esac
		grep -qw "#define $v" "$SRC/include/rdma/fi_ext_sdr.h" && continue
		echo "$vars" | grep -qx "$v" || { echo "the pages name $v, which the provider does not know"; bad=1; }
	done
	return $bad
}

# Under faults the programs' short form, unless --full: every round trip costs 10 ms there.
run_mpi() {
	local run=$SRC/fabtests/mpi/run.sh rc=0
	[ -f "$run" ] || { echo "not ok - fabtests/mpi/run.sh is not there"; return 1; }
	export SDR_SRCDIR=$SRC SDR_BUILDDIR=$BUILD FI_PROVIDER_PATH=$BUILD/.libs IPATH_NO_BACKTRACE=1
	if [ $FULL = 1 ]; then
		timeout -k 20 3000 bash "$run"
		return
	fi
	timeout -k 20 1500 bash "$run" --only clean || rc=1
	timeout -k 20 2000 bash "$run" --quick --only fault || rc=1
	return $rc
}

step_mpi() {
	logged "$LOGS/mpi.log" run_mpi
	CHECK_RC=$?
	count_program mpi run.sh "$LOGS/mpi.log" "$([ $CHECK_RC = 0 ] && echo PASS || echo FAIL)"
}

run_net() {
	SDR_BUILDDIR=$BUILD FI_PROVIDER_PATH=$BUILD/.libs timeout -k 20 3000 "$SRC/scripts/net-cases.sh"
}

step_net() {
	logged "$LOGS/net.log" run_net
	CHECK_RC=$?
	case $CHECK_RC in
	0) count_program net net-cases.sh "$LOGS/net.log" PASS ;;
	77) CHECK_RC=0; count_program net net-cases.sh "$LOGS/net.log" SKIP ;;
	*) count_program net net-cases.sh "$LOGS/net.log" FAIL ;;
	esac
}

run_rxe() {
	"$SRC/scripts/rxe-vm.sh" prepare || return 1
	SDR_BUILDDIR=$BUILD timeout -k 20 3000 bash "$SRC/fabtests/rxe/run.sh" -t 2700
}

# No guest is a failure of the step, as any other exit status without a case that failed.
step_rxe() {
	logged "$LOGS/rxe.log" run_rxe
	CHECK_RC=$?
	count_program rxe guest.sh "$LOGS/rxe.log" "$([ $CHECK_RC = 0 ] && echo PASS || echo FAIL)"
}

# The suite has run already; what distcheck adds is that the tarball is whole: the product is built from it,
# quickly rather than well, some programs and a script with a file of its own are run, and it has all that is
# tracked here.
run_distcheck() {
	local missing programs
	give_way
	rm -rf "$BUILD"/sdr-[0-9]*
	programs="$(tests_of "$BUILD" units | tr ' ' '\n' | grep -E '^test_(base|wire|sdk)_|^test_(bed|fec|codec|fi_ep)$' | tr '\n' ' ')"
	timeout -k 20 3000 make -C "$BUILD" -j"$JOBS" distcheck TESTS="$programs fabtests/functional/model.sh" \
		check_PROGRAMS="$programs" DISTCHECK_CONFIGURE_FLAGS="CFLAGS=-O0" || return 1
	git -C "$SRC" rev-parse --verify -q HEAD >/dev/null 2>&1 ||
		{ echo "no git here: the tarball was not compared with the tracked files"; return 0; }
	missing=$(comm -23 <(git -C "$SRC" ls-files | grep -vx '\.gitignore' | sort) \
		<(tar tf "$BUILD"/sdr-[0-9]*.tar.xz | sed 's,^[^/]*/,,' | sort))
	[ -z "$missing" ] || { echo "tracked, but not in the tarball:"; echo "$missing"; return 1; }
}

# Their build directories are their own, and removed.
run_package() {
	local out=$BUILD/package-made rc=0
	rm -rf "$out"
	echo "--- Debian's"
	timeout -k 20 2400 nice -n 10 "$SRC/scripts/package.sh" --no-install "$out" && echo "ok - debian packages are built" ||
		{ echo "not ok - debian packages are built"; return 1; }
	echo "--- RPMs"
	timeout -k 20 2400 nice -n 10 "$SRC/scripts/package.sh" --no-install --rpm "$out" && echo "ok - RPMs are built" ||
		{ echo "not ok - RPMs are built"; rc=1; }
	timeout -k 20 2400 "$SRC/scripts/package-test.sh" "$out" || rc=1
	return $rc
}

step_package() {
	logged "$LOGS/package.log" run_package
	CHECK_RC=$?
	count_program package package-test.sh "$LOGS/package.log" "$([ $CHECK_RC = 0 ] && echo PASS || echo FAIL)"
}

# ---- the run ----------------------------------------------------------------------------------

wanted() {
	local s=$1
	if [ -n "$ONLY" ]; then
		case ",$ONLY," in *",$s,"*) ;; *) return 1 ;; esac
	fi
	case ",$SKIP," in *",$s,"*) return 1 ;; esac
	return 0
}

# single NAME FUNCTION : a step that is one case.
single() {
	local log=$LOGS/$1.log
	if logged "$log" "$2"; then
		case_ok
		return 0
	fi
	case_failed "$1 (log: $log)"
	echo "--- the end of $log"
	tail -n 30 "$log"
	return 1
}

# counted NAME FUNCTION : a step with cases of its own; sets CHECK_RC.
counted() {
	local before=$FAILED
	CHECK_RC=1
	if ! "$2"; then
		case_failed "$1: no test ran (log: $LOGS/$1.log)"
		tail -n 30 "$LOGS/$1.log"
	elif [ "$CHECK_RC" != 0 ] && [ "$FAILED" = "$before" ]; then
		# make failed, every program passed: a time limit, or the makefile itself
		case_failed "$1: exit status $CHECK_RC (log: $LOGS/$1.log)"
		tail -n 30 "$LOGS/$1.log"
	fi
}

mkdir -p "$LOGS" || die "cannot write to $LOGS"
# Those of the guest are many, and packaging tools are few people's: only for who wants the step.
wanted rxe || PKGS_RXE=
wanted package || PKGS_PACKAGE=
if [ $INSTALL = 1 ]; then
	# shellcheck disable=SC2086
	packages_install $PKGS_BUILD $PKGS_TEST $PKGS_FIGURES $PKGS_RXE $PKGS_PACKAGE
else
	# shellcheck disable=SC2086
	missing=$(packages_missing $PKGS_BUILD $PKGS_TEST $PKGS_FIGURES $PKGS_RXE $PKGS_PACKAGE | tr '\n' ' ')
	[ -z "$missing" ] || die "missing packages: $missing"
fi

# What needs the gcc build gets it also without the step that checks it.
GCC_BUILT=untried
need_gcc() {
	if [ $GCC_BUILT = untried ]; then
		logged "$LOGS/gcc.log" build_gcc && GCC_BUILT=yes || GCC_BUILT=no
	fi
	[ $GCC_BUILT = yes ] && return 0
	case_failed "$1: not run, the gcc build failed (log: $LOGS/gcc.log)"
	return 1
}

# Sets CPU: seconds of a processor that this shell's children have used.  By a file: a subshell's have used none.
cpu_seconds() {
	local f=$LOGS/times-$BASHPID
	times >"$f"
	CPU=$(awk -F '[ms ]+' 'NR == 2 { printf "%d", 60 * ($1 + $3) + $2 + $4 }' "$f")
	rm -f "$f"
}

run_step() {
	local start=$SECONDS p=$PASSED f=$FAILED before CPU
	cpu_seconds
	before=$CPU
	say "$1 ..."
	touch "$LOGS/$1.stamp"
	case $1 in
	lint) counted lint step_lint ;;
	gcc) single gcc build_gcc && GCC_BUILT=yes || GCC_BUILT=no ;;
	check) need_gcc check && counted check step_check ;;
	seeds)
		if [ "$SEEDS" = 0 ]; then
			NOTES+=("seeds: those of make check only (--seeds N for more)")
		else
			need_gcc seeds && single seeds run_seeds
		fi ;;
	quickstart) need_gcc quickstart && single quickstart run_quickstart ;;
	figures) need_gcc figures && single figures run_figures ;;
	exports) need_gcc exports && { single exports exports_check; single cycles cycles_check; } ;;
	man) need_gcc man && single man man_check ;;
	clang) single clang-build build_clang && counted clang step_clang ;;
	asan) single asan-build build_asan && counted asan step_asan ;;
	tsan) single tsan-build build_tsan && counted tsan step_tsan ;;
	fuzz) single fuzz-build build_fuzz && counted fuzz step_fuzz ;;
	mpi) need_gcc mpi && counted mpi step_mpi ;;
	net) need_gcc net && counted net step_net ;;
	rxe) need_gcc rxe && counted rxe step_rxe ;;
	distcheck) need_gcc distcheck && single distcheck run_distcheck ;;
	package) counted package step_package ;;
	esac
	cpu_seconds
	say "$1: $((PASSED - p)) passed, $((FAILED - f)) failed, $((SECONDS - start)) s ($((CPU - before)) of a processor)"
}

# A stream: steps one behind the other in a process of its own.  $LOGS/stream-NAME has the counts and the lists as
# they are here, written when the last of its steps is over.
declare -A STREAM=()

stream_run() { # NAME NICE STEP...
	local name=$1 s
	[ "$2" = 0 ] || renice -n "$2" -p "$BASHPID" >/dev/null 2>&1
	shift 2
	PASSED=0 FAILED=0 FAILURES=() NOTES=()
	for s; do run_step "$s"; done
	declare -p PASSED FAILED FAILURES NOTES | sed 's/^declare /declare -g /' >"$LOGS/stream-$name"
}

stream_start() { # NAME NICE STEP... : of these, what is wanted; false: nothing is
	local name=$1 nice=$2 s steps=()
	shift 2
	for s; do ! wanted "$s" || steps+=("$s"); done
	[ ${#steps[@]} -gt 0 ] || return 1
	rm -f "$LOGS/stream-$name"
	stream_run "$name" "$nice" "${steps[@]}" &
	STREAM[$name]=$!
}

stream_end() { # NAME
	local passed=$PASSED failed=$FAILED failures=("${FAILURES[@]}") notes=("${NOTES[@]}")
	wait "${STREAM[$1]}"
	# shellcheck disable=SC1090
	if ! . "$LOGS/stream-$1"; then
		PASSED=0 FAILED=1 FAILURES=("one of the steps $1 ended this script") NOTES=()
	fi
	PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed))
	FAILURES=("${failures[@]}" "${FAILURES[@]}") NOTES=("${notes[@]}" "${NOTES[@]}")
}

beside_start() {
	local s wanted=0
	for s in $BESIDE; do ! wanted "$s" || wanted=1; done
	[ $wanted = 1 ] || return 0
	[ $GCC_BUILT != untried ] || run_step gcc
	# shellcheck disable=SC2086
	stream_start beside 0 $BESIDE
	# what follows gives way: cases there have limits of time
	renice -n 10 -p $$ >/dev/null 2>&1
}

BEGUN=0
# shellcheck disable=SC2086
[ $IN_ORDER = 1 ] || stream_start under 19 $UNDER
for s in $STEPS; do
	if ! wanted "$s"; then
		NOTES+=("left out by --only or --skip: $s")
		continue
	fi
	case " $UNDER $ALONE " in
	*" $s "*) ;;
	*)
		[ $IN_ORDER = 1 ] || [ $BEGUN = 1 ] || beside_start
		BEGUN=1 ;;
	esac
	case " $UNDER $BESIDE " in
	*" $s "*) [ $IN_ORDER = 0 ] || run_step "$s" ;;
	*) run_step "$s" ;;
	esac
done
for s in "${!STREAM[@]}"; do stream_end "$s"; done

for n in "${NOTES[@]}"; do echo "$n"; done
for n in "${FAILURES[@]}"; do echo "failed: $n"; done
echo "$PASSED passed, $FAILED failed"
[ "$FAILED" = 0 ]
