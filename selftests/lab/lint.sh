#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lint.sh: style and static analysis; TAP.  The tree has kernel style, no finding of
# sparse, cppcheck or shellcheck, one version, and a licence in every file.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
cd "$TOP" || exit 1
. "$here/cache.sh"
KERNEL=$("$here/uml-kernel.sh") || exit 1
# Hashes of files found clean; no checkout of this user checks them again.  Those that no
# run has used for two months are deleted.
CLEAN=$CACHE/lint
mkdir -p "$CLEAN/cppcheck"
find "$CLEAN" -type f -mtime +60 -delete

# quiet NAME COMMAND...: succeeds and says nothing
quiet()
{
	local name=$1 out status

	shift
	out=$("$@" 2>&1)
	status=$?
	if [ $status = 0 ] && [ -z "$out" ]; then
		pass "$name"
	else
		fail "$name" "exit $status" "$out"
	fi
}

# The files that git tracks or would not ignore.  The tree may belong to another user.
ours()
{
	git -c safe.directory="$TOP" ls-files -co --exclude-standard -- "$@"
}

c_files()
{
	ours '*.c' '*.h' | grep -v '^include/compat/probe/'
}

# clean_file NAME WORD|FILE...: print the path of a file that exists if this was found clean
clean_file()
{
	local name=$1

	shift
	echo "$CLEAN/$name-$(cache_key "$@")"
}

# once NAME FILES COMMAND...: run a command on all of these files together, unless the same
# command has found the same files clean
once()
{
	local clean files=$2 name=$1 out status

	shift 2
	# shellcheck disable=SC2086 # names without spaces
	clean=$(clean_file "$name" "$* $files" "$("$1" --version 2>&1)" $files)
	[ ! -e "$clean" ] || { touch "$clean"; return 0; }
	# shellcheck disable=SC2086
	out=$("$@" $files 2>&1)
	status=$?
	[ -z "$out" ] || echo "$out"
	[ $status = 0 ] && [ -z "$out" ] && touch "$clean"
	return $status
}

# checkpatch IGNORED_TYPES FILES: on the files that it has not found clean with these types.
# FILE_PATH_CHANGES is about patches.
checkpatch()
{
	local script=$KERNEL/tree/scripts/checkpatch.pl clean out left status

	clean=$CLEAN/checkpatch-$(echo "$1" | cat - "$script" "$here/lint.sh" |
		sha256sum | cut -c 1-16)
	touch "$clean"
	# shellcheck disable=SC2086 # names without spaces
	left=$(sha256sum $2 | grep -vxF -f "$clean")
	[ -n "$left" ] || return 0
	# shellcheck disable=SC2046
	out=$(perl "$script" --no-tree --strict --terse --no-summary --show-types \
		--ignore "$1" -f $(awk '{ print $2 }' <<<"$left") 2>&1)
	status=$?
	grep -v '^$' <<<"$out"
	# 1 means findings; a higher status that checkpatch died, and found nothing clean
	[ "$status" -le 1 ] || { echo "checkpatch: exit $status"; return 1; }
	awk 'NR == FNR { said[$1] = 1; next } !($2 in said)' \
		<(cut -d : -f 1 <<<"$out") - <<<"$left" >>"$clean"
}

# The macros of a tracepoint need two exceptions.
module_style()
{
	checkpatch FILE_PATH_CHANGES \
		"$(c_files | grep -v '^tools/\|^selftests/\|^include/trace/')"
	checkpatch FILE_PATH_CHANGES,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT \
		"$(c_files | grep '^include/trace/')"
}

# Ignored are types about what userland does not have (strscpy, kstrto*, ARRAY_SIZE, BIT,
# fallthrough, __printf, u32), about the libraries' own style (typedefs, camel case, extern,
# volatile), about tables for cmocka and getopt (macros, blank lines, one case a line), and
# checkpatch's spelling ("acknowledgement" is right).
tools_style()
{
	checkpatch FILE_PATH_CHANGES,STRLCPY,STRCPY,SSCANF_TO_KSTRTO,PREFER_FALLTHROUGH,CONST_STRUCT,AVOID_EXTERNS,ARRAY_SIZE,TRAILING_STATEMENTS,CAMELCASE,PREFER_KERNEL_TYPES,VOLATILE,SYMBOLIC_PERMS,NEW_TYPEDEFS,MACRO_ARG_REUSE,COMPLEX_MACRO,CONSTANT_CONVERSION,LINE_SPACING,SPLIT_STRING,LONG_LINE_STRING,PREFER_DEFINED_ATTRIBUTE_MACRO,MACRO_WITH_FLOW_CONTROL,EMBEDDED_FUNCTION_NAME,TYPO_SPELLING,BIT_MACRO,REPEATED_WORD \
		"$(c_files | grep '^tools/\|^selftests/')"
}

module_files()
{
	ours tcp_circuit.c circuit Kbuild include
}

# complaints COPY WORD...: print those of a build of the module with these words for make, in
# a copy of its own, as build/uml is used at the same time.  No build if the same files were
# found clean with these words, kernel and tools.
complaints()
{
	local clean copy=$1 out status

	shift
	# shellcheck disable=SC2046 # names without spaces
	clean=$(clean_file module "$KERNEL ${*//$TMP/}" "$(gcc --version; sparse --version 2>&1)" \
		"$here/lint.sh" "$(module_files)" $(module_files))
	[ ! -e "$clean" ] || { touch "$clean"; return 0; }
	mkdir -p "$copy"
	cp -r tcp_circuit.c circuit Kbuild include "$copy/"
	out=$(make -s -C "$KERNEL/tree" ARCH=um M="$copy" "$@" modules 2>&1)
	status=$?
	out=$(grep -iE 'warning|error' <<<"$out")
	[ -z "$out" ] || echo "$out"
	[ $status = 0 ] && [ -z "$out" ] && touch "$clean"
	return $status
}

module_sparse()
{
	complaints "$TMP/sparse" C=2 W=1
}

# Only compile without CONFIG_NETFILTER; make check-kernels boots a kernel without it.
module_without_netfilter()
{
	local copy=$TMP/without

	mkdir -p "$copy"
	echo "#undef CONFIG_NETFILTER" >"$copy/without.h"
	complaints "$copy" KCFLAGS="-include $copy/without.h"
}

# Only one cppcheck at a time may use its build folder.
tools_cppcheck()
{
	cache_lock lint 2>/dev/null
	# shellcheck disable=SC2046 # names without spaces
	cppcheck -q --std=c11 --enable=warning,performance,portability \
		--inline-suppr --suppress=missingIncludeSystem \
		--cppcheck-build-dir="$CLEAN/cppcheck" \
		-Iinclude/uapi $(c_files | grep '^tools/[^/]*\.c\|^selftests/')
}

scripts()
{
	once shellcheck "$(ours '*.sh' .ci/run)" shellcheck -S warning -x -e SC1090,SC1091
}

python_files()
{
	ours '*.py'
}

python_style()
{
	local -x PYTHONPYCACHEPREFIX=$TMP/pyc

	once pycodestyle "$(python_files)" pycodestyle --max-line-length=100
	once pyflakes "$(python_files)" pyflakes3
	once py_compile "$(python_files)" python3 -m py_compile
}

licences()
{
	ours . | grep -vE '^(COPYING|README\.md|tools/fuzz/corpus/.*)$' | tr '\n' '\0' |
		xargs -0 awk '
			FNR == 1 { if (file) print "no licence line: " file; file = FILENAME }
			FNR <= 5 && /SPDX-License-Identifier: GPL-2.0/ { file = "" }
			FNR == 5 { if (file) print "no licence line: " file; file = ""; nextfile }
			END { if (file) print "no licence line: " file }'
}

versions()
{
	local package module tool

	package=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
	module=$(sed -n 's/^MODULE_VERSION("\(.*\)");/\1/p' tcp_circuit.c)
	tool=$(build/bin/ctcp-setup --version)
	[ "$package" = "$module" ] && [ "ctcp-setup $package" = "$tool" ] ||
		echo "dkms.conf $package, module $module, $tool"
}

# What `make clean` removes of the tools' sources, in a copy of them
cleaned()
{
	local copy

	copy=$(mktemp -d)
	ours tools include dkms.conf | tar -c -T - | tar -x -C "$copy"
	(cd "$copy" && find . -type f | sort >"$copy.before"
		make -s -C tools clean
		find . -type f | sort | diff "$copy.before" -)
	rm -r "$copy" "$copy.before"
}

ours Kbuild >/dev/null || skip_all "not a git checkout: which files are ours?"
quiet "module: checkpatch --strict" module_style
quiet "tools: checkpatch --strict" tools_style
quiet "module: sparse, W=1" module_sparse
quiet "module: compiles without CONFIG_NETFILTER" module_without_netfilter
quiet "tools: cppcheck" tools_cppcheck
quiet "scripts: shellcheck" scripts
quiet "python: pycodestyle, pyflakes, compiles" python_style
quiet "a licence in every file" licences
quiet "one version" versions
quiet "make -C tools clean takes nothing of the sources" cleaned
finish
