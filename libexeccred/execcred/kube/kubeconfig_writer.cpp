// SPDX-License-Identifier: Apache-2.0
#include <execcred/kube/kubeconfig_writer.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>
#include <execcred/kube/profile_hint.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <utility>

namespace execcred {
namespace {

using json::Object;
using json::Value;

// One entry of a list, as YAML.
std::string entry(std::string_view name, std::string_view kind, Value value) {
  Value object((Object()));
  object.add("name", Value(name));
  object.add(kind, std::move(value));
  json::Array list;
  list.push_back(std::move(object));
  return yaml::to_text(Value(std::move(list)));
}

// The kubeconfig form: the config is an extension of the cluster.
Value kubeconfig_cluster(const Cluster& cluster) {
  Value object((Object()));
  const Value exec_cluster = to_json(cluster);
  for (const json::Member& member : *exec_cluster.object()) {
    if (member.name != "config") object.add(member.name, member.value);
  }
  if (cluster.config.is_null()) return object;
  Value extension((Object()));
  extension.add("name", Value(kExecExtension));
  extension.add("extension", cluster.config);
  json::Array extensions;
  extensions.push_back(std::move(extension));
  object.add("extensions", Value(std::move(extensions)));
  return object;
}

std::string section(std::string_view name, const std::string& entries) {
  return std::string(name) + (entries.empty() ? ": []\n" : ":\n") + entries;
}

}  // namespace

std::string KubeconfigWriter::user_of(const Access& access) {
  Value exec = to_json(access.exec);
  const auto [found, is_new] = users_.try_emplace(json::to_text(exec), access.provider);
  if (!is_new) return found->second;
  // The same provider runs in another way, for example with additional arguments of this
  // ClusterProfile. The new name may be that of another provider.
  while (!user_names_.insert(found->second).second) found->second += "@" + access.cluster_profile;
  Value user((Object()));
  user.add("exec", std::move(exec));
  users_text_ += entry(found->second, "user", std::move(user));
  return found->second;
}

Status KubeconfigWriter::add(const Access& access) {
  const std::string pem =
      decode_base64(access.cluster.certificate_authority_data).value_or(std::string());
  const auto certificates = parse_go_certificates(pem);
  if (looks_like_pem(pem) && !certificates) {
    return Error::configuration("the certificate-authority-data of ClusterProfile " +
                                    access.cluster_profile + " " + certificates.error().message,
                                kMendProfile);
  }
  if (!names_.insert(access.cluster_profile).second) {
    return Error::configuration("ClusterProfile " + access.cluster_profile + " is given twice");
  }
  Value context((Object()));
  context.add("cluster", Value(access.cluster_profile));
  context.add("user", Value(user_of(access)));
  clusters_ += entry(access.cluster_profile, "cluster", kubeconfig_cluster(access.cluster));
  contexts_ += entry(access.cluster_profile, "context", std::move(context));
  return {};
}

std::string KubeconfigWriter::take_text() {
  std::string text = "apiVersion: v1\nkind: Config\n";
  Value head((Object()));
  head.add("current-context", Value(names_.size() == 1 ? *names_.begin() : std::string()));
  text += yaml::to_text(head);
  text.reserve(text.size() + clusters_.size() + contexts_.size() + users_text_.size() + 64);
  for (const auto& [name, entries] :
       {std::pair<std::string_view, std::string*>{"clusters", &clusters_},
        {"contexts", &contexts_},
        {"users", &users_text_}}) {
    text += section(name, *entries);
    entries->clear();
    entries->shrink_to_fit();
  }
  names_.clear();
  users_.clear();
  user_names_.clear();
  return text;
}

}  // namespace execcred
