// SPDX-License-Identifier: Apache-2.0
#include "hub_source.hpp"

#include "stored_credential.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <functional>
#include <utility>

namespace execcred::static_secret {
namespace {

// Each Secret may have 1 MiB, and at most one further match needs to be read.
constexpr std::size_t kPageOfMatches = 2;
constexpr std::size_t kPageOfCandidates = 20;

HubResource secrets_of(const Plan& plan, std::string name) {
  return {.version = "v1",
          .resource = "secrets",
          .name_space = plan.name_space,
          .name = std::move(name)};
}

std::string called(const StoredSecret& secret) { return "Secret " + in_quotes(secret.full_name()); }

// Checks the name and namespace of the request again in the reply.
Status check_identity(const StoredSecret& secret, const Plan& plan, const std::string& name) {
  const bool is_named = name.empty() || secret.name == name;
  if (is_named && secret.name_space == plan.name_space) return {};
  return Error::no_credential("the hub answered with another object, " + called(secret));
}

Status check_labels(const StoredSecret& secret, const Plan& plan) {
  const LabelSelector unmet = plan.selector.unmet(secret.labels);
  if (unmet.empty()) return {};
  return Error::no_credential(
      called(secret) + " does not have the label " + in_quotes(unmet.text()),
      "only a Secret with these labels is read; add them if the Secret is meant for this plugin");
}

Status check_type(const StoredSecret& secret, const Plan& plan) {
  if (plan.type.empty() || secret.type == plan.type) return {};
  return Error::no_credential(called(secret) + " is of type " + in_quotes(secret.type) + ", not " +
                              in_quotes(plan.type));
}

Result<std::optional<StoredSecret>> get_secret(HubClient& hub, const Plan& plan) {
  std::optional<json::Value> object = TRY(hub.find(secrets_of(plan, plan.secret_name)));
  if (!object) return std::optional<StoredSecret>();
  StoredSecret secret = TRY(take_secret(*std::move(object)));
  TRY(check_identity(secret, plan, plan.secret_name));
  return std::optional(std::move(secret));
}

Error absent(const Plan& plan) {
  return missing(
      "Secret " + in_quotes(plan.name_space + "/" + plan.secret_name) + " does not exist",
      "the hub has no such Secret; check the cluster's name and --namespace");
}

Result<StoredSecret> by_name(HubClient& hub, const Plan& plan) {
  std::optional<StoredSecret> secret = TRY(get_secret(hub, plan));
  if (!secret) return absent(plan);
  TRY(check_type(*secret, plan));
  TRY(check_labels(*secret, plan));
  return *std::move(secret);
}

using IsOfCluster = std::function<bool(const StoredSecret&)>;

// The only Secret with the plan's labels.
Result<StoredSecret> only_one(HubClient& hub, const Plan& plan, std::size_t page_size,
                              const std::string& what, const IsOfCluster& is_of_cluster) {
  std::optional<StoredSecret> found;
  std::optional<Error> problem;  // of a Secret that cannot be read
  const auto receive = [&](ListItem item) -> Result<bool> {
    if (item.problem) {
      problem = Error::no_credential("Secret " + in_quotes(full_name_of(item.object)) +
                                         " cannot be read: " + item.problem->message,
                                     item.problem->hint);
      return true;
    }
    StoredSecret secret = TRY(take_secret(std::move(item.object), true));
    TRY(check_identity(secret, plan, ""));
    if (!plan.selector.matches(secret.labels) || !is_of_cluster(secret)) return true;
    if (found) {
      return Error::no_credential(
          called(*found) + " and " + called(secret) + " both are " + what,
          "exactly one may match; remove one, or use --selector with labels that only "
          "one of them has");
    }
    found = std::move(secret);
    return true;
  };
  TRY(hub.list(secrets_of(plan, ""),
               {.label_selector = plan.selector.text(), .page_size = page_size}, receive));
  if (found) return *std::move(found);
  if (problem) return *std::move(problem);
  return missing("no Secret in namespace " + in_quotes(plan.name_space) + " is " + what,
                 "the labels are " + in_quotes(plan.selector.text()));
}

Result<StoredSecret> of_istio(HubClient& hub, const Plan& plan) {
  std::optional<StoredSecret> named = TRY(get_secret(hub, plan));
  if (named && plan.selector.matches(named->labels) && named->has(plan.key)) {
    return *std::move(named);
  }
  return only_one(hub, plan, kPageOfCandidates, "of cluster " + in_quotes(plan.cluster_name),
                  [&plan](const StoredSecret& secret) { return secret.has(plan.key); })
      .context("looking further, as Secret " + in_quotes(plan.name_space + "/" + plan.secret_name) +
               " is not the cluster's");
}

Result<StoredSecret> of_argocd(HubClient& hub, const Plan& plan) {
  if (!plan.secret_name.empty()) return by_name(hub, plan);
  return only_one(hub, plan, kPageOfCandidates, "of cluster " + in_quotes(plan.cluster_name),
                  [&plan](const StoredSecret& secret) {
                    const Result<std::optional<SecretString>> name = secret.value("name");
                    return name && name->has_value() &&
                           trim((*name)->reveal()) == plan.cluster_name;
                  });
}

}  // namespace

Result<StoredSecret> find_secret(HubClient& hub, const Plan& plan) {
  switch (plan.lookup) {
    case Lookup::by_labels:
      if (!plan.secret_name.empty()) break;
      return only_one(hub, plan, kPageOfMatches, "meant by the labels",
                      [](const StoredSecret&) { return true; });
    case Lookup::istio:
      return of_istio(hub, plan);
    case Lookup::argocd:
      return of_argocd(hub, plan);
    case Lookup::by_name:
    case Lookup::in_files:
      break;
  }
  return by_name(hub, plan);
}

}  // namespace execcred::static_secret
