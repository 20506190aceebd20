// SPDX-License-Identifier: Apache-2.0
// The programs' inputs (ExecCredentials, JWTs), and a strict parser of their output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace blackbox {

inline constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";
inline constexpr std::string_view kV1Beta1 = "client.authentication.k8s.io/v1beta1";

std::int64_t seconds_since_epoch();

std::string base64(std::string_view bytes);
// Unsigned: {"alg":"RS256"}, the claims, and an invalid signature.
std::string make_jwt(std::string_view claims);
// A JWT that expires so many seconds from now, for the audience "server" of an API server.
std::string jwt_for(std::int64_t seconds, std::string_view more_claims = "");

// As client-go writes it, with members of spec.cluster after the server.
std::string exec_info(std::string_view version, std::string_view server,
                      std::string_view more_members = "");
// Without cluster information.
std::string exec_info(std::string_view version);

// An answer by the rules: exactly one line of compact ASCII JSON, without absent members.
struct Answer {
  std::string problem;       // empty when every rule is kept
  std::string form_problem;  // rules that no client needs: the line and its members
  std::string version;
  std::string token;
  std::string certificate;
  std::string key;
  std::int64_t expiration = 0;  // seconds since the epoch; -1 where it is missing or malformed
};
Answer read_answer(std::string_view output);
// As a client reads it: any JSON document with a credential, in any form.
Answer read_any_answer(std::string_view output);

// Seconds since the epoch of YYYY-MM-DDTHH:MM:SSZ; -1 for anything else.
std::int64_t parse_timestamp(std::string_view text);

// The text of the member that the dotted path leads to ("a.b.0.c"), strings without quotes;
// "(missing)" or "(no JSON)".
std::string json_at(std::string_view text, std::string_view path);
bool is_same_json(std::string_view one, std::string_view other);
std::string json_string(std::string_view text);

// "VALUE ORIGIN" of an option ("--client-id") in the output of --show-config, or "(missing)".
std::string shown_setting(std::string_view shown, std::string_view option);

}  // namespace blackbox
