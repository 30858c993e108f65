# SPDX-License-Identifier: GPL-2.0
"""Axes of a plot: where values stand, what is written beside them, and how much room
that takes.  Nothing here draws."""

import itertools
import math
import re
import textwrap

import units

LETTER = 7.2        # px that a letter takes, on average, in the font of all labels
LINE = 15           # px of a line of it
# What a unit is called beside an axis, where that is not its own name
SPELLED = {"p": "frames", "bdp": "rate x RTT", "mbit": "Mbit/s"}
NUMBER = re.compile(r"([0-9.]+(?:[eE][+-]?[0-9]+)?)(?:/([0-9.]+))?([A-Za-z%]*)")
UNITS = {**units.RATES, **units.TIMES, **units.SIZES,
         "p": 1, "bdp": 1, "%": 0.01, "": 1}


def _number(label):
    """(what it is worth, its unit); None: it is a word"""
    match = NUMBER.fullmatch(label)
    if not match or match[3] not in UNITS:
        return None
    return float(match[1]) / float(match[2] or 1) * UNITS[match[3]], match[3]


def ticks_of(labels):
    """({label: where it stands}, {where: what is written there}, unit of them all).

    Numbers stand where they belong, words one after the other; a unit that all have
    is written once, beside the axis."""
    labels = list(dict.fromkeys(labels))
    numbers = [_number(label) for label in labels]
    if None in numbers:
        return ({label: i for i, label in enumerate(labels)},
                dict(enumerate(labels)), "")
    found = {unit for _, unit in numbers}
    unit = found.pop() if len(found) == 1 else ""
    places = {label: value for label, (value, _) in zip(labels, numbers)}
    return (places, {place: label.removesuffix(unit)
                     for label, place in places.items()}, unit)


def with_unit(name, unit):
    """The label beside an axis; many a name has the unit in it"""
    unit = SPELLED.get(unit, unit)
    if not unit or name.endswith(unit):
        return name
    return f"{name}, {unit}" if name else unit


def x_span(values, log):
    """First and last of an axis, with room beside them: a tick at the very edge would
    be lost to rounding"""
    low, high = min(values), max(values)
    if log:
        room = max((high / low) ** 0.04, 1.1)
        return low / room, high * room
    room = (high - low) * 0.04 or 0.5
    return low - room, high + room


def y_span(values, log, clip=None):
    """First and last; a linear one begins at 0, and `clip` is where it ends"""
    values = values or [1]
    low, high = min(values), max(values)
    if log:
        room = max((high / low) ** 0.06, 1.2)
        return low / room, high * room
    if clip is not None and high > clip:
        return min(low, 0), clip
    return min(low, 0), high * 1.06 or 1


def decades(low, high):
    """Ticks of a logarithmic axis: powers of ten, more where that would be one or two"""
    powers = [10.0 ** n for n in range(math.floor(math.log10(low)),
                                       math.ceil(math.log10(high)) + 1)]
    for steps in (1,), (1, 3), (1, 2, 5):
        ticks = [p * s for p in powers for s in steps if low <= p * s <= high]
        if len(ticks) > 2:
            break
    return ticks


def part_of(value, span, log):
    """How far up the axis it is: 0 to 1"""
    low, high = span
    if log:
        low, high, value = math.log(low), math.log(high), math.log(max(value, low))
    return min(max((value - low) / (high - low), 0), 1)


def spread(wanted, sizes, end):
    """Middles of labels from 0 to @end, as near to what is wanted as they can be
    without one lying on another"""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    found, edge = list(wanted), 0
    for i in order:
        found[i] = max(wanted[i], edge + sizes[i] / 2)
        edge = found[i] + sizes[i] / 2
    edge = end
    for i in reversed(order):
        found[i] = min(found[i], edge - sizes[i] / 2)
        edge = found[i] - sizes[i] / 2
    return found


def wrapped(text, letters):
    """In lines of so many letters, as far as its words can be had so"""
    return "\n".join(textwrap.wrap(text, max(letters, 1), break_long_words=False,
                                   break_on_hyphens=False)) or text


def width_of(text):
    """px"""
    return max(len(line) for line in text.split("\n")) * LETTER


def height_of(text):
    """px"""
    return (text.count("\n") + 1) * LINE


def fitted(ticks, span, log, px):
    """({where: what is written}, whether upright): labels of an axis so long, in
    lines where that keeps them apart, else turned"""
    at = {x: part_of(x, span, log) * px for x in sorted(ticks)}
    apart = min((at[b] - at[a] for a, b in itertools.pairwise(at)), default=px)
    lines = {x: wrapped(text, int(apart / LETTER) - 1) for x, text in ticks.items()}
    clash = any(at[b] - at[a] < (width_of(lines[a]) + width_of(lines[b])) / 2 + LETTER
                for a, b in itertools.pairwise(at))
    return (ticks, True) if clash else (lines, False)


def room_below(labels, turned):
    """px that they take"""
    sizes = [width_of(t) if turned else height_of(t) for t in labels.values()]
    return max(sizes, default=LINE)
