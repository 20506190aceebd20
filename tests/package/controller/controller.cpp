// SPDX-License-Identifier: Apache-2.0
// What a controller does with libexeccred: its mapping file and ClusterProfiles in, a credential
// for each cluster out.
//
//   controller MAPPING PROFILES
//
// One line for each cluster: whose credential it got, and until when. The token is for the cluster
// alone, and not printed.
#include <execcred/base/rfc3339.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/kube/access.hpp>
#include <execcred/os/file.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using execcred::Error;
using execcred::Result;

Result<std::string> user_of(const execcred::Credential& credential) {
  TRY_ASSIGN(const auto claims, execcred::unverified_claims(credential.token));
  return claims ? claims->subject : std::string("(an opaque token)");
}

std::string end_of(const execcred::Credential& credential) {
  if (!credential.expires_at) return "an unknown time";
  return execcred::format_rfc3339(std::chrono::floor<std::chrono::seconds>(*credential.expires_at));
}

Result<std::string> connect(const execcred::ProviderMapping& mapping,
                            const execcred::ClusterProfile& profile) {
  TRY_ASSIGN(const execcred::Access access, execcred::resolve_access(mapping, profile));
  TRY_ASSIGN(const execcred::Credential credential,
             execcred::get_credential(access, execcred::Environment::copy()));
  TRY_ASSIGN(const std::string user, user_of(credential));
  return profile.full_name() + " at " + access.cluster.server + " by " + access.provider + ": " +
         user + " until " + end_of(credential);
}

Result<std::string> run(const std::string& mapping_path, const std::string& profiles_path) {
  TRY_ASSIGN(const std::string mapping_text,
             execcred::read_file(mapping_path, execcred::kMaxKubeconfig));
  TRY_ASSIGN(const execcred::ProviderMapping mapping,
             execcred::parse_provider_mapping(mapping_text));
  TRY_ASSIGN(const std::string profiles_text,
             execcred::read_untrusted_file(profiles_path, execcred::kMaxInventory));
  TRY_ASSIGN(const std::vector<execcred::ClusterProfile> profiles,
             execcred::parse_cluster_profiles(profiles_text));
  std::string lines;
  for (const execcred::ClusterProfile& profile : profiles) {
    TRY_ASSIGN(const std::string line, connect(mapping, profile));
    lines += line + "\n";
  }
  return lines;
}

int fail(const Error& error) {
  std::fputs(execcred::format_error("controller", error).c_str(), stderr);
  return execcred::exit_code(error.kind);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    return fail({.kind = Error::Kind::configuration,
                 .message = "two files are needed",
                 .hint = "controller MAPPING PROFILES"});
  }
  const Result<std::string> lines = run(argv[1], argv[2]);
  if (!lines) return fail(lines.error());
  std::fputs(lines->c_str(), stdout);
  return 0;
}
