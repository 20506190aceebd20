// SPDX-License-Identifier: Apache-2.0
#include "entra_failure.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/json/json.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace execcred::azure {
namespace {

constexpr std::size_t kMaxReply = 1024 * 1024;
constexpr std::size_t kMaxDescription = 400;  // of it that is shown
constexpr std::size_t kMaxError = 60;

constexpr std::string_view kNoRecord =
    "the application needs a federated credential with the issuer, subject and audience of the "
    "federated token; a new one takes some minutes to be known everywhere";
constexpr std::string_view kClient =
    "check --client-id (AZURE_CLIENT_ID) and the tenant: the application must exist in it";
constexpr std::string_view kTenant = "check --tenant-id (AZURE_TENANT_ID) and --authority-host";
constexpr std::string_view kServer =
    "check --server-id, and that the tenant has that application: a tenant has that of AKS since "
    "its first cluster";
constexpr std::string_view kClock =
    "check that the kubelet still renews the federated token, and this machine's clock";
constexpr std::string_view kSigned =
    "check that the issuer of the federated token is reachable for Entra and serves the key that "
    "signed it";
constexpr std::string_view kPolicy = "a Conditional Access policy of the tenant forbids it";

// From Microsoft's list of error codes ("AADSTS error codes").
constexpr std::array<KnownFailure, 28> kCodes = {{
    {"50196", true, {}},  // a client that loops is told to wait
    {"90006", true, {}},  // ExternalServerRetryableError
    {"90012", true, {}},  // RequestTimeout
    {"90024", true, {}},  // RequestBudgetExceededError
    {"90033", true, {}},  // MsodsServiceUnavailable
    {"90055", true, {}},  // TenantThrottlingError
    {"70021", false, kNoRecord},
    {"700211", false, kNoRecord},
    {"700212", false, kNoRecord},
    {"700213", false, kNoRecord},
    {"700222", false,
     "the federated token comes from Entra itself, which does not accept it: name the projected "
     "token of the service account"},
    {"700016", false, kClient},
    {"70001", false, kClient},
    {"7000112", false, "the application is disabled in the tenant"},
    {"700021", false, kClient},
    {"700024", false, kClock, cause::kSourceExpired},
    {"700027", false, kSigned},
    {"50027", false, kSigned},
    {"90002", false, kTenant},
    {"900023", false, kTenant},
    {"900432", false, kTenant},
    {"500011", false, kServer},
    {"650057", false, kServer},
    {"1002012", false, "--server-id must be an application ID or its URI"},
    {"70011", false, "--server-id must be an application ID or its URI"},
    {"501051", false, "the server's application demands that this one is assigned to it"},
    {"53003", false, kPolicy},
    {"530004", false, kPolicy},
}};

// The text on one line; Entra puts the trace and correlation ids on lines of their own.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (!is_space(c)) {
      line.push_back(c);
    } else if (!line.empty() && line.back() != ' ') {
      line.push_back(' ');
    }
  }
  return line;
}

// Completes the failure by the code in the description, if there is one.
void add_code(const HttpResponse& reply, const json::Value& document, const std::string& server,
              Error& failure) {
  const std::string description = json::text_or_empty(document, "error_description");
  const std::string_view code = aadsts_code(description);
  if (code.empty()) return;
  failure.message = server + " answered " + std::to_string(reply.status) + " with the error '" +
                    shown_text(json::text_or_empty(document, "error"), kMaxError) +
                    "': " + shown_text(on_one_line(description), kMaxDescription);
  if (find_failure(kCodes, code) == nullptr) return;
  failure = known_failure(kCodes, code, reply.status, std::move(failure.message));
}

}  // namespace

std::string_view aadsts_code(std::string_view description) {
  constexpr std::string_view kPrefix = "AADSTS";
  for (std::size_t at = description.find(kPrefix); at != std::string_view::npos;
       at = description.find(kPrefix, at + 1)) {
    const std::string_view rest = description.substr(at + kPrefix.size());
    const auto* const end = std::find_if_not(rest.begin(), rest.end(), is_digit);
    if (end != rest.begin()) return rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  }
  return {};
}

std::optional<Error> entra_failure(const HttpResponse& reply, const std::string& server) {
  std::optional<Error> failure = oauth_failure(reply, server);
  if (!failure) return failure;
  const Result<json::SecretValue> document =
      json::parse_secret(reply.body.reveal(), {.bytes = kMaxReply});
  if (document) add_code(reply, **document, server, *failure);
  return failure;
}

Verdict judge_entra_reply(const HttpResponse& reply, const std::string& server) {
  std::optional<Error> failure = entra_failure(reply, server);
  return failure ? judge_failure(*std::move(failure), reply) : Verdict::accept();
}

}  // namespace execcred::azure
