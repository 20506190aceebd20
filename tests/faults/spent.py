# SPDX-License-Identifier: Apache-2.0
"""A token that its request uses up is never sent twice: refresh tokens, and assertions with a jti,
wherever the request could be repeated after its body was sent."""
import cases

NAME = "spent tokens"
SAMPLE = 0  # scripts/test runs these cases
BUILDS = ("dev",)
WEIGHT = 0  # no share of the time limit


def units(chosen):
    del chosen
    return [cases.Cases("oidc-federation", "spent: ", "neither spends a token twice"),
            cases.Cases("oauth", "is spent"),
            cases.Cases("http", "is spent by being sent"),
            cases.Cases("cache", "never spend one twice", "after a spent token")]


run = cases.run
