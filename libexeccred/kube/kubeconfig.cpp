// SPDX-License-Identifier: Apache-2.0
#include <execcred/kube/kubeconfig.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kShownNames = 10;

template <class Entry>
const Entry* find_named(const std::vector<Entry>& entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [name](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

template <class Entry>
void merge_named(std::vector<Entry>& entries, std::vector<Entry> others) {
  std::set<std::string> names;
  for (const Entry& entry : entries) names.insert(entry.name);
  for (Entry& other : others) {
    if (names.insert(other.name).second) entries.push_back(std::move(other));
  }
}

void make_absolute(std::string& path, const std::filesystem::path& folder) {
  if (!path.empty()) path = (folder / path).native();
}

std::string list(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() == kShownNames) break;
    shown.push_back(in_quotes(name));
  }
  std::string text = join(shown, ", ");
  if (names.size() == shown.size()) return text;
  return text + " and " + std::to_string(names.size() - shown.size()) + " more";
}

}  // namespace

KubeconfigUser KubeconfigUser::copy() const {
  return {.name = name,
          .token = token.copy(),
          .token_file = token_file,
          .client_certificate = client_certificate,
          .client_certificate_data = client_certificate_data,
          .client_key = client_key,
          .client_key_data = client_key_data.copy(),
          .auth_provider = auth_provider,
          .oidc_id_token = oidc_id_token.copy(),
          .has_password = has_password,
          .has_exec = has_exec,
          .impersonation = impersonation,
          .unknown_fields = unknown_fields};
}

void Kubeconfig::resolve_paths(const std::filesystem::path& folder) {
  for (KubeconfigCluster& cluster : clusters_) make_absolute(cluster.certificate_authority, folder);
  for (KubeconfigUser& user : users_) {
    make_absolute(user.token_file, folder);
    make_absolute(user.client_certificate, folder);
    make_absolute(user.client_key, folder);
  }
}

void Kubeconfig::merge(Kubeconfig other) {
  if (current_context_.empty()) current_context_ = std::move(other.current_context_);
  merge_named(clusters_, std::move(other.clusters_));
  merge_named(users_, std::move(other.users_));
  merge_named(contexts_, std::move(other.contexts_));
}

std::vector<std::string> Kubeconfig::context_names() const {
  std::vector<std::string> names;
  names.reserve(contexts_.size());
  for (const ContextEntry& entry : contexts_) names.push_back(entry.name);
  return names;
}

Error Kubeconfig::wrong(std::string message, std::string hint) const {
  return Error{
      .kind = source_ == Source::hub ? Error::Kind::configuration : Error::Kind::no_credential,
      .message = std::move(message),
      .hint = std::move(hint)};
}

Result<const Kubeconfig::ContextEntry*> Kubeconfig::choose(std::string_view name) const {
  if (contexts_.empty()) {
    return wrong("the kubeconfig has no contexts",
                 "it needs one, with the names of a cluster and a user");
  }
  const std::string_view wanted = name.empty() ? std::string_view(current_context_) : name;
  if (wanted.empty() && contexts_.size() == 1) return &contexts_.front();
  if (wanted.empty()) {
    return wrong("the kubeconfig has " + std::to_string(contexts_.size()) +
                     " contexts and no current-context",
                 "name the context that is meant; there are " + list(context_names()));
  }
  if (const ContextEntry* entry = find_named(contexts_, wanted)) return entry;
  const std::string subject = name.empty() ? "the kubeconfig's current-context " + in_quotes(wanted)
                                           : "the context " + in_quotes(wanted);
  return wrong(subject + " is not among the kubeconfig's contexts",
               (contexts_.size() == 1 ? "there is only " : "there are ") + list(context_names()));
}

Result<KubeconfigContext> Kubeconfig::context(std::string_view name) const {
  const ContextEntry* entry = TRY(choose(name));
  const std::string subject = "the kubeconfig's context " + in_quotes(entry->name) + " names ";
  const KubeconfigCluster* cluster = find_named(clusters_, entry->cluster);
  if (cluster == nullptr) {
    return wrong(subject + (entry->cluster.empty() ? "no cluster"
                                                   : "the cluster " + in_quotes(entry->cluster) +
                                                         ", which is not among its clusters"),
                 "");
  }
  const KubeconfigUser* user = find_named(users_, entry->user);
  if (user == nullptr) {
    return wrong(subject + (entry->user.empty() ? "no user"
                                                : "the user " + in_quotes(entry->user) +
                                                      ", which is not among its users"),
                 "");
  }
  if (cluster->cluster.server.empty()) {
    return wrong("the kubeconfig's cluster " + in_quotes(cluster->name) + " has no server",
                 "write it as https://HOST[:PORT][/PATH]");
  }
  return KubeconfigContext{.name = entry->name,
                           .name_space = entry->name_space,
                           .cluster = *cluster,
                           .user = user->copy()};
}

}  // namespace execcred
