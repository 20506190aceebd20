# SPDX-License-Identifier: Apache-2.0
"""No child outlives its parent, and no descriptor of the caller's reaches one, also where the
parent ends between fork and exec."""
import cases

NAME = "children"
SAMPLE = 0  # scripts/test has run them
BUILDS = ("dev",)
WEIGHT = 0  # it takes the time that it takes


def units(chosen):
    del chosen
    return [cases.Cases("unit", "no descriptor of the caller", "leaves no zombie"),
            cases.Cases("cli", "a plugin whose parent ends", "does not hold us up"),
            cases.Cases("conformance", "it ends with its parent", "few descriptors are enough")]


run = cases.run
