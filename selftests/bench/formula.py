# SPDX-License-Identifier: GPL-2.0
"""Formulas of a description: what a model predicts, from the path's numbers.

Only arithmetic, min, max and sqrt, over the names that names_of() gives; so a
description can draw Mathis' law beside what was measured, and nothing else.
"""

import ast
import math
import operator

from errors import BenchError

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub,
             ast.Mult: operator.mul, ast.Div: operator.truediv,
             ast.Pow: operator.pow, ast.USub: operator.neg}
FUNCTIONS = {"min": min, "max": max, "sqrt": math.sqrt, "ceil": math.ceil,
             "floor": math.floor}


def names_of(plan):
    """The words a formula may use, of one run."""
    return {"rate": plan["rate"] / 1e6,             # Mbit/s of frames
            "line": plan["payload_rate"] / 1e6,     # Mbit/s of payload
            "rtt": plan["rtt"],                     # s
            "mss": plan["mss"], "wire": plan["wire"], "bdp": plan["bdp"],
            "fcwnd": plan["fcwnd"] or 0,            # segments
            "window": (plan["fcwnd"] or 0) * plan["wire"],
            "limit": plan["limit"] or 0, "burst": plan["burst"] or 0,
            "buffer": plan["buffer"] or 0,          # bytes, all three
            "port": (plan["line"] or 0) / 1e6,      # Mbit/s of frames
            "buffers": plan["buffers"] or 0,       # tcp_rmem, tcp_wmem
            "streams": sum(f["streams"] for f in plan["flows"]),
            "loss": plan["loss"]}


def evaluate(text, names):
    """The number that the formula has with these names."""
    try:
        value = _value(ast.parse(text, mode="eval").body, names)
        if isinstance(value, complex):
            raise ValueError
        return value
    except (SyntaxError, KeyError, TypeError):
        known = ", ".join(sorted([*names, *FUNCTIONS]))
        raise BenchError(f'"{text}" is not a formula; it may use numbers, '
                         f"+ - * / ** and {known}") from None
    except ZeroDivisionError:
        raise BenchError(f'"{text}" divides by zero') from None
    except (ValueError, OverflowError):
        raise BenchError(f'"{text}" is no number here: it has the root of one below 0, or is '
                         "too large") from None


def _value(node, names):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_value(node.left, names),
                                        _value(node.right, names))
    if isinstance(node, ast.UnaryOp):
        return OPERATORS[type(node.op)](_value(node.operand, names))
    if isinstance(node, ast.Call) and not node.keywords:
        return FUNCTIONS[node.func.id](*[_value(a, names) for a in node.args])
    raise TypeError
