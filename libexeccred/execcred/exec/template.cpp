// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/template.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/inner_program.hpp>

#include <algorithm>
#include <utility>

namespace execcred {
namespace {

Result<std::string> cluster_name_value(std::string_view cluster_name, const ExecInfo& info) {
  if (!cluster_name.empty()) return std::string(cluster_name);
  if (!info.cluster) return missing_cluster_info("{clusterName}");
  const json::Value* const field = info.cluster->config.find("clusterName");
  const bool is_empty = field != nullptr && field->string() != nullptr;
  return Error::configuration(
      "{clusterName} needs the cluster's name, and " +
          std::string(is_empty ? "spec.cluster.config.clusterName is empty" : "none is given"),
      "pass --cluster=NAME, or set clusterName in the ClusterProfile's extension "
      "client.authentication.k8s.io/exec");
}

Result<std::string> server_host_value(const ExecInfo& info) {
  if (!info.cluster) return missing_cluster_info(kServerHost);
  Result<Url> url = parse_url(info.cluster->server);
  if (!url) {
    return Error::configuration(
        "spec.cluster.server " + redacted_url(info.cluster->server) + " " + url.error().message,
        "");
  }
  return std::move(url->host.name);
}

constexpr std::string_view kField = "config.";

Error no_placeholder(std::string message, bool has_fields) {
  return Error::configuration(
      std::move(message),
      has_fields ? "the placeholders are {clusterName}, {server.host} and {config.FIELD}; "
                   "write a brace itself twice"
                 : "the placeholders are {clusterName} and {server.host}");
}

Result<std::string> value_of(std::string_view placeholder, std::string_view cluster_name,
                             const ExecInfo& info) {
  if (placeholder == "clusterName") return cluster_name_value(cluster_name, info);
  return server_host_value(info);
}

// The name in the braces at the beginning of the text.
Result<std::string_view> placeholder_of(std::string_view text, bool has_fields) {
  const std::size_t end = text.find('}');
  if (text.front() == '}' || end == std::string_view::npos) {
    return no_placeholder("a brace has no counterpart", has_fields);
  }
  const std::string_view name = text.substr(1, end - 1);
  const bool is_field = has_fields && name.starts_with(kField) && name.size() > kField.size();
  if (is_field || name == "clusterName" || name == "server.host") return name;
  // Other text in braces, such as JSON, may have a secret.
  const bool is_name = is_alphanumeric_or(name, "._-");
  const std::string what = is_name ? in_quotes(text.substr(0, end + 1)) : "a text in braces";
  return no_placeholder(what + " is no placeholder", has_fields);
}

// A part of a text: a placeholder's name, or a text that stays as it is.
struct Part {
  std::string_view text;
  bool is_placeholder = false;
};

// Takes the first part from the front of the text, which is not empty. With fields, a brace that is
// written twice is a brace.
Result<Part> take_part(std::string_view& text, bool has_fields) {
  const auto take = [&text](std::size_t size) {
    const std::string_view front = text.substr(0, size);
    text.remove_prefix(front.size());
    return front;
  };
  const std::size_t brace = text.find_first_of("{}");
  if (brace != 0) return Part{.text = take(brace)};
  if (has_fields && text.size() > 1 && text[1] == text[0]) return Part{.text = take(2).substr(1)};
  const std::string_view name = TRY(placeholder_of(text, has_fields));
  take(name.size() + 2);
  return Part{.text = name, .is_placeholder = true};
}

std::vector<std::string_view> placeholders_in(std::string_view text, bool has_fields) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const Result<Part> part = take_part(text, has_fields);
    if (!part) return found;
    if (part->is_placeholder) found.push_back(part->text);
  }
  return found;
}

bool has_placeholder(const Option& option, const std::string& value, std::string_view name) {
  if (!option.is_template) return false;
  const auto has_name = [name](std::string_view text, bool has_fields) {
    const std::vector<std::string_view> found = placeholders_in(text, has_fields);
    return std::find(found.begin(), found.end(), name) != found.end();
  };
  if (!option.is_command) return has_name(value, false);
  const Result<InnerCommand> command = parse_inner_command(value);
  return command && std::any_of(command->arguments.begin(), command->arguments.end(),
                                [&](const std::string& text) { return has_name(text, true); });
}

}  // namespace

std::vector<std::string_view> placeholders_in(std::string_view argument) {
  return placeholders_in(argument, true);
}

bool names_server(const Option& option, const std::string& value) {
  return has_placeholder(option, value, "server.host");
}

bool needs_cluster_info(const Option& option, const std::string& value, bool has_cluster_name) {
  return names_server(option, value) ||
         (!has_cluster_name && has_placeholder(option, value, "clusterName"));
}

bool has_unexpanded_template(std::string_view text) {
  for (std::size_t at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at)) {
    const std::size_t start = at;
    at = std::min(text.find_first_not_of('{', at), text.size());
    const bool is_escaped = (at - start) % 4 == 0;
    at = text.find_first_not_of("{- \t", at);
    if (at == std::string_view::npos) return false;
    if (text[at] == '.' && !is_escaped) return true;
  }
  return false;
}

Result<std::string> expand_template(std::string_view text, std::string_view cluster_name,
                                    const ExecInfo& info, const FieldValue& field_value) {
  const bool has_fields = static_cast<bool>(field_value);
  std::string expanded;
  while (!text.empty()) {
    const Part part = TRY(take_part(text, has_fields));
    if (!part.is_placeholder) {
      expanded += part.text;
      continue;
    }
    const std::string_view placeholder = part.text;
    if (placeholder.starts_with(kField)) {
      expanded += TRY(field_value(placeholder.substr(kField.size())));
      continue;
    }
    const std::string value = TRY(value_of(placeholder, cluster_name, info));
    if (!is_dns1123_subdomain(value)) {
      return Error::configuration("the value of {" + std::string(placeholder) + "}, " +
                                      in_quotes(value) +
                                      ", is no DNS name (RFC 1123: a-z, 0-9, '-' and '.')",
                                  "only such names are put into a path");
    }
    expanded += value;
  }
  return expanded;
}

}  // namespace execcred
