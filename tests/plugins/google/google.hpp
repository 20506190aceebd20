// SPDX-License-Identifier: Apache-2.0
// Runs execcred-google as clients do, against endpoints of the case in place of Google's.
#pragma once

#include "cloud.hpp"
#include "support/plugin_rig.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::test {

inline constexpr const char* kProvider =
    "projects/123456/locations/global/workloadIdentityPools/pool-1/providers/hub";
inline constexpr const char* kAudience =
    "//iam.googleapis.com/projects/123456/locations/global/workloadIdentityPools/pool-1/providers/"
    "hub";
inline constexpr const char* kCloudPlatform = "https://www.googleapis.com/auth/cloud-platform";
inline constexpr const char* kEmailScope = "https://www.googleapis.com/auth/userinfo.email";
inline constexpr const char* kIamScope = "https://www.googleapis.com/auth/iam";
inline constexpr const char* kBothScopes =
    "https://www.googleapis.com/auth/cloud-platform "
    "https://www.googleapis.com/auth/userinfo.email";

// A JSON object: names, and values that are JSON already.
using Members = std::vector<std::pair<std::string, std::string>>;
std::string object(const Members& members);
// The members with one of them replaced or added, or without it if the value is empty.
Members with(Members members, const std::string& name, const std::string& value);
// A JSON string.
std::string text(std::string_view value);

struct Ask {
  std::string credentials = {};  // the content of --credentials-file; empty: no such argument
  Texts arguments = {};
  Texts variables = {};
  std::string server = kSpoke;  // empty: no document from the client
  std::string config = {};      // spec.cluster.config
  std::string_view version = blackbox::kV1;
  bool has_cache = true;
  bool has_trust = true;  // --ca-file
  milliseconds patience = blackbox::kPatience;
};

class Google : public PluginRig<Ask> {
 public:
  Google();

  blackbox::Command command(const Ask& ask) const override;

  // external_account credentials with the subject token's file.
  Members file_account() const;
  // The key file of a service account, and the file that gcloud writes after a login.
  static Members service_account(const std::string& email = kAccount);
  Members user() const;

  Cloud cloud;
  std::string subject;       // a JWT
  std::string subject_path;  // its file, with a line break at its end
  std::string ca_path;
  std::string home;
  std::string client_secret;
  std::string refresh_token;
};

// Whether the claimed lifetime is about the one for a credential that ends in so many seconds.
bool is_claimed(const Outcome& outcome, std::int64_t seconds);

// The form fields of the request, decoded as "name=value", in the order of the request.
Texts fields_in_order(const Received& request);

// A JWT that no message may show.
std::string new_subject(std::int64_t seconds = 3600, const std::string& subject = "worker");

}  // namespace execcred::test
