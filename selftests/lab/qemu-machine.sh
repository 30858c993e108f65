# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# qemu-machine.sh: the emulated machine that a suite's kernel boots in; source this file after
# tell.sh

machine_limit=3600	# s of real time
machine_memory=2048	# MiB

# Without cmpxchg16b: QEMU 7.2 emulates it with wrong flags when an interrupt comes
# right after it, and 6.12's slab allocator ends in a double fault in seven boots
# of eight.
machine_cpu=max,cx16=off

# The watchdogs allow for a machine that shares its processors with others.  Without cmpxchg16b
# kmalloc_nolock() of Linux 7.3 (mm/slub.c), which BPF uses, allocates only from slabs with a debug
# check, hence slab_debug.
machine_kernel="root=LABEL=root rw init=/sbin/lab-init console=ttyS0 panic=-1 \
oops=panic log_buf_len=8M watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120 \
slab_debug=F,kmalloc-*"

# As many machines at a time as there are cores and memory for
machines_at_once()
{
	local cores memories

	cores=$(nproc)
	memories=$(awk -v m=$((machine_memory * 3 / 2)) \
		'/^MemAvailable/ { print int($2 / 1024 / m) }' /proc/meminfo)
	echo $((cores < memories ? cores : memories > 0 ? memories : 1))
}

# The disk of the tree, WORK/src
make_disk()		# WORK
{
	mke2fs -q -t ext4 -L src -O ^has_journal -d "$1"/src "$1"/src.img 256M \
		> /dev/null
}

# Run the machine of the suite in PLACE; WORK gets its console and its results.
run_machine()		# PLACE WORK
{
	exec timeout -k 5 "$machine_limit" qemu-system-x86_64 \
		-accel tcg,thread=multi -cpu "$machine_cpu" -smp 2 \
		-m "$machine_memory" \
		-display none -monitor none -no-reboot -nic none \
		-serial file:"$2"/console -serial file:"$2"/serial \
		-drive file="$1"/disk.img,format=raw,if=virtio,snapshot=on \
		-drive file="$2"/src.img,format=raw,if=virtio \
		-kernel "$1"/vmlinuz -initrd "$1"/initrd -append "$machine_kernel" \
		> "$2"/qemu.out 2>&1 < /dev/null
}

# Report each test as it ends, from the lines of the machine.
follow()		# SUITE
{
	local mark what name status seconds

	while read -r mark what name status seconds; do
		status=${status%$'\r'} seconds=${seconds%$'\r'}
		case $mark:$what:$status in
		'###:ELSEWHERE':*)
			say "$1: $name not run here: it is for" $status $seconds ;;
		'###:EXIT:0')
			say "$1: $name ok ($seconds s)" ;;
		'###:EXIT':*)
			say "$1: $name FAILED ($seconds s)" ;;
		esac
	done
}

# Run the machine from start to end; a signal ends it at once.
boot()			# SUITE PLACE WORK
{
	local machine

	make_disk "$3"
	: > "$3"/serial
	run_machine "$2" "$3" &
	machine=$!
	# In the background, so that the shell handles a signal at once.
	# shellcheck disable=SC2064
	trap "kill $machine; exit 1" TERM
	tail -n +1 -f --pid=$machine "$3"/serial | follow "$1" &
	wait
	trap - TERM
}
