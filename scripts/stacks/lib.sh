# shellcheck shell=bash disable=SC2034,SC2154  # what is set here is for those that source it, and the other way round
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# What the scripts of this folder share: options, the environment of a run over one provider, counting,
# and the table.  Sourced, never run.
#
# A script names its stack, finds what is installed (or says what to give, and exits with 77), and has a
# line for each test: stack_case NAME COUNT COMMAND...  The command runs once for each column of the
# table (sdr, tcp, ...), with that provider in its environment and $over in the shell; COUNT is one of the
# functions count_* below, which make "passed failed" of the log and the exit status.  The command may be a
# function.
# Nothing is downloaded, built or kept: what is run is what is there.

self=$(readlink -f "$0")
here=$(dirname "$self")

stack_usage() {
	sed -n '/^# usage/,/^$/s/^# \{0,1\}//p' "$self"
	cat <<'END'
Options of every script here:
   --faults SPEC     FI_SDR_FAULT of the runs over sdr, e.g. drop=0.01,delay=2ms; the others run clean
   --only COLUMN     one column of the table
   --case PATTERN    only tests whose name has this in it
   --np N            processes, where the test leaves it open (2)
   --timeout N       seconds for each test (300)
   --keep DIR        what the tests printed
   --help
FI_PROVIDER_PATH says where libsdr-fi.so is; without it, the build tree that this script lies in, or where
libfabric looks by itself.  Exit status: 0 sdr fails nothing that tcp does not fail too, 1 it does, or passes
nothing at all, 2 usage, 77 the stack is not there.
END
}

# The reason why it cannot run here, and what to install or to give.
stack_missing() { echo "$(basename "$self"): $*" >&2; exit 77; }
stack_wrong() { echo "$(basename "$self"): $*" >&2; stack_usage >&2; exit 2; }

faults='' only='' pattern='' np=2 limit=300 keep='' columns="sdr tcp"
declare -A option=()

# stack_options "NAMES OF ITS OWN" "$@": each of them takes a value, which lands in option[NAME].
stack_options() {
	local own=" $1 "
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		--help | -h) stack_usage; exit 0 ;;
		--faults | --only | --case | --np | --timeout | --keep)
			[ $# -gt 1 ] || stack_wrong "$1 wants a value"
			case $1 in
			--faults) faults=$2 ;;
			--only) only=$2 ;;
			--case) pattern=$2 ;;
			--np) np=$2 ;;
			--timeout) limit=$2 ;;
			--keep) keep=$2 ;;
			esac
			shift ;;
		--*)
			[[ $own == *" ${1#--} "* ]] || stack_wrong "no option $1"
			[ $# -gt 1 ] || stack_wrong "$1 wants a value"
			option[${1#--}]=$2
			shift ;;
		*) stack_wrong "what is \"$1\"?" ;;
		esac
		shift
	done
}

# stack_begin TITLE: the provider is there; the head of the table.
stack_begin() {
	if [ -z "${FI_PROVIDER_PATH:-}" ] && [ -e "$here/../../build/.libs/libsdr-fi.so" ]; then
		FI_PROVIDER_PATH=$(cd "$here/../../build/.libs" && pwd)
		export FI_PROVIDER_PATH
	fi
	export IPATH_NO_BACKTRACE=1
	unset FI_SDR_FAULT FI_PROVIDER
	if command -v fi_info >/dev/null; then
		fi_info -p sdr >/dev/null 2>&1 ||
			stack_missing "fi_info -p sdr finds nothing: set FI_PROVIDER_PATH to the folder of libsdr-fi.so"
	fi
	if [ -z "$keep" ]; then
		keep=$(mktemp -d "${TMPDIR:-/tmp}/sdr-stack.XXXXXX") || exit 2
		trap 'rm -rf "$keep"' EXIT
	fi
	mkdir -p "$keep" || exit 2
	keep=$(cd "$keep" && pwd)
	jail=()
	if [ "$(id -u)" = 0 ] && unshare --pid --fork --kill-child --mount-proc mount -t tmpfs none /dev/shm 2>/dev/null; then
		# When its time is up nothing survives.  In there every launcher has the same few process ids, by which
		# they name what they share: two scripts at a time need a /dev/shm and a folder for sessions each.
		# shellcheck disable=SC2016  # for the shell that unshare starts
		jail=(unshare --pid --fork --kill-child --mount-proc
			sh -c 'mount -t tmpfs none /dev/shm && mount -t tmpfs none "$TMPDIR" && exec "$@"' jail)
		export TMPDIR=$keep/tmp
		mkdir -p "$TMPDIR" || exit 2
	fi
	[ -z "$only" ] || columns=$only
	worse=0 ran=0 good_sdr=0
	echo "$1${faults:+, FI_SDR_FAULT=$faults}"
	printf '%-34s' test
	for over in $columns; do printf ' %18s' "$over"; done
	printf '\n%-34s' ''
	for over in $columns; do printf ' %6s %6s %4s' passed failed s; done
	printf '\n'
}

stack_env() { # COLUMN
	case $1 in
	sdr)
		export FI_PROVIDER=sdr
		[ -z "$faults" ] || export FI_SDR_FAULT=$faults ;;
	tcp | sockets) export FI_PROVIDER=$1 ;;
	*) ;;
	esac
}

# Runs a program of the stack: under the limit, and alone.
stack_run() { timeout -s KILL "$((limit + 10))" "${jail[@]}" timeout -k 5 "$limit" "$@"; }

stack_case() { # NAME COUNT COMMAND...
	local name=$1 count=$2 log start passed failed sdr_failed='' other_failed=''
	shift 2
	[[ $name == *"$pattern"* ]] || return 0
	printf '%-34s' "$name"
	for over in $columns; do
		log=$keep/${name//[^a-zA-Z0-9_.-]/_}-$over.log
		start=$SECONDS
		(stack_env "$over"; "$@") >"$log" 2>&1 </dev/null
		read -r passed failed < <($count "$log" $?)
		printf ' %6s %6s %4s' "$passed" "$failed" $((SECONDS - start))
		[ "$over" = sdr ] && sdr_failed=$failed && good_sdr=$((good_sdr + passed))
		[ "$over" != sdr ] && [ "$over" != ob1 ] && other_failed=$failed
	done
	printf '\n'
	ran=$((ran + 1))
	if [ "${sdr_failed:-0}" -gt "${other_failed:-0}" ] || ! stack_named "$keep/${name//[^a-zA-Z0-9_.-]/_}"; then worse=1; fi
}

# Of tests that an automake log names: those that failed over sdr alone.
stack_named() { # LOG-, without its column
	local other='' over only
	for over in $columns; do [ "$over" = sdr ] || [ "$over" = ob1 ] || other=$1-$over.log; done
	[ -e "$1-sdr.log" ] && [ -n "$other" ] || return 0
	only=$(comm -23 <(grep -E '^(FAIL|ERROR): ' "$1-sdr.log" | sort -u) <(grep -E '^(FAIL|ERROR): ' "$other" | sort -u))
	[ -n "$only" ] || return 0
	printf '%s\n' "$only" | sed 's/^/   only over sdr: /'
	return 1
}

stack_end() {
	[ ${#jail[@]} = 0 ] || rmdir "$TMPDIR" 2>/dev/null
	[ "$ran" -gt 0 ] || { echo "no test was run" >&2; exit 2; }
	if [[ " $columns " == *" sdr "* ]] && [ "$good_sdr" = 0 ]; then
		echo "nothing passes over sdr: look at $keep, the stack may not start at all"
		exit 1
	fi
	if [ "$worse" != 0 ] && [ "$columns" = sdr ]; then
		echo "some fail over sdr; whether over the other as well, a run without --only says"
	elif [ "$worse" != 0 ]; then
		echo "over sdr fails what does not over the other"
	fi
	exit "$worse"
}

# ---- "passed failed" of a log and an exit status -----------------------------------------------

count_status() { if [ "$2" = 0 ]; then echo 1 0; else echo 0 1; fi; }

# Lines that say it: awk patterns in $good and $bad; an exit status that nobody explained is a failure.
count_lines() { # LOG STATUS
	awk -v status="$2" -v good="$good" -v bad="$bad" '$0 ~ bad { f++; next } $0 ~ good { p++ }
		END { if (status && !f) f = 1; print p + 0, f + 0 }' "$1"
}

count_passed_failed() { # "N passed, M failed"
	awk -v status="$2" '/[0-9]+ passed, [0-9]+ failed/ { for (i = 1; i < NF; i++) {
			if ($(i + 1) ~ /^passed/) p = $i; if ($(i + 1) ~ /^failed/) f = $i } }
		END { if (status && !f) f = 1; print p + 0, f + 0 }' "$1"
}

count_automake() { # make check
	awk -v status="$2" '/^# PASS:/ { p += $3 } /^# (FAIL|ERROR):/ { f += $3 }
		END { if (status && !f) f = 1; print p + 0, f + 0 }' "$1"
}

count_ctest() { # "97% tests passed, 3 tests failed out of 100"; without, there was none, and ctest is content
	awk -v status="$2" '/tests passed, [0-9]+ tests failed out of/ { for (i = 1; i < NF; i++) {
			if ($i == "failed") f = $(i - 2); if ($i == "of") t = $(i + 1) } }
		END { p = t - f; if ((status || t == "") && !f) f = 1; print p + 0, f + 0 }' "$1"
}
