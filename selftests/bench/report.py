# SPDX-License-Identifier: GPL-2.0
"""The report: Markdown with its plots beside it, and one HTML file with all inside."""

import collections
import re
import tomllib
from pathlib import Path

from markdown import markdown as markdown_of
from markdown.extensions.toc import TocExtension

import prose
import seeds
import tables
from description import KERNELS, QUESTIONS
from figures import METRICS

LEFT_OUT = Path(__file__).parent / "left-out.toml"
PAPERS = Path(__file__).parent / "papers.toml"
WORDS = Path(__file__).parent / "words.toml"

VERDICTS = """A figure is **reproduced** where ours is the paper's within what a run or a
reading of its plot differs by, or where the paper shows a shape and ours has it;
**partly** where only some of the figures are, or the direction is the paper's and the
size is not; **contradicted** where ours goes the other way. What the lab cannot decide
is **not possible here**, and what is beyond the papers has **no paper**. "–" is a figure
that the paper does not give as a number, and \\* marks one that is computed from others of
the paper's."""

STYLE = """body{font:16px/1.5 sans-serif;max-width:60em}
body{margin:2em auto;padding:0 1em}table{border-collapse:collapse}
td,th{border:1px solid #ccc;padding:.2em .6em;text-align:right}
td:first-child,th:first-child{text-align:left}
td{vertical-align:top}svg{max-width:100%;height:auto}
.refused{background:#fee;padding:.5em}code{background:#f4f4f4}"""


def kernel_of(description):
    """["kernel 6.1"], [] where the runs have several"""
    if any("machine.kernel" in axis for axis in description.get("vary", [])):
        return []
    return [f'kernel {description.get("machine", {}).get("kernel", KERNELS[0])}']


def parameters_of(experiment):
    """What was the same in all runs, and what stands behind their labels, in the
    description's own words."""
    words = kernel_of(experiment["description"])
    for section in ("machine", "path", "sender", "hosts"):
        for key, value in experiment["description"].get(section, {}).items():
            if key == "kernel":
                continue
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
    if "search" in experiment["description"]:
        words.append(searched_for(experiment["description"]["search"]))
    for axis in experiment["description"].get("vary", []):
        if "label" in axis:
            words += [f"{label}: {what_of(axis, i)}"
                      for i, label in enumerate(axis["label"])]
    return words


def searched_for(search):
    """What is searched, in a description's own words"""
    most, low, high = [
        "(" + ", ".join(f'{v} for "{k}"' for k, v in search[word].items()) + ")"
        if isinstance(search[word], dict) else str(search[word])
        for word in ("most", "from", "to")]
    return (f'searched: the smallest {search["key"].replace(".", " ")} ({search["unit"]}) with '
            f'{search["measure"]} at most {most}, from {low} to {high}, to within '
            f'{search["within"]}')


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


def table_of(lines):
    """[[cell]], the head first, in Markdown"""
    head, *body = lines
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
            *("| " + " | ".join(line) + " |" for line in body), ""]


def said(experiment):
    """Result, Difference, Evidence, with the figures in them"""
    lines = []
    for part in prose.PARTS:
        text = experiment["description"].get(part)
        if text:
            lines += [f"**{part.capitalize()}.** "
                      f'{prose.filled(text.strip(), experiment["rows"])}', ""]
    return lines


def measured_by(description):
    """What each measure is, and its model where there is one"""
    words = {}
    for measure in description["measure"]:
        text = " ".join(METRICS[measure["metric"]].__doc__.split())
        text = text.replace("`where`", measure.get("where", "src"))
        model = measure.get("model")
        if isinstance(model, str):
            text += f" (model: `{model}`)"
        words.setdefault(measure["name"], f"{measure['name']}: {text}")
    return list(words.values())


def later(experiment):
    """Of one that was added to what was there (bench.py --add)"""
    if "commit" not in experiment:
        return ""
    return f' Made from commit {experiment["commit"]}, on the same kernel.'


def markdown(experiment, picture):
    """One experiment's section."""
    d = experiment["description"]
    lines = [f'### {d["id"]}: {d["title"]}', "", f'Source: {d["source"]}.' + later(experiment),
             ""]
    if experiment.get("refused"):
        return lines + [f'**Not reported: {experiment["refused"]}.**', ""]
    if "verdict" in d:
        lines += [f'Verdict: **{d["verdict"]["word"]}**: '
                  f'{prose.filled(d["verdict"]["because"], experiment["rows"])}.', ""]
    for table in tables.of(experiment):
        lines += table_of(table)
    lines += said(experiment)
    if picture:
        lines += [f"![{d['title']}]({picture})", ""]
        lines += [below, ""] if (below := seeds.caption(experiment)) else []
    lines += ["Measured: " + "; ".join(measured_by(d)) + ".", ""]
    lines += ["Parameters: " + "; ".join(parameters_of(experiment)) + ".", ""]
    failed = [s for r in experiment["rows"] for ok, s in r["verdicts"]
              if not ok]
    lines += [f"**Outside of its tolerance: {s}**" for s in failed]
    return lines + [""] * bool(failed)


def commits_of(about, experiments):
    """The commits that they were made from, in words: one, or how many are from which"""
    counts = collections.Counter(e.get("commit", about["commit"]) for e in experiments)
    if len(counts) < 2:
        return f'commit {next(iter(counts), about["commit"])}'
    first = counts.pop(about["commit"], 0)
    others = ", ".join(f"{n} from {commit}" for commit, n in counts.items())
    return (f'{len(counts) + bool(first)} commits ({first} of the {len(experiments)} experiments '
            f'from {about["commit"]}; {others}, each of which says so)')


def opening(about, experiments=()):
    """What the whole was made with."""
    tools = "; ".join(about["tools"].values())
    return ["<!-- SPDX-License-Identifier: GPL-2.0 -->", "",
            "# Circuit TCP: the papers' experiments, made again", "",
            f"Made by `make bench` from {commits_of(about, experiments)} on kernel "
            f'{" and ".join(about["hashes"])}, in virtual time: the same seed gives the '
            "same figures, however busy the machine. Every run has a machine of its own, "
            f"real tools ({tools}) and a network of namespaces "
            "(`selftests/bench/network.py`). All figures are in "
            "[results.json](results.json), and this report is made from it. Figures with "
            "a range are medians of several seeds (of two: their mean), from the lowest to "
            "the highest; those without are of one run, or of several that were the same. "
            "In plots, crosses "
            "are the paper's and dashes a model's; one over time shows, of a run's several seeds, "
            "the one nearest the median of the measure that the verdict quotes first, and says "
            "below it which. [Words](#words) has what the terms mean.",
            ""]


def carried(about):
    """What the lab carries without our code"""
    lines = [[axis, kernel, *([f"{v:g}" for v in span] if span else ["nothing", "held"])]
             for kernel, ranges in about["kernels"].items()
             for axis, span in ranges.items()]
    return ["What the lab carries without our code (an experiment outside of it is not "
            "reported; rarer loss is where what was lost is counted). Rates are in bit/s, rtt in "
            "s, loss in parts of 1.", "",
            *table_of([["what", "kernel", "from", "to"], *lines])]


def quoted(experiment):
    """(what, paper's figure, ours) of the rows that the first table quotes"""
    lines = []
    for measure, label in experiment["description"]["verdict"]["figures"]:
        row = prose.found(experiment["rows"], f"{measure} @ {label}")
        paper = tables.paper_of(row) or "–"
        lines.append((f"{measure}, {row['unit']}".removesuffix(", ") +
                      (f" ({label})" if label != "all" else ""),
                      paper, tables.cell(row)))
    return ("<br>".join(cells) for cells in zip(*lines)) if lines else ("", "", "")


def contents(experiments):
    """The page to read if only one is read: what held of each paper's figures, and why"""
    lines = [["", "figure", "paper", "here", "verdict", "because"]]
    for experiment in experiments:
        d = experiment["description"]
        if of_the_lab(d):
            continue
        if experiment.get("refused"):
            lines.append([d["id"], "", "", "", "not reported", experiment["refused"]])
            continue
        lines.append([f'[{d["id"]}](#{anchor_of(d)}) {d["title"]}', *quoted(experiment),
                      f'**{d["verdict"]["word"]}**',
                      prose.filled(d["verdict"]["because"], experiment["rows"])])
    return ["## Results", "", " ".join(VERDICTS.split()), "", *table_of(lines)]


def anchor_of(description):
    """Of its heading, as Markdown's readers make it"""
    text = f'{description["id"]}: {description["title"]}'.lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def headlines(experiments, pictures):
    """The plots that carry the project"""
    lines = []
    for experiment in experiments:
        d = experiment["description"]
        if d.get("headline") and pictures.get(d["id"]):
            why = prose.filled(d["verdict"]["because"], experiment["rows"])
            lines += [f'[{d["id"]}](#{anchor_of(d)}): {d["title"]}: {why}.', "",
                      f'![{d["title"]}]({pictures[d["id"]]})', ""]
            lines += [below, ""] if (below := seeds.caption(experiment)) else []
    return lines


def left_out():
    """What of the papers is not made, and why"""
    lines = [[one["source"], one["what"], one["reason"]] for one in
             tomllib.loads(LEFT_OUT.read_text(encoding="utf-8"))["left_out"]]
    return ["## What is not made", "", *table_of([["source", "what", "why not"], *lines])]


def words():
    """What terms of the report mean"""
    lines = [[f'**{one["word"]}**', one["means"]] for one in
             tomllib.loads(WORDS.read_text(encoding="utf-8"))["word"]]
    return ["## Words", "", *table_of([["", "means here"], *lines])]


def papers():
    """Whose experiments these are"""
    return ["## The papers", "", *(f"- {one['text']}" for one in
            tomllib.loads(PAPERS.read_text(encoding="utf-8"))["paper"]), ""]


def in_order(experiments):
    """By question, in each what a paper has first, the lab's own proofs last: a reader has
    come for the others."""
    return sorted(experiments, key=lambda e: _place_of(e["description"]))


def _place_of(description):
    question = description.get("question")
    place = QUESTIONS.index(question) if question else len(QUESTIONS)
    without_paper = description.get("verdict", {}).get("word") == "no paper"
    return of_the_lab(description), place, without_paper


def of_the_lab(description):
    """Whether it is of the lab itself: an appendix, and no row of the first table"""
    return "calibrates" in description or description.get("question") == "lab"


def body(about, experiments, pictures):
    """[line] of all of it; @pictures: {id: its file's name}"""
    experiments = in_order(experiments)
    lines = (opening(about, experiments) + contents(experiments) +
             headlines(experiments, pictures) + words() + papers() + left_out())
    part = None
    for experiment in experiments:
        d = experiment["description"]
        named = ("Appendix: the lab" if of_the_lab(d)
                 else d.get("question", "else").capitalize())
        if named != part:
            lines += [f"## {named}", ""]
            lines += carried(about) if of_the_lab(d) else []
            part = named
        lines += markdown(experiment, pictures.get(d["id"]))
    return lines


def write_markdown(path, about, experiments, pictures):
    """docs' version: plots are files beside it."""
    names = {name: picture and picture.name for name, picture in pictures.items()}
    path.write_text("\n".join(body(about, experiments, names)).rstrip() + "\n",
                    encoding="utf-8")


def write_html(path, about, experiments, pictures):
    """One file that needs no other: pictures inside"""
    names = {name: picture and picture.name for name, picture in pictures.items()}
    page = to_html(body(about, experiments, names))
    for picture in filter(None, pictures.values()):
        svg = picture.read_text(encoding="utf-8")
        page = re.sub(rf'<img [^>]*src="{re.escape(picture.name)}"[^>]*>',
                      lambda _, svg=svg: svg[svg.index("<svg"):], page)
    path.write_text("<!doctype html><meta charset=utf-8><!-- SPDX-License-Identifier: "
                    f"GPL-2.0 -->\n<title>tcp_circuit: bench</title><style>{STYLE}"
                    f"</style>\n{page}\n", encoding="utf-8")


def to_html(lines):
    """Markdown, turned over"""
    return markdown_of("\n".join(lines), extensions=["tables", TocExtension(
        slugify=lambda text, _: re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-"))])
