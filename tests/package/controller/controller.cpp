// SPDX-License-Identifier: Apache-2.0
// What a controller does with libexeccred: its mapping file and ClusterProfiles in, a credential
// for each cluster out.
//
//   controller MAPPING PROFILES
//
// One line for each cluster: its server, the provider, and when the credential ends. The credential
// is for the cluster alone, and not printed.
#include <execcred/base/error.hpp>
#include <execcred/kube/credential_source.hpp>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

namespace {

using execcred::Error;
using execcred::Result;

std::string end_of(const execcred::Credential& credential) {
  if (!credential.expires_at) return "an unknown time";
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(*credential.expires_at).time_since_epoch().count();
  std::tm time = {};
  std::string text(sizeof "2026-01-01T00:00:00Z", '\0');
  gmtime_r(&seconds, &time);
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &time));
  return text;
}

Result<std::string> connect(const execcred::ProviderMapping& mapping,
                            const execcred::ClusterProfile& profile) {
  const Result<execcred::Access> access = execcred::resolve_access(mapping, profile);
  if (!access) return access.error();
  execcred::CredentialSource source(*access, execcred::Environment::copy());
  const Result<std::shared_ptr<const execcred::Credential>> credential = source.get();
  if (!credential) return credential.error();
  return profile.full_name() + " at " + access->cluster.server + " by " + access->provider +
         " until " + end_of(**credential);
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
  const Result<execcred::ProviderMapping> mapping = execcred::load_mapping(argv[1]);
  if (!mapping) return fail(mapping.error());
  const Result<execcred::LoadedProfiles> loaded = execcred::load_profiles(argv[2]);
  if (!loaded) return fail(loaded.error());
  int status = 0;
  for (const Error& problem : loaded->problems) status = fail(problem);
  for (const execcred::ClusterProfile& profile : loaded->profiles) {
    const Result<std::string> line = connect(*mapping, profile);
    if (line) {
      std::puts(line->c_str());
    } else {
      status = fail(line.error());
    }
  }
  return status;
}
