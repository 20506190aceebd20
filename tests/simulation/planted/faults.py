#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The faults that are planted into the ledger of sync, to test the simulation.

    faults.py source LEDGER OUTPUT   writes the ledger with a switch for each fault
    faults.py table                  prints the table of docs/reliability.md
    faults.py check PAGE             fails if the page has another table

In each row, `old` is in the ledger exactly once, and `new` replaces it. PLANTED in it is true while the
test has switched the fault on.
"""
import pathlib
import sys

# name, what it breaks, old, new
FAULTS = [
    ("partial-list", "a partial list removes what it does not name",
     "look.is_whole && (", "(PLANTED || look.is_whole) && ("),
    ("empty-inventory", "an inventory or a mapping that became empty removes everything",
     "!rules_.may_be_empty && look.is_empty()", "!PLANTED && !rules_.may_be_empty && look.is_empty()"),
    ("empty-path", "an empty folder beside another one removes its ClusterProfiles",
     "|| !look.has_empty_path)", "|| PLANTED || !look.has_empty_path)"),
    ("prune-false", "`--prune=false` does not keep what a rule forbids",
     "!is_refused || !may_remove()", "!is_refused || !(PLANTED ? may_remove_ : may_remove())"),
    ("selection", "a selection by labels removes what it does not select",
     "&& !rules_.is_selection;", "&& (PLANTED || !rules_.is_selection);"),
    ("any-failure-removes", "each failure of a plugin counts as a refusal by a rule",
     "return one.is_by_rule;", "return PLANTED || one.is_by_rule;"),
    ("kept-refusal", "a ClusterProfile that is allowed again is removed",
     "cluster.refusal = is_refused ?", "if (is_refused || !PLANTED) cluster.refusal = is_refused ?"),
    ("refused-stays", "what a rule forbids stays",
     "if (revoke(cluster)) return;", "if (!PLANTED && revoke(cluster)) return;"),
    ("gone-stays", "the targets of deleted ClusterProfiles stay",
     "if (may_remove_) mark_gone();", "if (may_remove_ && !PLANTED) mark_gone();"),
    ("faulty-mapping", "a rule removes while another entry of the mapping is wrong",
     "is_mapping_valid_ = look.is_mapping_valid;", "is_mapping_valid_ = PLANTED || look.is_mapping_valid;"),
    ("lost-deletion", "a deletion that the watch reports is lost",
     "if (found != clusters_.end()) absent_", "if (!PLANTED && found != clusters_.end()) absent_"),
    ("unseen-deletion", "a file that is gone is not noticed",
     "cluster->seen != look_ &&", "!PLANTED && cluster->seen != look_ &&"),
    ("back-but-absent", "a ClusterProfile that comes back is removed",
     "absent_.erase(&cluster);\n  cluster.is_dup", "if (!PLANTED) absent_.erase(&cluster);\n  cluster.is_dup"),
    ("no-lease", "jobs begin although the Lease is lost", "may_write_ = false;", "may_write_ = PLANTED;"),
    ("old-scan", "what another process wrote meanwhile is not seen",
     "cluster->held.clear();", "if (!PLANTED || cluster->held.empty()) cluster->held.clear();"),
    ("no-limit", "more jobs at a time than `--parallel` says",
     "running_ < rules_.parallel", "(PLANTED || running_ < rules_.parallel)"),
    ("retries-first", "clusters that fail begin before those that do not",
     "ready_.empty() && may_retry", "(PLANTED || ready_.empty()) && may_retry"),
    ("retries-everywhere", "clusters that fail take all turns",
     "bool may_retry = ", "bool may_retry = PLANTED || "),
    ("two-owners", "two ClusterProfiles write the same target",
     "claim != claims_.end() && claim", "!PLANTED && claim != claims_.end() && claim"),
    ("kept-claim", "a target stays claimed by a ClusterProfile that is gone",
     "claim->second.erase(cluster.key);", "if (!PLANTED) claim->second.erase(cluster.key);"),
    ("late-change", "a change of the server is written at the next renewal",
     "if (held->mark.digest !=", "if (!PLANTED && held->mark.digest !="),
    ("old-object", "a ClusterProfile that was made again keeps its old Secret",
     "if (!held->mark.is_same_object", "if (!PLANTED && !held->mark.is_same_object"),
    ("lost-change", "after a change while the plugin runs, it runs with what was listed before",
     "cluster.mark.digest = std::move(", "if (!PLANTED || cluster.is_idle()) cluster.mark.digest = std::move("),
    ("not-written-again", "a target that somebody deleted is not written again",
     "    std::erase_if(cluster.held,", "    if (!PLANTED) std::erase_if(cluster.held,"),
    ("late-renewal", "a credential is renewed only when it has ended",
     "return renewal_of(lifetime,", "return PLANTED && lifetime.expires ? *lifetime.expires : renewal_of(lifetime,"),
    ("one-try", "after a failure, a plugin is never asked again",
     "    judge_failures(cluster, result, expires);\n",
     "    judge_failures(cluster, result, expires);\n    if (PLANTED) cluster.next_ask = kNever;\n"),
    ("no-pause", "a plugin that fails is asked again at once",
     ": next_attempt(++cluster.failures, expires, now_, share);",
     ": PLANTED ? now_ : next_attempt(++cluster.failures, expires, now_, share);"),
    ("pause-of-years", "after a leap of the clock, a pause lasts for years",
     "std::chrono::abs(moved.step) >= kClockLeap;", "!PLANTED && std::chrono::abs(moved.step) >= kClockLeap;"),
    ("future-issue", "a credential of a clock that was wrong is renewed late",
     "lifetime.issued > now + kClockStep", "!PLANTED && lifetime.issued > now + kClockStep"),
    ("paced-change", "a changed server waits for the pace of renewals after a failure",
     "(cluster.next_ask && is_due_at_once", "(!PLANTED && cluster.next_ask && is_due_at_once"),
    ("stale-refusal", "a refusal from before a change removes what is allowed now",
     "result.failures.end() && !is_changed;", "result.failures.end() && (PLANTED || !is_changed);"),
    ("half-renewed", "a target that a killed process did not renew is forgotten",
     "        (lifetime.expires && (!earliest", "        (!PLANTED && lifetime.expires && (!earliest"),
    ("lost-result", "what a job wrote before it failed is not known",
     "  cluster.held = std::move(ended", "  if (!PLANTED) cluster.held = std::move(ended"),
    ("runs-twice", "two jobs of one cluster run at a time",
     "cluster.is_idle() ? due_time", "PLANTED || cluster.is_idle() ? due_time"),
]


def with_switches(text):
    for number, (name, _, old, new) in enumerate(FAULTS):
        if text.count(old) != 1:
            sys.exit(f"the ledger does not have the text of {name} exactly once: {old!r}")
        text = text.replace(old, new.replace("PLANTED", f"simulation::is_planted({number})"))
    names = ", ".join(f'"{name}"' for name, *_ in FAULTS)
    text = text.replace('#include "ledger.hpp"', '#include "planted/planted.hpp"\n#include "sync/ledger.hpp"')
    return text + ("\nnamespace execcred::simulation {\n"
                   f"std::vector<std::string> planted_faults() {{ return {{{names}}}; }}\n"
                   "}\n")


def table():
    rows = "".join(f"| `{name}` | {what} |\n" for name, what, *_ in FAULTS)
    return "| planted fault | what it breaks |\n|---|---|\n" + rows


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "source":
        ledger, output = map(pathlib.Path, arguments)
        output.write_text(with_switches(ledger.read_text()))
    elif command == "table":
        print(table(), end="")
    elif command == "check":
        if table() not in pathlib.Path(arguments[0]).read_text():
            sys.exit(f"{arguments[0]} lacks the table that 'faults.py table' prints")
