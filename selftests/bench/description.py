# SPDX-License-Identifier: GPL-2.0
"""Descriptions of experiments: TOML files, read and checked.

A description says what changes (vary), over which path, how the sender is shaped,
which flows there are, and what is measured beside the paper's numbers.  The
tables below are all words it may have; README.md in this folder explains them.
Every error is one sentence that names file and key and quotes the value.
"""

import difflib
import math
import re
import tomllib
from pathlib import Path

import seeds
import units
from errors import BenchError
from figures import METRICS
from judge import slack

FOLDER = Path(__file__).parent / "experiments"


def _is(kind, what):
    def check(value):
        if not isinstance(value, kind) or isinstance(value, bool) and \
                kind is not bool:
            raise BenchError(f'"{value}" is not {what}')
    return check


def _one_of(*words):
    def check(value):
        if value not in words:
            raise BenchError(f'"{value}" is none of {", ".join(words)}')
    return check


def _size(value):
    units.size(value, 1514, 1)


def _limit(value):
    """Of a shaper, which the window may be compared with"""
    units.size(value, 1514, 1, 1)


def _within(value):
    """Of one rung of a search's ladder and the next"""
    if not 0 < slack(str(value), 1) < math.inf:
        raise BenchError(f'"{value}" would take runs without end, or none; write it as 10%')


def _memory(value):
    if not re.fullmatch(r"[1-9][0-9]*[MG]", str(value)):
        raise BenchError(f'"{value}" is no memory; write it as 512M or 6G')


def _seeds(value):
    """A number for all runs, or a table by label or value of an axis; else: others"""
    for n in value.values() if isinstance(value, dict) else [value]:
        if not isinstance(n, int) or isinstance(n, bool) or n < 1:
            raise BenchError(f'"{n}" is no number of seeds; write 5, or '
                             '{ "1e-3" = 5, else = 1 }')


text = _is(str, "a text")
number = _is((int, float), "a number")
count = _is(int, "a whole number")
switch = _is(bool, "true or false")
table = _is(dict, "a table")
words = _is(list, "a list")
model = _is((str, int, float, dict), "a formula, a number, or a table")

KERNELS = ("6.1", "newest")
HOSTS = ("src", "cross", "dst", "dst2")
MEASURED = tuple(METRICS)

QUESTIONS = ("window", "shaper", "start", "loss", "sharing", "tools", "lab")
VERDICTS = ("reproduced", "partly", "contradicted", "not possible here", "no paper")

SCHEMA = {
    "": {"title": text, "source": text, "result": text, "difference": text,
         "evidence": text, "question": _one_of(*QUESTIONS), "quick": switch,
         "seeds": _seeds, "calibrates": _one_of(
             "rate", "rtt", "loss", "spacing"),
         "twice": switch, "headline": switch, "medians": switch},
    "verdict": {"word": _one_of(*VERDICTS), "because": text, "figures": words},
    "machine": {"kernel": _one_of(*KERNELS), "memory": _memory},
    "path": {"rate": units.rate, "rtt": units.time, "rtt2": units.time,
             "line": units.rate, "buffer": _size, "loss": units.part,
             "reorder": units.part, "mtu": count, "offloads": switch,
             "ipv6": switch, "gso": _size},
    "sender": {"shaper": _one_of("ctcp-setup", "tbf", "none"),
               "options": words, "burst": _size, "limit": _limit,
               "fcwnd": _size, "pace": units.rate, "txqueuelen": count},
    "hosts": {"buffers": _size, "lowat": _size, "src": table, "dst": table,
              "sample": units.time, "trace": words},
    "flow": {"name": text, "from": _one_of(*HOSTS), "to": _one_of(*HOSTS),
             "tool": _one_of("iperf3", "nuttcp", "udp", "stream", "users"), "cc": text,
             "start": number, "seconds": count, "bytes": _size,
             "rate": units.rate, "streams": count, "options": words,
             "reads": units.rate, "writes": units.rate},
    "step": {"at": number, "on": _one_of(*HOSTS, "sw", "wan-dst"),
             "do": text, "name": text},
    "search": {"key": text, "unit": text, "from": model, "to": model,
               "within": _within, "measure": text, "most": model},
    "measure": {"name": text, "metric": _one_of(*MEASURED), "flow": text,
                "at": _one_of("found", "below"), "from": number, "until": number, "unit": text,
                "where": _one_of("src", "dst", "missing"), "paper": model,
                "expect": model, "model": model, "tolerance": text, "apart": text,
                "least": model, "most": model},
    "plot": {"kind": _one_of("over_time", "windows", "against", "arrivals", "bars"),
             "measure": text, "measures": words, "x": text, "y": text,
             "runs": words, "every": units.time, "clip": number, "resent": switch,
             "columns": count, "alike": number, "mean": units.time, "until": number,
             "same": switch, "last": switch, "names": table,
             "log": _one_of("x", "y", "xy"),
             "panels": _one_of("run", "flow", "first", "line")},
}
LISTS = ("flow", "step", "measure")
QUANTITIES = (units.rate, units.time, units.part, _size, _limit)
NEEDED = {"": ("title", "source", "result"), "verdict": ("word", "because", "figures"),
          "path": ("rate", "rtt"),
          "flow": ("name", "tool", "from", "to"), "step": ("at", "on", "do"),
          "search": ("key", "unit", "from", "to", "within", "measure", "most"),
          "measure": ("name", "metric")}


def load(path):
    """One description, checked; its id is the file's name."""
    try:
        with open(path, "rb") as file:
            data = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise BenchError(f"{path}: not TOML: {error}") from None
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}") from None
    try:
        check(data)
    except BenchError as error:
        raise BenchError(f"{Path(path).name}: {error}") from None
    data["id"] = Path(path).stem
    return data


def names_of(folder=FOLDER):
    """All ids that there are"""
    return sorted(path.stem for path in Path(folder).glob("*.toml"))


def load_all(folder=FOLDER, ids=()):
    """All descriptions, or these and the calibrations; calibration first: the others
    depend on it."""
    every = [load(path) for path in sorted(Path(folder).glob("*.toml"))
             if not ids or path.stem in ids or path.stem.startswith("cal-")]
    return sorted(every, key=lambda d: ("calibrates" not in d, d["id"]))


def check(data):
    """Raise BenchError at the first thing that is wrong."""
    sections = {k: v for k, v in data.items() if isinstance(v, (dict, list))
                and k not in SCHEMA[""]}
    plain = {k: v for k, v in data.items() if k not in sections}
    _check_section("", plain)
    _present("path", sections)
    _present("measure", sections)
    for name, content in sections.items():
        if name == "vary":
            continue
        if name not in SCHEMA:
            raise BenchError(_unknown("section", name, SCHEMA))
        parts = content if isinstance(content, list) else [content]
        if (name in LISTS) != isinstance(content, list):
            raise BenchError(f"[{name}] is written with "
                             f"{'two brackets' if name in LISTS else 'one'}")
        for part in parts:
            _check_section(name, part)
    _check_told(data)
    _check_path(data)
    _check_vary(data)
    _check_sender(data.get("sender", {}))
    _check_flows(data)
    _check_measures(data)
    _check_search(data)
    _check_plot(data.get("plot"))


def _present(name, sections):
    if name not in sections:
        raise BenchError(f"[{name}] is missing")


def _unknown(what, name, known):
    near = difflib.get_close_matches(name, [k for k in known if k], n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f'no {what} is called "{name}"{hint}'


def _check_section(name, content):
    schema = SCHEMA[name]
    where = f"{name}." if name else ""
    for key in NEEDED.get(name, ()):
        if key not in content:
            raise BenchError(f"{where}{key} is missing")
    for key, value in content.items():
        if key not in schema:
            raise BenchError(_unknown("key", where + key,
                                      [where + k for k in schema]))
        _check_value(where + key, schema[key], value)


def _check_value(where, check_one, value):
    try:
        check_one(value)
    except BenchError as error:
        raise BenchError(f"{where}: {error}") from None


def _check_vary(data):
    """Each axis: dotted keys with lists of one length."""
    for axis in data.get("vary", []):
        lengths = {len(v) for v in axis.values()}
        if len(lengths) != 1 or 0 in lengths:
            raise BenchError("vary: the lists of an axis differ in length: "
                             + ", ".join(axis))
        for key, values in axis.items():
            if key == "label":
                continue
            kind, name = key_of(key)
            _check_named("vary", key, data)
            for value in values:
                _check_value(f"vary.{key}", SCHEMA[kind][name], value)


def key_of(dotted, where="vary"):
    """path.rate -> (path, rate); flow.NAME.cc -> (flow, cc); hosts.src.SYSCTL
    -> (hosts, src) is varied as a whole."""
    parts = dotted.split(".")
    kind, name = parts[0], parts[-1]
    if kind not in SCHEMA or name not in SCHEMA[kind] or \
            len(parts) != (3 if kind in LISTS else 2):
        raise BenchError(f'{where}: "{dotted}" names nothing that a run has; '
                         "write it as path.rtt or flow.NAME.cc")
    return kind, name


def _check_named(where, dotted, data):
    """That there is such a flow, a step or a measure"""
    kind, *names, _ = dotted.split(".")
    known = [part.get("name") for part in data.get(kind, [])] if kind in LISTS else names
    if names[:1] and names[0] not in known:
        raise BenchError(f'{where}: "{dotted}": no {kind} is called "{names[0]}"; there are '
                         + ", ".join(filter(None, known)))


def _check_told(data):
    """What a reader of the report is owed; a calibration is an appendix."""
    if "calibrates" in data:
        return
    for key in ("question", "difference", "evidence", "verdict"):
        if key not in data:
            raise BenchError(f"{key} is missing")
    names = [m["name"] for m in data["measure"]]
    for row in data["verdict"]["figures"]:
        if not isinstance(row, list) or len(row) != 2 or row[0] not in names:
            raise BenchError(f'verdict.figures: "{row}" is not ["MEASURE", "RUN"] of a '
                             "measure that there is")


def _check_path(data):
    path = data["path"]
    if "gso" in path and not path.get("offloads"):
        raise BenchError("[path]: gso is the size of packets that there are only "
                         "with offloads = true")
    if path.get("ipv6") and "trace" in data.get("hosts", {}):
        raise BenchError("[path]: what is traced is IPv4, and ipv6 was asked for")


def _check_sender(sender):
    if "pace" in sender and "fcwnd" not in sender:
        raise BenchError("[sender]: pace needs fcwnd, the window of the circuit "
                         "that is paced")


def _check_flows(data):
    names = [f["name"] for f in data.get("flow", [])]
    if len(set(names)) != len(names):
        raise BenchError("two flows have one name: " + ", ".join(names))
    for flow in data.get("flow", []):
        if ("seconds" in flow) == ("bytes" in flow):
            raise BenchError(f'flow "{flow["name"]}" needs either seconds '
                             "or bytes")
        if flow["tool"] != "iperf3" and ("reads" in flow or "writes" in flow):
            raise BenchError(f'flow "{flow["name"]}": only iperf3 reads and '
                             "writes what is on a disk")
        if flow["tool"] == "nuttcp" and "bytes" in flow:
            raise BenchError(f'flow "{flow["name"]}": nuttcp counts buffers, '
                             "not bytes; give it seconds")


def _check_measures(data):
    """What belongs together is there, and so is the flow."""
    flows = [f["name"] for f in data.get("flow", [])]
    for measure in data["measure"]:
        expects, within = "expect" in measure, "tolerance" in measure
        if expects and not within or \
                within and not expects and "paper" not in measure:
            raise BenchError(f'measure "{measure["name"]}": expect and tolerance '
                             "assert something only together")
        wanted = measure.get("flow")
        if wanted and wanted not in flows:
            raise BenchError(f'measure.flow: no flow is called "{wanted}"')


def _check_search(data):
    """What is searched is there to be varied, and is not; a measure says when it holds."""
    search = data.get("search")
    if search is None:
        for measure in data["measure"]:
            if "at" in measure:
                raise BenchError(f'measure "{measure["name"]}": at is the place of a search, '
                                 "and there is none")
        return
    kind, name = key_of(search["key"], "search.key")
    if kind not in ("path", "sender", "hosts", "flow") or SCHEMA[kind][name] not in QUANTITIES:
        raise BenchError(f'search.key: {search["key"]} is no quantity with a unit; path.rate, '
                         "sender.limit and flow.NAME.bytes are")
    _check_named("search.key", search["key"], data)
    _check_value(f'search.unit, of {search["key"]}', SCHEMA[kind][name],
                 f'1{search["unit"]}')
    if any(search["key"] in axis for axis in data.get("vary", [])):
        raise BenchError(f'search.key: {search["key"]} is varied, too')
    if search["measure"] not in [m["name"] for m in data["measure"]]:
        raise BenchError(f'search.measure: no measure is called "{search["measure"]}"')


def _check_plot(plot):
    """What its kind needs, and what has a meaning there."""
    if plot is None:
        return
    if "kind" not in plot:
        raise BenchError("plot.kind is missing")
    in_time = plot["kind"] in seeds.IN_TIME
    if plot.get("resent") and plot["kind"] != "over_time":
        raise BenchError("plot.resent: segments sent again are drawn over time only")
    for word in {"mean", "until", "same"} & set(plot) if plot["kind"] != "over_time" else ():
        raise BenchError(f"plot.{word} is for plots over time")
    if not in_time and "x" not in plot:
        raise BenchError("plot.x is missing: what is the first axis, and in what unit?")
    if plot.get("last") and plot["kind"] != "against":
        raise BenchError('plot.last is for plots "against" something')
    if not in_time and plot.get("panels", "line") != "line":
        raise BenchError(f'plot.panels: "{plot["panels"]}" is for plots over time')
