#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# verdicts.sh: make the scoring half of the labelled flows, replay it, and write
# docs/verdicts/.  Exit 1: what is asked of the verdicts does not hold.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/alone.sh"

verdicts()
{
	"$here/../lab/make-tools.sh" python3-matplotlib
	make -s -C "$here/.." ../build/bin/ctcpd_traffic ../build/bin/circuit_arrivals
	export PYTHONDONTWRITEBYTECODE=1
	/usr/bin/python3 "$here/flows.py" --half score --jobs "${BENCH_JOBS:-$(nproc)}"
	/usr/bin/python3 "$here/verdicts.py" --score
}

alone "make verdicts" "$here/../../build/verdicts.lock" verdicts
