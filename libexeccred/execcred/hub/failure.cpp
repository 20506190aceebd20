// SPDX-License-Identifier: Apache-2.0
#include <execcred/hub/failure.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/json/json_reader.hpp>

#include <array>
#include <optional>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxShown = 500;  // of what the hub says

// The members of a metav1.Status that messages need.
struct HubStatus {
  std::string message = {};
  std::string reason = {};
  std::optional<std::string> name = {};  // details.name; nullopt without details
};

HubStatus status_of(const HttpResponse& response) {
  HubStatus status;
  const Result<json::SecretValue> reply = json::parse_secret(response.body.reveal());
  if (!reply || json::text_or_empty(**reply, "kind") != "Status") return status;
  status.message = json::text_or_empty(**reply, "message");
  status.reason = json::text_or_empty(**reply, "reason");
  if (const json::Value* details = (*reply)->find("details")) {
    status.name = json::text_or_empty(details->find("name"));
  }
  return status;
}

// The details of a resource that the server does not serve name no object.
bool is_absent(int code, const HubStatus& status, const HubResource& resource) {
  if (code != 404 || status.reason != "NotFound") return false;
  return status.name ? *status.name == resource.name : !resource.name.empty();
}

struct ReasonPhrase {
  int status;
  std::string_view phrase;
};
constexpr std::array<ReasonPhrase, 13> kReasonPhrases = {{{400, "Bad Request"},
                                                          {401, "Unauthorized"},
                                                          {403, "Forbidden"},
                                                          {404, "Not Found"},
                                                          {405, "Method Not Allowed"},
                                                          {406, "Not Acceptable"},
                                                          {409, "Conflict"},
                                                          {410, "Gone"},
                                                          {429, "Too Many Requests"},
                                                          {500, "Internal Server Error"},
                                                          {502, "Bad Gateway"},
                                                          {503, "Service Unavailable"},
                                                          {504, "Gateway Timeout"}}};

std::string with_reason(int status) {
  for (const ReasonPhrase& known : kReasonPhrases) {
    if (known.status == status) return std::to_string(status) + " " + std::string(known.phrase);
  }
  return std::to_string(status);
}

// The RBAC rule that would allow the refused request.
std::string missing_rule(const HubResource& resource, std::string_view verb) {
  const bool is_everywhere = resource.name_space.empty();
  std::string rule = is_everywhere ? "it needs verbs [" : "it needs a Role with verbs [";
  rule += std::string(verb) + "] on resources [" + full_name(resource) + "]";
  if (!resource.group.empty()) rule += " of apiGroups [" + resource.group + "]";
  if (!resource.name.empty()) rule += ", resourceNames [" + resource.name + "]";
  if (is_everywhere) return rule + " in a ClusterRole, bound for all namespaces";
  return rule + ", bound in namespace " + in_quotes(resource.name_space);
}

std::string hint_of(int status, const HubResource& resource, std::string_view verb,
                    const Hub& hub) {
  const std::string noun(hub.noun);
  if (status == 401) return noun + " does not know this identity, of " + hub.origin;
  if (status == 403) return missing_rule(resource, verb);
  if (status == 404) return "is this " + noun + ", and does it serve " + full_name(resource) + "?";
  if (status == 410) return noun + " dropped the list before its last page; try again";
  if (status >= 300 && status < 400) return "name the server itself; redirects are not followed";
  if (is_passing_status(status)) return noun + " may be overloaded or starting; try again";
  return {};
}

// The cause of the error; empty if it adds nothing to the kind of the error.
std::string_view cause_of_status(int code, const HubStatus& status, const HubResource& resource) {
  constexpr int kForbidden = 403;
  if (code == kForbidden) return cause::kSourceForbidden;
  return is_absent(code, status, resource) ? cause::kSourceMissing : std::string_view();
}

}  // namespace

std::string full_name(const HubResource& resource) {
  return resource.subresource.empty() ? resource.resource
                                      : resource.resource + "/" + resource.subresource;
}

std::string subject_of(const HubResource& resource) {
  if (resource.name.empty()) {
    return full_name(resource) + " in " +
           (resource.name_space.empty() ? "all namespaces"
                                        : "namespace " + in_quotes(resource.name_space));
  }
  const std::string place = resource.name_space.empty() ? "" : resource.name_space + "/";
  return full_name(resource) + " " + in_quotes(place + resource.name);
}

std::string shown(const Hub& hub) { return std::string(hub.noun) + " " + redacted_url(hub.server); }

std::string shown_hub_text(std::string_view text) { return shown_text(text, kMaxShown); }

Error hub_refusal(const HttpResponse& response, const HubResource& resource, std::string_view verb,
                  const Hub& hub) {
  const HubStatus status = status_of(response);
  const bool may_pass = is_passing_status(response.status);
  std::string message = std::string(hub.noun) + " answered " + with_reason(response.status);
  // The API server's message begins with the resource and ends with the reason, so it is shown as
  // it is.
  if (!status.message.empty()) message += ": " + shown_hub_text(status.message);
  std::string hint = is_absent(response.status, status, resource)
                         ? "name one that is there, or make it on " + std::string(hub.noun)
                         : hint_of(response.status, resource, verb, hub);
  return Error{.kind = may_pass ? Error::Kind::unavailable : Error::Kind::no_credential,
               .message = std::move(message),
               .hint = std::move(hint),
               .is_transient = may_pass,
               .cause = cause_of_status(response.status, status, resource)};
}

std::string reason_of(const HttpResponse& response) { return status_of(response).reason; }

bool is_absent(const HttpResponse& response, const HubResource& resource) {
  return response.status == 404 && is_absent(response.status, status_of(response), resource);
}

}  // namespace execcred
