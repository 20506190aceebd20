#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Removes the security controls from the source, one at a time, and runs the tests that
must then fail.

    controls.py SOURCE BUILD [WORD...]
    controls.py --lines SOURCE

SOURCE is a copy of the project, which this program changes, and BUILD its build directory. WORDs
choose the controls whose names contain one of them. Ends with a line "N passed, N failed": a
control passes if a test fails without it, and the same tests pass with it. With --lines, only says
which controls' lines the source does not have.
"""
import pathlib
import re
import subprocess
import sys

BUILD_LIMIT, TEST_LIMIT = 3600, 300  # seconds
# Test programs that run no programs except their own targets.
ALONE = {"unit", "http", "oauth", "cache", "hub", "x509", "spiffe-library"}
CASES = re.compile(r"test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed")


class Control:
    """`tests` is a test program and a pattern of its cases. `old` is in `file` exactly once, and
    `new` replaces it by code without the control. `also` has more such edits, of other code that
    refuses the same."""

    def __init__(self, name, file, old, new, tests, also=()):
        self.name = name
        self.edits = [(file, old, new), *also]
        self.tests = tests


CONTROLS = [
    # Inputs
    Control("JSON: keys that stand twice", "libexeccred/execcred/json/json_parse.cpp",
            "if (have_distinct_hashes(names)) return true;",
            "if (have_distinct_hashes(names) || true) return true;", ("unit", "json: *")),
    Control("JSON: depth", "libexeccred/execcred/json/json_parse.cpp",
            "open_.size() == limits_.depth", "open_.size() == 100000", ("unit", "json: *")),
    Control("YAML: depth", "libexeccred/execcred/yaml/yaml.cpp",
            "if (open_.size() >= limits_.depth)", "if (open_.size() >= 100000)", ("unit", "yaml: nesting*")),
    Control("YAML: aliases", "libexeccred/execcred/yaml/yaml.cpp",
            "if (progress_.alias_nodes > limits_.alias_nodes) {",
            "if (progress_.alias_nodes > 10 * limits_.alias_nodes) {",
            ("unit", "yaml: aliases cannot make*")),
    Control("files: an owner that is not trusted", "libexeccred/execcred/os/file_walk.cpp",
            "return owner == 0 || owner == geteuid();", "return owner != 0 || owner == 0;",
            ("unit", "read_secret_file: *")),
    Control("files: writable by others", "libexeccred/execcred/os/file_walk.cpp",
            "return (mode & (S_IWGRP | S_IWOTH)) != 0;", "return (mode & S_ISVTX) == mode;",
            ("unit", "read_secret*")),
    Control("files: a link out of its directory", "libexeccred/execcred/os/file_walk.cpp",
            "if (name == \"..\" && is_confined_ && depth_ == 0)",
            "if (name == \"..\" && is_confined_ && depth_ > 1000)", ("unit", "*last name*")),
    # Outputs
    Control("errors: what the call sent", "libexeccred/execcred/exec/provider.cpp",
            "return call.outcome->secrets.redacted(plan.ask(call));", "return plan.ask(call);",
            ("plans", "plan: no error and no step*")),
    Control("--debug: what the call sent", "libexeccred/execcred/http/retry.cpp",
            "if (verdict.error) verdict.error =", "if (verdict.error && reply->status < 0) verdict.error =",
            ("plans", "plan: no error and no step*")),
    Control("a watch's error: what the client sent", "libexeccred/execcred/hub/watch.cpp",
            "state.error = watch_.hub_.redacted(error);", "state.error = error;",
            ("hub", "hub watch: after an invalid line*")),
    Control("token: bytes that no header may hold", "libexeccred/execcred/exec/bearer_token.cpp",
            "if (is_visible_ascii(text)) {", "if (is_visible_ascii(text) || true) {",
            ("unit", "bearer_token: *")),
    Control("ExecCredential of another plugin: its token's bytes",
            "libexeccred/execcred/exec/exec_credential.cpp",
            "if (!credential.token.empty() && !is_visible_ascii(credential.token.reveal()))",
            "if (credential.token.empty() && !is_visible_ascii(credential.token.reveal()))",
            ("cli", "an answer that is no complete*")),
    Control("standard output that was closed", "libexeccred/execcred/os/process_setup.cpp",
            "if (is_closed) return cannot_write(\"it is closed\");\n"
            "  if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) != 0) {",
            "if (!is_closed && ((flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) != 0)) {",
            ("conformance", "with a closed stdout*")),
    Control("a core dump of a plugin", "libexeccred/execcred/os/process_setup.cpp",
            "prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);", "prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);",
            ("conformance", "other processes*")),
    Control("a reader that goes away", "libexeccred/execcred/os/process_setup.cpp",
            "set_disposition(SIGPIPE, SIG_IGN);", "set_disposition(SIGPIPE, SIG_DFL);",
            ("conformance", "a reader that is gone*")),
    Control("files that may not grow", "libexeccred/execcred/os/process_setup.cpp",
            "set_disposition(SIGXFSZ, SIG_IGN);", "set_disposition(SIGXFSZ, SIG_DFL);",
            ("conformance", "a stdout in a file*")),
    # Servers for which a credential may be used
    Control("--allow-server", "libexeccred/execcred/exec/access_rules.cpp",
            "if (rules.allow_server.empty() || matches_any(rules.allow_server, *url)) return {};",
            "if (rules.allow_server.size() < 99 || matches_any(rules.allow_server, *url)) return {};",
            ("unit", "check_cluster: *")),
    Control("--allow-proxy", "libexeccred/execcred/exec/access_rules.cpp",
            "if (cluster.proxy_url.empty()) return {};",
            "if (cluster.proxy_url.size() < 9999) return {};", ("unit", "check_cluster: *")),
    Control("a server that is not verified", "libexeccred/execcred/exec/access_rules.cpp",
            "if (!cluster.insecure_skip_tls_verify) return {};",
            "if (cluster.server.size() < 9999) return {};", ("unit", "check_cluster: *")),
    Control("a connection that only a name binds", "libexeccred/execcred/exec/plugin_main.cpp",
            "is_named ? binding.text : \"\"", "!is_named ? \"\" : \"\"", ("cli", "a server's name alone*")),
    Control("--server-ca-file", "libexeccred/execcred/exec/access_rules.cpp",
            "== pinned->end()) {", "!= given->end() - 1 && false) {",
            ("unit", "check_cluster: *")),
    Control("--server-ca-file: tls-server-name", "libexeccred/execcred/exec/access_rules.cpp",
            "if (is_same_verified_host(cluster.server, cluster.tls_server_name, \"\")) return {};",
            "if (cluster.server.size() < 9999) return {};", ("unit", "check_cluster: *")),
    Control("a server that is not https", "libexeccred/execcred/exec/access_rules.cpp",
            "if (!has_other) {", "if (!has_other || server.size() < 9999) {", ("unit", "check_cluster: *")),
    Control("--allow-audience", "libexeccred/execcred/exec/access_rules.cpp",
            "if (is_allowed) return {};", "if (is_allowed || !server.empty()) return {};",
            ("unit", "check_audience: *")),
    Control("--allow-tenant", "plugins/azure/tenant.cpp",
            "if (!is_allowed) return refused(", "if (!is_allowed && profiles.empty()) return refused(",
            ("azure", "a ClusterProfile's tenant that differs*")),
    Control("choices of a ClusterProfile", "libexeccred/execcred/exec/profile_choice.cpp",
            "if (!is_allowed) return no_match(", "if (!is_allowed && value.empty()) return no_match(",
            ("oidc-federation", "choice: *")),
    Control("choices: what a prefix leaves open", "libexeccred/execcred/exec/profile_choice.cpp",
            "value.starts_with(prefix) && is_plain(value.substr(prefix.size())) &&",
            "value.starts_with(prefix) || is_plain(value.substr(prefix.size())) ||",
            ("oidc-federation", "choice: *")),
    # Stored credentials
    Control("Secrets of another namespace", "plugins/static-secret/plan.cpp",
            "if (is_literal || name == own) return {};",
            "if (is_literal || name == own || own != name) return {};",
            ("static-secret", "defence 1*")),
    Control("a credential stored for another server", "plugins/static-secret/binding.cpp",
            "if (is_same_server(stored.server, cluster.server)) {",
            "if (is_same_server(stored.server, cluster.server) || true) {",
            ("static-secret", "defence 3*")),
    Control("a token where the server is not verified", "plugins/static-secret/binding.cpp",
            "if (!is_insecure || options.allow_insecure || stored.credential.token.empty()) return {};",
            "if (!is_insecure || !options.allow_insecure || stored.credential.token.empty()) return {};",
            ("static-secret", "defence 4*")),
    Control("a token of the hub itself", "plugins/static-secret/binding.cpp",
            "if (!is_of_hub) return {};", "if (!is_of_hub || true) return {};",
            ("static-secret", "defence 5*")),
    Control("a hub whose tokens nothing shows", "plugins/static-secret/binding.cpp",
            "(!a || !is_service_account(*a))) return Issuer::unknown;",
            "(!a || !is_service_account(*a))) return Issuer::another;", ("static-secret", "defence 5*")),
    Control("another CA than the stored one", "plugins/static-secret/binding.cpp",
            "if (std::includes(wanted->begin(), wanted->end(), given.begin(), given.end())) return {};",
            "if (wanted->size() < 9999) return {};", ("static-secret", "defence 7*")),
    # The network
    Control("a redirect", "libexeccred/execcred/http/client.cpp",
            "options.set(CURLOPT_FOLLOWLOCATION, 0);", "options.set(CURLOPT_FOLLOWLOCATION, 1);",
            ("http", "http: no redirect*")),
    Control("plain http", "libexeccred/execcred/http/request.cpp",
            "(is_plain && request.allow_plain_http)", "is_plain", ("http", "*plain http*"),
            also=[("libexeccred/execcred/http/client.cpp",
                   "request.allow_plain_http ? \"http,https\" : \"https\"", "\"http,https\"")]),
    Control("a proxy that the environment names", "libexeccred/execcred/http/client.cpp",
            "options.set(CURLOPT_PROXY, \"\");", "options.set(CURLOPT_PROXY, nullptr);",
            ("http", "http: the environment's*")),
    Control("passwords of a netrc file", "libexeccred/execcred/http/client.cpp",
            "options.set(CURLOPT_FOLLOWLOCATION, 0);",
            "options.set(CURLOPT_FOLLOWLOCATION, 0);\n"
            "  options.set(CURLOPT_NETRC, long{CURL_NETRC_OPTIONAL});",
            ("http", "http: a netrc file*")),
    Control("Retry-After", "libexeccred/execcred/cache/policy.cpp",
            "window = std::max(window, retry_after.value_or(Duration::zero()));",
            "window = std::max(window, retry_after.value_or(Duration::zero()) * 0);",
            ("cache", "next_failure: Retry-After*")),
    Control("TLS: a certificate's issuer", "libexeccred/execcred/http/tls.cpp",
            "SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, on_verify);",
            "SSL_CTX_set_verify(&context, SSL_VERIFY_NONE, on_verify);", ("http", "tls: *"),
            also=[("libexeccred/execcred/http/client.cpp",
                   "CURLOPT_PROXY_SSL_VERIFYPEER}) {\n    options.set(option, 1);",
                   "CURLOPT_PROXY_SSL_VERIFYPEER}) {\n    options.set(option, 0);")]),
    Control("TLS: a common name", "libexeccred/execcred/http/tls.cpp",
            "X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS",
            "X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS", ("http", "tls: *")),
    Control("TLS: partial wildcards", "libexeccred/execcred/http/tls.cpp",
            "X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS",
            "X509_CHECK_FLAG_NEVER_CHECK_SUBJECT", ("http", "tls: *"),
            also=[("libexeccred/execcred/http/client.cpp",
                   "CURLOPT_PROXY_SSL_VERIFYHOST}) {\n    options.set(option, 2);",
                   "CURLOPT_PROXY_SSL_VERIFYHOST}) {\n    options.set(option, 0);")]),
    Control("TLS: versions before 1.2", "libexeccred/execcred/http/tls.cpp",
            "SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION)",
            "SSL_CTX_set_min_proto_version(&context, TLS1_VERSION)", ("http", "tls: *"),
            also=[("libexeccred/execcred/http/tls.cpp", "SSL_CTX_set_security_level(&context, kSecurityLevel)",
                   "SSL_CTX_set_security_level(&context, kSecurityLevel * 0)")]),
    Control("the size of a reply", "libexeccred/execcred/http/reply.cpp",
            "if (bytes.size() > max_body_ - response_.body.size())",
            "if (bytes.size() > 100 * max_body_ - response_.body.size())", ("http", "http: *")),
    Control("the size of a reply's head", "libexeccred/execcred/http/reply.cpp",
            "if (head_size_ > kMaxHead)", "if (head_size_ > 1000 * kMaxHead)",
            ("http", "http: endless headers*")),
    Control("a second request with a token that is spent", "libexeccred/execcred/http/retry.cpp",
            "verdict.next == Verdict::Next::retry && !is_spent",
            "verdict.next == Verdict::Next::retry", ("http", "send_with_retries: *")),
    Control("a token that is bound to a key", "libexeccred/execcred/oauth/token_reply.cpp",
            "if (lower.empty() || lower == \"bearer\" || lower == \"n_a\") return {};",
            "if (lower.size() < 9999) return {};", ("oauth", "token reply: *")),
    # The cache
    Control("cache: another user's file", "libexeccred/execcred/cache/directory.cpp",
            "return S_ISREG(status.st_mode) && status.st_uid == geteuid() &&",
            "return S_ISREG(status.st_mode) &&", ("cache", "an entry that is not as we write it*")),
    Control("cache: a file that others may read", "libexeccred/execcred/cache/directory.cpp",
            "(status.st_mode & (S_IRWXG | S_IRWXO)) == 0 && status.st_nlink == 1",
            "status.st_nlink == 1", ("cache", "an entry that is not as we write it*")),
    Control("cache: a file of two names", "libexeccred/execcred/cache/directory.cpp",
            "(status.st_mode & (S_IRWXG | S_IRWXO)) == 0 && status.st_nlink == 1",
            "(status.st_mode & (S_IRWXG | S_IRWXO)) == 0",
            ("cache", "an entry that is not as we write it*")),
    Control("cache: a link in a file's place", "libexeccred/execcred/cache/directory.cpp",
            "constexpr int kFileFlags = O_NOFOLLOW | O_NONBLOCK",
            "constexpr int kFileFlags = O_NONBLOCK",
            ("cache", "an entry that is not as we write it*")),
    Control("cache: a directory that others may open", "libexeccred/execcred/cache/location.cpp",
            "if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {",
            "if ((status.st_mode & S_ISVTX) != 0) {",
            ("cache", "the directory: *")),
    Control("cache: an entry of another key", "libexeccred/execcred/cache/run.cpp",
            "if (!entry || entry->key != key_) return std::nullopt;",
            "if (!entry) return std::nullopt;", ("cache", "an entry under*")),
    Control("cache: an entry from the future", "libexeccred/execcred/cache/policy.cpp",
            "return created > now + kSlack;", "return created > now + kSlack * 1000000000;",
            ("cache", "*ten years off*")),
    Control("cache: an entry that has ended", "libexeccred/execcred/cache/policy.cpp",
            "if (is_from_future(entry.created, now) || entry.expires <= now) return false;",
            "if (is_from_future(entry.created, now)) return false;", ("cache", "*ten years off*")),
    Control("cache: a lifetime that nothing has", "libexeccred/execcred/cache/policy.cpp",
            "return entry.expires - entry.created <= times.longest_lifetime;",
            "return entry.expires > entry.created || times.longest_lifetime.count() == 0;",
            ("cache", "is_valid*")),
    Control("cache: a failure is remembered", "libexeccred/execcred/cache/run.cpp",
            "if (is_ours || error.is_local) return std::nullopt;",
            "if (is_ours || !error.is_local) return std::nullopt;",
            ("cache", "a storm on a failing*")),
    Control("cache: single flight", "libexeccred/execcred/cache/run.cpp",
            "if (attempt == CacheLock::Attempt::locked) return Acquired::locked;",
            "if (attempt != CacheLock::Attempt::impossible) return Acquired::locked;",
            ("cache", "a storm on a cold*")),
    Control("cache: another look with the lock", "libexeccred/execcred/cache/run.cpp",
            "if (attempt != CacheLock::Attempt::busy && has_news()) {",
            "if (attempt == CacheLock::Attempt::impossible && has_news()) {",
            ("cache", "lock: two runs*")),
    Control("cache: an entry is renamed into place", "libexeccred/execcred/cache/directory.cpp",
            "const std::string made = new_name(name);",
            "const std::string made = new_name(name).empty() ? std::string() : name;",
            ("cache", "killed at any*"),
            also=[("libexeccred/execcred/cache/directory.cpp",
                   "made.c_str(), O_WRONLY | O_CREAT | O_EXCL | kFileFlags",
                   "made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | kFileFlags")]),
    Control("cache: a lock's file that has lost its name", "libexeccred/execcred/cache/lock.cpp",
            "if (has_name()) return Attempt::locked;",
            "if (has_name() || true) return Attempt::locked;", ("cache", "lock: *")),
    Control("cache: a credential that was revoked", "libexeccred/execcred/cache/run.cpp",
            "if (is_asked_again && is_suspect(", "if (!is_asked_again && is_suspect(",
            ("cache", "a client that asks again*")),
    # Processes
    Control("descriptors of the controller", "libexeccred/execcred/os/process.cpp",
            "close_above(plan.report < 0 ? STDERR_FILENO : kReportDescriptor);", "close_above(100000);",
            ("unit", "run_command: *")),
    Control("a report into a standard stream", "libexeccred/execcred/exec/run_record.cpp",
            "other.st_ino == status.st_ino) return;", "false) return;", ("doctor", "report: only a pipe*")),
    Control("the deadline", "libexeccred/execcred/os/deadline.cpp",
            "  setitimer(ITIMER_REAL, &timer, nullptr);", "  static_cast<void>(timer);",
            ("conformance", "a stdout that blocks ends*")),
    Control("the environment that libraries would read", "libexeccred/execcred/base/environment.cpp",
            "  environ = nothing;", "  static_cast<void>(nothing);",
            ("oidc-federation", "SSLKEYLOGFILE*")),
    Control("a command ends with the plugin", "libexeccred/execcred/os/process.cpp",
            "prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);", "prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);",
            ("unit", "run_command: *")),
    Control("a plugin ends with its parent", "libexeccred/execcred/os/process_setup.cpp",
            "prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0);", "prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);",
            ("conformance", "it ends with its parent*")),
    # Credentials that a cluster issues
    Control("bootstrap: a token of another account", "plugins/bootstrap/token_request.cpp",
            "if (token.claims.subject != subject) {",
            "if (token.claims.subject != subject && subject.empty()) {", ("bootstrap", "token: *")),
    Control("bootstrap: a certificate of another key", "libexeccred/execcred/x509/issued_certificate.cpp",
            "if (!is_of_key) return", "if (!is_of_key && subject.common_name.empty()) return",
            ("x509", "check_issued*")),
    Control("bootstrap: a certificate of another subject", "libexeccred/execcred/x509/issued_certificate.cpp",
            "if (!has_subject(leaf, subject)) {",
            "if (!has_subject(leaf, subject) && subject.common_name.empty()) {",
            ("x509", "check_issued*")),
    Control("bootstrap: a request that is another's", "plugins/bootstrap/signing_request.cpp",
            "return request == pending.request &&",
            "return (request == pending.request || request.has_value()) &&",
            ("bootstrap", "csr: another's*")),
    # SPIFFE
    Control("SPIFFE: a JWT-SVID of another audience", "libexeccred/execcred/spiffe/jwt_svid.cpp",
            "if (of_token.contains(audience)) continue;",
            "if (!audience.empty() || of_token.contains(audience)) continue;",
            ("spiffe-library", "check_jwt_svid: *")),
    Control("SPIFFE: a CA's key", "libexeccred/execcred/spiffe/x509_svid.cpp",
            "if (is_ca)\n    return", "if (is_ca && false)\n    return",
            ("spiffe-library", "check_x509_svid: *")),
    # execcred sync
    Control("sync: another's folder or Secret", "cli/sync/secret_target.cpp",
            "if (!mark || !mark->is_of(held.mark)) return foreign(mark);",
            "if (mark && !mark->is_of(held.mark)) return foreign(mark);", ("sync", "a Secret of somebody else*")),
    Control("sync: a mapping without providers removes", "cli/sync/ledger.hpp",
            "return count == 0 || !has_providers;", "return count == 0;",
            ("sync", "sync: a mapping *")),
    Control("sync: a mapping with a wrong entry removes", "cli/sync/ledger.hpp",
            "return rules_.prunes && may_remove_ && is_mapping_valid_;",
            "return rules_.prunes && may_remove_;",
            ("sync", "sync: a mapping *")),
    Control("sync: writing without the Lease", "cli/sync/driver.cpp",
            "return !parts_.stop.is_requested() && (parts_.lease == nullptr || parts_.lease->holds());",
            "return !parts_.stop.is_requested();",
            ("sync", "sync --lease: *")),
    # execcred grant
    Control("grant: a group of system: is bound", "cli/grant/catalogue.cpp",
            'if (!group.starts_with("system:")) subjects', 'if (!group.empty()) subjects',
            ("grant", "catalogue: the user alone*")),
    Control("grant: a name that ends a comment", "cli/grant/identity.cpp",
            "if (text == printable(text)) continue;", "if (!text.empty()) continue;",
            ("grant", "*")),
    Control("grant: --check of a server that is not verified", "cli/grant.cpp",
            "if (is_refused) code = 1;", "if (is_refused && items.empty()) code = 1;",
            ("grant", "grant: --check is 1*")),
    # Messages for people
    Control("control characters in an error", "libexeccred/execcred/base/text.cpp",
            "if (c.length > 0 && is_safe_to_show(c.value)) {",
            "if (c.length > 0 && (is_safe_to_show(c.value) || c.value < 0x20)) {",
            ("unit", "format_error: *")),
    Control("HTML of a report", "cli/doctor/output_html.cpp",
            "safe += \"&lt;\";", "safe += '<';",
            ("doctor", "doctor: the page loads nothing*")),
]


class Failed(Exception):
    pass


def text_with(source, file, line):
    text = (source / file).read_text()
    if text.count(line) != 1:
        raise Failed(f"{file} has its line {text.count(line)} times")
    return text


class Copy:
    def __init__(self, source, build):
        self.source = pathlib.Path(source)
        self.build = pathlib.Path(build)

    def make(self, programs):
        made = subprocess.run(
            ["ninja", "-C", self.build, *(f"bin-test/{program}" for program in programs),
             *([] if ALONE.issuperset(programs) else ["programs"])],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=BUILD_LIMIT, check=False)
        if made.returncode != 0:
            raise Failed("it does not compile: " + made.stdout[-1500:])

    def failing_cases(self, tests):
        """The number of selected cases that fail."""
        program, pattern = tests
        try:
            ended = subprocess.run(
                [self.build / "bin-test" / program, f"--test-case={pattern}"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=TEST_LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return 1  # ctest also counts it as a failure
        counted = CASES.search(ended.stdout.decode(errors="replace"))
        if counted and int(counted[1]) == 0:
            raise Failed(f"no case of {program} is named {pattern}")
        if not counted:
            return 1
        return int(counted[3])

    def check_removed(self, control):
        before = {}
        try:
            for file, old, new in control.edits:
                path = self.source / file
                text = text_with(self.source, file, old)
                before.setdefault(path, text)
                path.write_text(text.replace(old, new))
            self.make([control.tests[0]])
            if self.failing_cases(control.tests) == 0:
                raise Failed(f"no test of {control.tests[0]} '{control.tests[1]}' misses it")
        finally:
            for path, text in before.items():
                path.write_text(text)


def problems_of(copy, all_tests):
    """What is wrong with tests although all controls are there."""
    copy.make(sorted({program for program, _ in all_tests}))
    problems = {}
    for tests in all_tests:
        try:
            if copy.failing_cases(tests) != 0:
                problems[tests] = "{} '{}' fails with the control, too".format(*tests)
        except Failed as problem:
            problems[tests] = str(problem)
    return problems


def check(copy, control, problems):
    try:
        if control.tests in problems:
            raise Failed(problems[control.tests])
        copy.check_removed(control)
    except (Failed, subprocess.TimeoutExpired) as problem:
        print(f"not ok {control.name}\n    # {problem}", flush=True)
        return False
    print(f"ok {control.name}", flush=True)
    return True


def check_lines(source):
    problems = 0
    for control in CONTROLS:
        for file, old, _ in control.edits:
            try:
                text_with(pathlib.Path(source), file, old)
            except Failed as problem:
                problems += 1
                print(f"{control.name}: {problem}")
    return 1 if problems else 0


def main(source, build, *words):
    if source == "--lines":
        return check_lines(build)
    copy = Copy(source, build)
    chosen = [control for control in CONTROLS
              if not words or any(word in control.name for word in words)]
    problems = problems_of(copy, {control.tests for control in chosen})
    passed = sum(check(copy, control, problems) for control in chosen)
    print(f"\n{passed} passed, {len(chosen) - passed} failed")
    return 0 if passed == len(chosen) and chosen else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
