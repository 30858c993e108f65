#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Whether the Grafana dashboard's queries are right, by Prometheus itself; TAP.

It scrapes ctcpd's own text, of a world that is made up (tools/tests/ctcpd_exporter.c), and is
asked what Grafana would ask it: each variable's values, each panel's expressions.  Each must
be answered, by series that are numbers and that the panel can tell apart.
"""

import json
import math
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import dashboard  # noqa: E402
import prometheus  # noqa: E402
import tap  # noqa: E402  (of the folder above)

DASHBOARD = TOP / "tools" / "grafana" / "ctcpd.json"
EXPORTER = TOP / "build" / "bin" / "ctcpd_exporter"
SKIP = 4
# Three scrapes, each of another poll: no rate wants more, and no ratio is of nothing.
ENOUGH = f"changes(ctcpd_polls_total[{dashboard.RATE_INTERVAL}]) >= 2"


class Asked:
    """One dashboard, asked of one Prometheus at one time"""

    def __init__(self, board, server, at):
        self.board, self.server, self.at = board, server, at
        self.variables = {"__rate_interval": dashboard.RATE_INTERVAL}
        self.said = tap.Points()

    def point(self, what, work, *words):
        """What @work finds wrong, it raises."""
        try:
            self.said.point(True, f"{what}: {work(*words)}")
        except (dashboard.Wrong, prometheus.Refused) as e:
            self.said.point(False, what, str(e))

    def variable(self, variable):
        """All its values, as `All` has them from then on"""
        series, label = dashboard.values_asked_for(variable)
        found = self.server.ask(f"label/{label}/values",
                                **{"match[]": dashboard.fill(series, self.variables)})
        if not found:
            raise dashboard.Wrong(f'"{series}" has no value of "{label}"')
        self.variables[variable["name"]] = dashboard.one_of(found)
        return " ".join(found)

    def target(self, target):
        """Its series: there, and numbers"""
        expression = dashboard.fill(target["expr"], self.variables)
        if bool(target.get("range")) == bool(target.get("instant")):
            raise dashboard.Wrong("it must be one of range and instant")
        series = self.server.series(expression, self.at, target.get("range"))
        if not series:
            raise dashboard.Wrong(f"no series: {expression}")
        odd = [value for _, value in series if not math.isfinite(value)]
        if odd:
            raise dashboard.Wrong(f"{odd} where a number is expected: {expression}")
        return [labels for labels, _ in series]

    def graph(self, panel):
        """Its series have names, each its own"""
        names = [dashboard.legend(target, labels) for target in panel["targets"]
                 for labels in self.target(target)]
        if len(set(names)) < len(names):
            raise dashboard.Wrong(f"several series have one name: {names}")
        return f"{len(names)} series"

    def table(self, panel):
        """Its columns are there, and a row for each host"""
        series = {target["refId"]: self.target(target) for target in panel["targets"]}
        labels = {ref: set().union(*some) for ref, some in series.items()}
        there = dashboard.columns(panel, labels)
        missing = dashboard.columns_asked_for(panel) - there
        if missing:
            raise dashboard.Wrong(f"no column is {sorted(missing)}: there are {sorted(there)}")
        for ref, rows in dashboard.rows(panel, series).items():
            for host in prometheus.HOSTS.values():
                if not any(row.startswith(f"{host} to ") for row in rows):
                    raise dashboard.Wrong(f"{ref}: no row is of {host}: {sorted(rows)}")
        return f"{len(there)} columns"

    def panel(self, panel):
        """By what it is"""
        return self.table(panel) if panel["type"] == "table" else self.graph(panel)

    def all(self):
        """Exit status"""
        for variable in self.board["templating"]["list"]:
            if variable["type"] == "query":
                self.point(f'${variable["name"]}', self.variable, variable)
        for panel in self.board["panels"]:
            self.point(f'{panel["type"]} "{panel["title"]}"', self.panel, panel)
        return self.said.finish()


def check_text(promtool, text):
    """By promtool, which knows names and types that are unusual, too"""
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True,
                          check=False)
    if done.returncode or done.stderr:
        raise dashboard.Wrong(f"exit {done.returncode}\n{done.stderr.decode()}")
    return f"{len(text.splitlines())} lines"


def check(programs, folder):
    """Exit status"""
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    with prometheus.Prometheus(EXPORTER, programs / "prometheus", folder,
                               dashboard.SCRAPE_S) as server:
        at = server.scraped_at(ENOUGH)
        asked = Asked(board, server, at)
        asked.said.point(at is not None, "prometheus scrapes it",
                         "" if at else (folder / "log").read_text(encoding="utf-8"))
        if at is None:
            return asked.said.finish()
        asked.point("promtool check metrics", check_text, programs / "promtool", server.text())
        return asked.all()


def main():
    """See above."""
    if not EXPORTER.exists():
        print("1..0 # SKIP there is no ctcpd_exporter: make tests-bin")
        return SKIP
    found = subprocess.run([HERE.parent / "lab" / "prometheus.sh"], stdout=subprocess.PIPE,
                           text=True, check=False)
    if found.returncode:
        print("1..0 # SKIP Debian's prometheus is not to be had")
        return SKIP
    # who ends it ends what it began
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder:
        return check(Path(found.stdout.strip()), Path(folder))


if __name__ == "__main__":
    sys.exit(main())
