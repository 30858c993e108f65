# SPDX-License-Identifier: GPL-2.0
"""Sentences of a description, with the figures of its results in them.

    {MEASURE @ LABEL}           our figure: the median over the seeds
    {MEASURE @ LABEL : WORD}    its paper, model, low, high, or range; or, with a number
                                for WORD, so many significant digits
    {= FORMULA}                 formula.py's arithmetic over numbers and
                                [MEASURE @ LABEL]; : and a number as above

So no number of ours is typed, and a report made from other results says other numbers.
"""

import json
import re

from errors import BenchError
from formula import evaluate
from judge import shown
from tables import cell

PLACE = re.compile(r"\{([^{}]+)\}")
REFERENCE = re.compile(r"\[([^\[\]]+)\]")
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
WORDS = ("paper", "model", "low", "high", "range")
PARTS = ("result", "difference", "evidence")


def digits(value, how_many):
    """A number with so many significant digits, and no exponent"""
    if value == float("inf"):
        return shown(value)
    rounded = float(f"{value:.{how_many}g}")
    return f"{rounded:.0f}" if rounded.is_integer() else repr(rounded)


def found(rows, name):
    """The row of MEASURE @ LABEL"""
    measure, _, label = (part.strip() for part in name.partition("@"))
    for row in rows:
        if row["measure"] == measure and row["label"] == label:
            return row
    raise BenchError(f'"{name.strip()}" is no measure @ label of this experiment')


def _figure(rows, name, word):
    row = found(rows, name)
    if word == "range":
        return cell(row)
    if word in WORDS:
        if row.get(word) is None:
            raise BenchError(f'"{name.strip()}" has no {word}')
        return shown(row[word])
    return shown(row["value"]) if word is None else digits(row["value"], word)


def _computed(rows, formula, word):
    text = REFERENCE.sub(lambda m: f'({found(rows, m[1])["value"]!r})', formula)
    value = evaluate(text.strip(), {"inf": float("inf")})
    return shown(value) if word is None else digits(value, word)


def _filled(rows, place):
    """What stands for one {...}"""
    name, colon, word = place.rpartition(" : ")
    name, word = (name, word.strip()) if colon else (place, None)
    if word not in (None, *WORDS):
        if not word.isdigit() or word == "0":
            raise BenchError(f'"{word}" in {{{place}}} is neither a number of digits nor '
                             + ", ".join(WORDS))
        word = int(word)
    if name.startswith("="):
        if word in WORDS:
            raise BenchError(f"{{{place}}}: a formula has no {word}")
        return _computed(rows, name[1:], word)
    return _figure(rows, name, word)


def filled(text, rows):
    """The sentence with all figures in it"""
    return PLACE.sub(lambda m: _filled(rows, m[1]), text)


def strangers(description):
    """Numbers of its prose that are neither a figure to be filled in nor stand elsewhere
    in the description: nobody would notice when they are wrong."""
    prose = [description.get(part, "") for part in PARTS]
    prose.append(description.get("verdict", {}).get("because", ""))
    rest = json.dumps({key: value for key, value in description.items()
                       if key not in PARTS} |
                      {"verdict": description.get("verdict", {}).get("figures")})
    known = set(re.findall(r"\d+(?:\.\d+)?", rest.replace(",", "")))
    known |= {number.lstrip("0") or "0" for number in known}
    every = [n for text in prose for n in NUMBER.findall(PLACE.sub("", text))]
    return [n for n in every if not set(re.findall(r"\d+(?:\.\d+)?", n.replace(",", "")))
            <= known]
