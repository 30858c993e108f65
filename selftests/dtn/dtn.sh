#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# dtn.sh [--seconds S]: a data transfer node with ctcpd and without, two hours each; writes
# docs/dtn/.  Exit 1: what is asked of them does not hold.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/alone.sh"

dtn()
{
	"$here/../lab/make-tools.sh" python3-matplotlib
	export PYTHONDONTWRITEBYTECODE=1
	/usr/bin/python3 "$here/dtn.py" --jobs "${BENCH_JOBS:-$(nproc)}" "$@"
}

alone "make dtn" "$here/../../build/dtn.lock" dtn "$@"
