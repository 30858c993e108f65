# SPDX-License-Identifier: GPL-2.0
"""The report: Markdown with its plots beside it, and one HTML file with all inside."""

import html
import re

import tables
from judge import verdicts_of
from metrics import METRICS

STYLE = """body{font:16px/1.5 sans-serif;max-width:60em}
body{margin:2em auto;padding:0 1em}table{border-collapse:collapse}
td,th{border:1px solid #ccc;padding:.2em .6em;text-align:right}
td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}
.refused{background:#fee;padding:.5em}code{background:#f4f4f4}"""


def parameters_of(experiment):
    """What was the same in all runs, and what stands behind their labels, in the
    description's own words."""
    words = []
    for section in ("machine", "path", "sender", "hosts"):
        for key, value in experiment["description"].get(section, {}).items():
            if isinstance(value, dict):
                value = "; ".join(f"{k} = {v}" for k, v in value.items())
                key = f"sysctl on {key}"
            words.append(f"{key} {str(value).lower()}"
                         if isinstance(value, bool) else f"{key} {value}")
    for flow in experiment["description"].get("flow", []):
        words.append(f'flow {flow["name"]}: ' + ", ".join(
            f"{k} {v}" for k, v in flow.items() if k != "name"))
    for step in experiment["description"].get("step", []):
        words.append(f'at {step["at"]} s on {step["on"]}: {step["do"]}')
    for axis in experiment["description"].get("vary", []):
        if "label" in axis:
            words += [f"{label}: {what_of(axis, i)}"
                      for i, label in enumerate(axis["label"])]
    return words


def what_of(axis, i):
    """What stands behind a label of the axis' own"""
    words = []
    for key, values in axis.items():
        value = values[i]
        if isinstance(value, dict):
            words += [f"{k} = {v} on {key.split('.')[-1]}"
                      for k, v in value.items()]
        elif key != "label":
            words.append(f"{key.replace('.', ' ')} {value}")
    return ", ".join(words) or "nothing more"


def markdown(experiment, picture):
    """One experiment's section."""
    d = experiment["description"]
    lines = [f'## {d["id"]}: {d["title"]}', "", f'Source: {d["source"]}.', ""]
    if experiment.get("refused"):
        return lines + [f'**Not reported: {experiment["refused"]}.**', ""]
    head, *body = tables.of(experiment)
    lines += ["| " + " | ".join(head) + " |",
              "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(line) + " |" for line in body]
    lines += ["", d["why"].strip(), ""]
    if picture:
        lines += [f"![{d['title']}]({picture})", ""]
    metrics = dict.fromkeys((m["metric"], m["name"]) for m in d["measure"])
    said = [f"{name}: {' '.join(METRICS[metric].__doc__.split())}"
            for metric, name in metrics]
    lines += ["Measured: " + "; ".join(said) + ".", ""]
    lines += ["Parameters: " + "; ".join(parameters_of(experiment)) + ".", ""]
    failed = [s for r in experiment["rows"] for ok, s in r["verdicts"]
              if not ok]
    lines += [f"**Outside of its tolerance: {s}**" for s in failed]
    return lines + [""] * bool(failed)


def opening(about):
    """What the whole was made with."""
    tools = "; ".join(about["tools"].values())
    lines = ["<!-- SPDX-License-Identifier: GPL-2.0 -->", "",
             "# Circuit TCP: the papers' experiments, made again", "",
             f'Made by `make bench` from commit {about["commit"]} on kernel '
             f'{" and ".join(about["hashes"])}, in virtual time: however busy '
             "the machine, the same seed gives the same figures, with the same "
             "build of the kernel. Every run has a "
             f"machine of its own, real tools ({tools}) "
             "and a network of namespaces (`selftests/bench/network.py`).", "",
             "What the lab carries without our code (an experiment outside "
             "of it is not reported):", "", "| what | kernel | from | to |",
             "|---|---|---|---|"]
    for kernel, ranges in about["kernels"].items():
        for axis, span in ranges.items():
            values = [f"{v:g}" for v in span] if span else ["nothing", "held"]
            lines.append(f"| {axis} | {kernel} | {values[0]} | {values[1]} |")
    return lines + ["", "Rates are in bit/s, rtt in s, loss in parts of 1. "
                    "In plots, crosses are the paper's and dashes a model's.",
                    ""]


def contents(experiments):
    """What there is, and how much of what it asserts held."""
    lines = ["| | what | source | held |", "|---|---|---|---|"]
    for experiment in experiments:
        d = experiment["description"]
        held = [ok for ok, _ in verdicts_of(experiment)]
        lines.append(f'| {d["id"]} | {d["title"]} | {d["source"]} | '
                     f'{sum(held)} of {len(held)} |')
    return lines + [""]


def in_order(experiments):
    """The lab's own proofs last: a reader has come for the others."""
    return sorted(experiments, key=lambda e: "calibrates" in e["description"])


def write_markdown(path, about, experiments, pictures):
    """docs' version: plots are files beside it."""
    experiments = in_order(experiments)
    lines = opening(about) + contents(experiments)
    for experiment in experiments:
        name = experiment["description"]["id"]
        lines += markdown(experiment, pictures.get(name) and f"{name}.svg")
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def write_html(path, about, experiments, pictures):
    """One file that needs no other: the Markdown's subset, turned over."""
    parts = ["<!doctype html><meta charset=utf-8><!-- "
             "SPDX-License-Identifier: GPL-2.0 -->",
             f"<title>tcp_circuit: bench</title><style>{STYLE}</style>"]
    experiments = in_order(experiments)
    parts.append(to_html(opening(about) + contents(experiments)))
    for experiment in experiments:
        name = experiment["description"]["id"]
        parts.append(to_html(markdown(experiment, None)))
        if pictures.get(name):
            svg = pictures[name].read_text(encoding="utf-8")
            parts.append(svg[svg.index("<svg"):])
    path.write_text("\n".join(parts), encoding="utf-8")


def inline(text):
    """Bold and code of one line."""
    text = html.escape(text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", text)


def to_html(lines):
    """Headings, tables and paragraphs: all that markdown() writes."""
    out, rows = [], []
    for line in [*lines, ""]:
        if line.startswith("|"):
            if not set(line) <= set("|-"):
                rows.append([inline(c.strip())
                             for c in line.strip("|").split("|")])
            continue
        if rows:
            tags = ["th"] + ["td"] * (len(rows) - 1)
            out.append("<table>" + "".join(
                "<tr>" + "".join(f"<{t}>{c}</{t}>" for c in row) + "</tr>"
                for t, row in zip(tags, rows)) + "</table>")
            rows = []
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            out.append(f"<h{level}>{inline(line[level:].strip())}</h{level}>")
        elif line and not line.startswith("<!--"):
            out.append(f"<p>{inline(line)}</p>")
    return "\n".join(out)
