// SPDX-License-Identifier: Apache-2.0
// Why something failed, in words that let the reader act.
//
// An error is one line (what went wrong), its context (what was being done, innermost first) and
// its remedy. Its kind decides the exit code, which is an API: controllers act on it. An error
// never holds a secret; text that comes from an input goes through in_quotes() first.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {

struct Error {
  enum class Kind {
    no_credential,  // exit 1: found unusable, expired, refused by a rule or by the other side
    configuration,  // exit 2: a flag, variable, mapping, path or input document is wrong
    unavailable,    // exit 3: time-out, network, provider down; trying again may work
    internal,       // exit 70: a defect, or nowhere to write the answer
  };

  Kind kind = Kind::internal;
  std::string message = {};
  std::vector<std::string> context = {};  // innermost first, each printed after "while "
  std::string hint = {};
  bool is_transient = false;  // the same attempt may succeed moments later
  // A fault of this machine or process: the provider was not asked, or its answer was lost. No
  // cache remembers it.
  bool is_local = false;
  // A rule refuses what the ClusterProfile asks for: by_rule() and without_permission() set it.
  bool is_by_rule = false;
  // An id of docs/causes.md, in static storage. Empty: cause_of() derives it from the kind.
  std::string_view cause = {};

  // Errors of a kind, for `return`.
  static Error no_credential(std::string message, std::string hint = {}) {
    return of(Kind::no_credential, std::move(message), std::move(hint));
  }
  static Error configuration(std::string message, std::string hint = {}) {
    return of(Kind::configuration, std::move(message), std::move(hint));
  }
  static Error unavailable(std::string message, std::string hint = {}) {
    return of(Kind::unavailable, std::move(message), std::move(hint));
  }
  static Error internal(std::string message, std::string hint = {}) {
    return of(Kind::internal, std::move(message), std::move(hint));
  }

  // The refusal (no_credential) by a rule about the ClusterProfile's content. `execcred sync` then
  // removes what it wrote for that ClusterProfile, so no fault of a file, of this machine or of a
  // provider may be the reason.
  static Error by_rule(std::string_view cause, std::string message, std::string hint = {}) {
    return {.kind = Kind::no_credential,
            .message = std::move(message),
            .hint = std::move(hint),
            .is_by_rule = true,
            .cause = cause};
  }

  // The same for what a ClusterProfile may not set, because the mapping has no permission for it:
  // the controller's configuration decides, so its kind is configuration.
  static Error without_permission(std::string message, std::string hint) {
    return {.kind = Kind::configuration,
            .message = std::move(message),
            .hint = std::move(hint),
            .is_by_rule = true};
  }

 private:
  static Error of(Kind kind, std::string message, std::string hint) {
    return {.kind = kind, .message = std::move(message), .hint = std::move(hint)};
  }
};

int exit_code(Error::Kind kind);

// The inverse of exit_code for execcred's codes; any other code, perhaps of another plugin, means
// no credential.
Error::Kind kind_of_exit_code(int code);

// The system's text for an errno value, such as "No such file or directory".
std::string system_message(int error_number);

// Whether the errno value of a call on a socket is about the network or the other side. False for a
// fault of this machine, such as a lack of memory or of descriptors.
bool is_network_failure(int error_number);

// The text for stderr, "PROGRAM: error: …" with its context and hint, each on a line of its own,
// ending in a newline. Control bytes are escaped and the whole is shorter than 4 KiB, because some
// clients read stderr late or into a small buffer. `severity` may be another word, such as
// "warning".
std::string format_error(std::string_view program, const Error& error,
                         std::string_view severity = "error");

}  // namespace execcred
