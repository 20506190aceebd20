# SPDX-License-Identifier: Apache-2.0
"""No child outlives its parent, and no child inherits a descriptor of the caller, even if the
parent ends between fork and exec."""
import cases

NAME = "children"
SAMPLE = 0  # scripts/test runs these cases
BUILDS = ("dev",)
WEIGHT = 0  # no share of the time limit


def units(chosen):
    del chosen
    return [cases.Cases("unit", "no descriptor of the caller", "leaves no zombie"),
            cases.Cases("cli", "a plugin whose parent ends", "does not delay the result"),
            cases.Cases("conformance", "it ends with its parent", "few descriptors are enough")]


run = cases.run
