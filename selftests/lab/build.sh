#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build.sh RELEASE [clang]: inside a suite (chroot.sh), build the tree in /src as
# its users do
#
# The module with the suite's gcc against the headers of the kernel that will be
# booted (RELEASE), and against any others that are installed: those are compiled
# only.  Then the tools, and what the tests need.
#
# With "clang", the module alone, by the suite's clang against all headers; its
# static analyser looks at it as it is compiled for RELEASE (analyse.sh).
#
# A warning is a failure.  TAP on stdout, what the compilers said in
# /src/lab/build.log.

set -u

release=$1
log=/src/lab/build.log
. /src/selftests/tap.sh

# Run make; whatever it complains of is a failure, and shown.
quiet_make()
{
	local out status

	echo "+ make $*" >> $log
	out=$(make -j "$(nproc)" "$@" 2>&1)
	status=$?
	echo "$out" >> $log
	if grep -qE '(warning|WARNING):' <<< "$out"; then
		status=1
	fi
	[ $status = 0 ] || tail -n 40 <<< "$out" | sed 's/^/# /'
	return $status
}

build_module()
{
	quiet_make -C /lib/modules/"$release"/build M=/src modules
	point $? "module builds for $release without a warning"

	modinfo -F vermagic /src/tcp_circuit.ko 2>&1 | grep -q "^$release "
	point $? "module is one for $release"
}

# compile_for RELEASE COMPILER [ARGUMENT...]: a copy, which nobody loads
compile_for()
{
	local other=$1 compiler=$2

	shift 2
	rm -rf /tmp/src
	mkdir /tmp/src
	cp -a /src/Kbuild /src/*.c /src/circuit /src/include /tmp/src/
	quiet_make -C /usr/src/linux-headers-"$other" M=/tmp/src "$@" modules &&
		[ -s /tmp/src/tcp_circuit.ko ]
	point $? "module compiles for $other by $compiler without a warning"
}

headers()
{
	printf '%s\n' /usr/src/linux-headers-*-cloud-amd64 |
		sed 's,.*/linux-headers-,,'
}

compile_for_others()
{
	local other

	for other in $(headers); do
		[ "$other" = "$release" ] || compile_for "$other" gcc
	done
}

compile_by_clang()
{
	local answers other

	answers=$(/src/selftests/lab/clang.sh)
	for other in $(headers); do
		# shellcheck disable=SC2086 # a list of words
		compile_for "$other" clang $answers
		[ "$other" != "$release" ] || analyse "$other"
	done
}

analyse()		# RELEASE: what compile_for has just compiled
{
	local found planted="variable 'planted'"

	found=$(/src/selftests/lab/analyse.sh /usr/src/linux-headers-"$1" /tmp/src)
	echo "$found" >> $log
	grep -q "$planted" <<< "$found"
	point $? "clang's analyser finds a null dereference planted in the module"
	found=$(grep -v "$planted" <<< "$found")
	[ -z "$found" ] || sed 's/^/# /' <<< "$found"
	[ -z "$found" ]
	point $? "clang's analyser finds nothing else in it"
}

build_tools()
{
	quiet_make -C /src tools
	point $? "tools build without a warning"
	/src/build/bin/ctcp-setup --version > /dev/null
	point $? "ctcp-setup says its version"
	quiet_make -C /src tests-bin
	point $? "the tests' own programs build without a warning"
}

mkdir -p /src/lab
if [ "${2-}" = clang ]; then
	echo "### FACT clang $(clang -dumpversion)"
	compile_by_clang
else
	echo "### FACT gcc $(gcc -dumpfullversion)"
	compile_for_others
	build_module
	build_tools
fi
tap_finish
