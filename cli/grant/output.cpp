// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include "list_text.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <string_view>
#include <utility>

namespace execcred::grant {
namespace {

using cli::add_text;
using json::Value;

std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out.append(indent).append(text.substr(0, end)).append("\n");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

std::string list_text(const json::Array& objects) {
  Value list((json::Object()));
  list.add("apiVersion", Value("v1"));
  list.add("kind", Value("List"));
  list.add("items", Value(objects));
  return yaml::to_text(list);
}

std::string who(const Identity& identity) {
  const std::string user = in_quotes(identity.user);
  switch (identity.kind) {
    case Kind::service_account:
      return user + ", a ServiceAccount of this cluster";
    case Kind::issuer:
      return user + ", by a token of " + in_quotes(identity.issuer);
    case Kind::certificate:
      return user + ", by a client certificate of " + in_quotes(identity.authority);
    case Kind::eks:
      return "the role " + user + ", by a signature of AWS";
    case Kind::gke:
      return user + ", an account of Google";
    case Kind::aks:
      break;
  }
  return user + ", an object of Entra";
}

// What an administrator does beside the objects. Each line is printable.
std::string explanation(const Grant& grant) {
  std::string text;
  for (const std::string& remark : grant.remarks) text += remark + "\n";
  if (!grant.commands.empty()) text += "Commands:\n";
  for (const std::string& command : grant.commands) text += "  " + command + "\n";
  if (!grant.authentication.is_null()) {
    text += "AuthenticationConfiguration:\n" + indented(yaml::to_text(grant.authentication), "  ");
  }
  return text;
}

std::string title(const Item& item) {
  return "Cluster " + printable(item.examined.full_name()) + ", provider " +
         printable(item.examined.provider) + ", " + redacted_url(item.server) + "\n";
}

std::string other_reading(const Grant& grant) {
  return "If the issuer is not this cluster's own, do not apply the objects for it. The cluster "
         "then "
         "sees\n" +
         who(grant.identity) + "\n" + explanation(grant) + "Objects:\n" +
         indented(list_text(grant.objects), "  ");
}

std::string aws_auth(const Grant& grant) {
  if (grant.fragment.empty()) return {};
  return "Without access entries, in mapRoles of the ConfigMap kube-system/aws-auth:\n" +
         indented(grant.fragment, "  ");
}

Value value_of(const Item& item) {
  Value object((json::Object()));
  const auto add_texts = [&object](std::string_view name, const std::vector<std::string>& texts) {
    json::Array array;
    for (const std::string& text : texts) array.emplace_back(text);
    if (!array.empty()) object.add(name, Value(std::move(array)));
  };
  add_text(object, "namespace", item.examined.name_space);
  add_text(object, "name", item.examined.name);
  add_text(object, "provider", item.examined.provider);
  if (item.readings.empty()) {
    if (const engine::Step* const step = item.examined.failed_step()) {
      add_text(object, "error", step->message);
      add_text(object, "hint", step->hint);
    }
    return object;
  }
  const Grant& grant = item.readings.front();
  add_text(object, "user", grant.identity.user);
  add_texts("groups", grant.identity.groups);
  object.add("objects", Value(grant.objects));
  // That of another reading stands here too: it is what such a token needs.
  const Grant& last = item.readings.back();
  if (!last.authentication.is_null())
    object.add("authenticationConfiguration", last.authentication);
  add_texts("commands", grant.commands);
  if (item.readings.size() == 1) return object;
  Value other((json::Object()));
  other.add("user", Value(last.identity.user));
  other.add("objects", Value(last.objects));
  object.add("otherReading", std::move(other));
  return object;
}

}  // namespace

std::string write_yaml(const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) {
    if (item.readings.empty()) continue;
    const Grant& grant = item.readings.front();
    std::string comment =
        title(item) + "The cluster sees " + who(grant.identity) + "\n" + explanation(grant);
    if (item.readings.size() > 1) comment += other_reading(item.readings.back());
    text += (text.empty() ? "" : "---\n") + indented(comment, "# ") + list_text(grant.objects);
  }
  return text;
}

std::string write_text(const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) {
    if (item.readings.empty()) continue;
    const Grant& grant = item.readings.front();
    text += (text.empty() ? "" : "\n") + title(item);
    std::string body = "The cluster sees " + who(grant.identity) + "\n" + explanation(grant) +
                       aws_auth(grant) + "Objects, for kubectl apply -f - (-o yaml):\n" +
                       indented(list_text(grant.objects), "  ");
    if (item.readings.size() > 1) body += other_reading(item.readings.back());
    text += indented(body, "  ");
  }
  return text;
}

std::string write_json(const std::vector<Item>& items) {
  json::Array array;
  for (const Item& item : items) array.push_back(value_of(item));
  return cli::document_text(cli::list_of(std::move(array)), "json");
}

}  // namespace execcred::grant
