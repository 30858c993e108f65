#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# uml.sh [-r] [-m MEMORY] [-t SECONDS] [-o FOLDER] [-s SEED] SCRIPT [NAME=value ...]
#
# Boot the virtual-time machine, run SCRIPT in it as root with the module
# installed, and exit as it did.  Time there jumps to the next event when nothing
# can run: the processor is infinitely fast, and what this machine is doing
# beside changes no figure.
#
#	-r		real time: what a program costs takes as long as it does
#	-m MEMORY	of the machine, default 2G
#	-t SECONDS	of real time after which it is killed, default 300
#	-o FOLDER	the host's folder that is /lab inside, default a new one
#	-s SEED		a number: same seed, same run, to the last random byte
#
# LAB_KERNEL=debug in the environment: a kernel that watches itself, slower
# (uml-debug.config); LAB_KERNEL=leaks: one that looks for memory that leaked;
# LAB_KERNEL=nonetfilter: one without CONFIG_NETFILTER; LAB_KERNEL=newest: that of
# Debian's archive; LAB_KERNEL=newest-debug: that, watching itself.
#
# Exit: the script's own; 124 when time ran out; 125 when the machine died or
# its kernel complained or found a leak, whatever the script said.

set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$here/cache.sh"

mem=2G limit=300 out='' seed='' preload='' fixed='' pinned='' clock=time-travel=inf-cpu
while getopts rm:t:o:s: opt; do
	case $opt in
	r) clock='' ;;
	m) mem=$OPTARG ;;
	t) limit=$OPTARG ;;
	o) out=$OPTARG ;;
	s) seed=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
if [ -z "$clock" ] && [ -n "$seed" ]; then
	echo "lab: -s makes a run of virtual time the same again, -r has none" >&2
	exit 2
fi
script=$(realpath "$1") || exit 2
shift

kernel=$("$here/uml-kernel.sh") || exit 1
ko=${LAB_KO:-$("$here/uml-module.sh" "$kernel")} || exit 1
if [ -z "$out" ]; then
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
fi
out=$(realpath "$out")
words=("$@")

# With a seed, where tree, module and FOLDER lie on the host must change nothing, and each
# component of a path is an allocation of the guest's.  Who may mount runs the machine where
# they have the same names everywhere, below a folder of the host's that none of them is in.
place()
{
	local place

	for place in /mnt /srv /media; do
		case $top/:$out/:$kernel/:${TMPDIR:-/tmp}/:$CACHE/ in
		$place/* | *:$place/*) ;;
		*)
			mounted $place true 2>/dev/null && echo $place && return
			;;
		esac
	done
	return 1
}

# mounted PLACE COMMAND...: with tree and FOLDER there, which nobody else sees
mounted()
{
	local place=$1

	shift
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m --propagation private sh -ec '
		mount -t tmpfs lab "$1"
		mkdir "$1/tree" "$1/out"
		mount --bind "$2" "$1/tree"
		mount --bind "$3" "$1/out"
		shift 3
		exec "$@"' - "$place" "$top" "$out" "$@"
}

# in_place PLACE: this script again, from there
in_place()
{
	cp "$ko" "$out/tcp_circuit.ko"
	cp "$kernel/tree/modules.builtin" "$out/"
	LAB_PLACE=$1 LAB_KO=$1/out/tcp_circuit.ko LAB_BUILTIN=$1/out/modules.builtin \
		mounted "$1" "$1/tree/selftests/lab/uml.sh" -m "$mem" -t "$limit" \
		-o "$1/out" -s "$seed" "$1/tree${script#"$top"}" "${words[@]}"
}

# The machine's memory is a sparse file: on /dev/shm where all of it has room, on
# disk otherwise (a container's /dev/shm has 64 MB).
memory_dir()
{
	local room

	room=$(df --output=avail -B1 /dev/shm 2>/dev/null | tail -n 1)
	if [ "${room:-0}" -ge "$(numfmt --from=iec "$mem")" ]; then
		echo /dev/shm
	else
		mkdir -p "$CACHE/memory" && echo "$CACHE/memory"
	fi
}

# The processors that this process may use
processors()
{
	taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | while IFS=- read -r from to; do
		seq "$from" "${to:-$from}"
	done
}

# own_processor: set $pinned to a command that runs the machine on a processor on which no other
# one is.  Kernel and program of the guest are two processes of the host that take turns, at each
# system call of the guest: between two processors of the host each turn wakes an idle one up.
# That was two thirds of what setup_route took with 6.1, and a third with the newest kernel.  The
# lock is held until the machine has ended.  If all are taken, the host's scheduler decides.
own_processor()
{
	local processor lock

	for processor in $(processors); do
		exec {lock}>"$CACHE/processor-$processor.lock"
		if flock -n "$lock"; then
			pinned="taskset -c $processor"
			return
		fi
		exec {lock}>&-
	done
}

# The library that makes the guest's random numbers those of its seed
seed_library()
{
	local library

	library=$CACHE/uml-seed-$(cache_key "$here/uml-seed.c").so
	if [ ! -f "$library" ]; then
		gcc -shared -fPIC -O2 -o "$library.$$" "$here/uml-seed.c" &&
			mv "$library.$$" "$library" || return
	fi
	echo "$library"
}

# The kernel hashes its command line into its random numbers, too
# (random_init_early()), so with a seed no path may be on it: the first process
# finds its words, and itself, in the folder the kernel was started in, which
# hostfs shows below the host's /proc/self.
seeded_words()
{
	local word

	ln -sf "$here/uml-init.sh" "$out/init"
	for word in LAB_INIT="$here/uml-init.sh" "${words[@]}"; do
		printf "%s='%s'\n" "${word%%=*}" "${word#*=}"
	done >"$out/words"
	cd "$out" || exit
	words=(LAB_WORDS=/proc/self/cwd/words
		time-travel-start=1700000000000000000)
}

if [ -n "$seed" ] && [ -z "${LAB_PLACE:-}" ] && [[ $script = "$top"/* ]] && where=$(place); then
	in_place "$where"
	exit
fi

rm -f "$out/rc" "$out/dmesg" "$out/tainted" "$out/leaks"
words=(LAB_SCRIPT="$script" LAB_OUT="$out" LAB_KO="$ko" LAB_DIR="$top"
	LAB_BUILTIN="${LAB_BUILTIN:-$kernel/tree/modules.builtin}"
	LAB_KERNEL="${LAB_KERNEL:-}" "$@")
init=$here/uml-init.sh
if [ -n "$seed" ]; then
	preload=$(seed_library) || exit 1
	LAB_SEED=$seed
	# Where the host puts the kernel's heap decides how much memory it has left,
	# and TCP's limits follow from that
	fixed="setarch -R"
	seeded_words
	init=/proc/self/cwd/init
	export LAB_SEED
fi

# Kernels from 6.16 on can run programs by seccomp instead of ptrace, where the host
# can: the same, and two to three times as fast.
seccomp=
if [[ ${LAB_KERNEL:-} = newest* ]]; then seccomp=seccomp=auto; fi

own_processor

# The console is a terminal: it ends its lines with CR LF.
# shellcheck disable=SC2086 # some words or none
TMPDIR=$(memory_dir) timeout -k 5 "$limit" $pinned $fixed \
	env ${preload:+LD_PRELOAD="$preload"} "$kernel/linux" mem="$mem" \
	rootfstype=hostfs rootflags=/ ro init="$init" \
	$seccomp $clock con=null con0=null,fd:1 quiet loglevel=1 panic=-1 \
	"${words[@]}" </dev/null 2>&1 | sed -u 's/\r$//; /^reboot: /d'
rc=${PIPESTATUS[0]}

if [ "$rc" = 124 ] || [ "$rc" = 137 ]; then
	echo "lab: killed after $limit s of real time" >&2
	exit 124
fi
if [ ! -f "$out/rc" ]; then
	echo "lab: the machine died before its script ended" >&2
	exit 125
fi
complaints='WARNING:|BUG:|Oops|Call Trace|Kernel panic|refcount_t|UBSAN'
complaints="$complaints|rcu: .*(stall|detected)|blocked for more than"
complaints="$complaints|waiting for .* to become free"
complaints="$complaints|memory leak detector disabled"
# Taint says it again, should the log have run over: bad page, oops, warning, lockup
taints=$((1 << 5 | 1 << 7 | 1 << 9 | 1 << 14))
if grep -E "$complaints" "$out/dmesg" >&2 ||
   [ $(($(cat "$out/tainted") & taints)) != 0 ]; then
	echo "lab: the kernel complained (above), taint $(cat "$out/tainted")" >&2
	exit 125
fi
if [ -s "$out/leaks" ]; then
	head -n 60 "$out/leaks" >&2
	echo "lab: the kernel found memory that leaked (above)" >&2
	exit 125
fi
exit "$(cat "$out/rc")"
