// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/cluster.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>

#include <optional>
#include <set>
#include <utility>

namespace execcred {
namespace {

using json::ObjectReader;

Result<std::string> string_or_empty(const ObjectReader& object, std::string_view name) {
  std::optional<std::string> text = TRY(object.optional_string(name));
  return std::move(text).value_or(std::string());
}

// Line breaks in the base64 are allowed, as in Go's decoder.
Result<std::string> certificate_authority_data(const ObjectReader& object) {
  constexpr std::string_view kName = "certificate-authority-data";
  const json::Value* value = object.find(kName);
  if (value == nullptr) return std::string();
  if (value->string() == nullptr) {
    return json::wrong_kind(object.path_of(kName), "a string", *value);
  }
  return *value->string();
}

// Go writes "" for a field that is not set.
bool is_empty_text(const json::Value& value) {
  const std::string* const text = value.string();
  return text != nullptr && text->empty();
}

Result<Cluster> parse_common(const ObjectReader& object) {
  Cluster cluster;
  cluster.server = TRY(object.required_string("server"));
  cluster.tls_server_name = TRY(string_or_empty(object, "tls-server-name"));
  cluster.insecure_skip_tls_verify = TRY(object.boolean_or_false("insecure-skip-tls-verify"));
  cluster.certificate_authority_data = TRY(certificate_authority_data(object));
  cluster.proxy_url = TRY(string_or_empty(object, "proxy-url"));
  cluster.disable_compression = TRY(object.boolean_or_false("disable-compression"));
  return cluster;
}

Result<json::Value> exec_extension(const ObjectReader& object) {
  const std::vector<ObjectReader> extensions = TRY(object.objects("extensions"));
  std::set<std::string> names;
  json::Value config;
  for (const ObjectReader& extension : extensions) {
    const std::string name = TRY(extension.required_string("name"));
    if (!names.insert(name).second) {
      return json::field_error(extension.path_of("name"),
                               "is " + in_quotes(name) + ", like that of another extension");
    }
    const json::Value* value = extension.find("extension");
    if (name == kExecExtension && value != nullptr) config = *value;
  }
  return config;
}

}  // namespace

Result<Cluster> parse_exec_cluster(const ObjectReader& object) {
  Cluster cluster = TRY(parse_common(object));
  if (const json::Value* config = object.find("config")) cluster.config = *config;
  return cluster;
}

Result<Cluster> parse_kubeconfig_cluster(const ObjectReader& object) {
  const json::Value* const path = object.find("certificate-authority");
  if (path != nullptr && !is_empty_text(*path)) {
    Error error = json::field_error(object.path_of("certificate-authority"),
                                    "is a path: each reader would use its own local file");
    error.hint = "put the certificates into certificate-authority-data";
    return error;
  }
  Cluster cluster = TRY(parse_common(object));
  const std::optional<std::string> pem = decode_base64(cluster.certificate_authority_data);
  if (!pem) {
    return json::field_error(object.path_of("certificate-authority-data"), "is no base64");
  }
  cluster.certificate_authority_data = encode_base64(*pem);
  cluster.config = TRY(exec_extension(object));
  return cluster;
}

json::Value to_json(const Cluster& cluster) {
  json::Value object((json::Object()));
  const auto add_text = [&object](std::string_view name, const std::string& text) {
    if (!text.empty()) object.add(name, json::Value(text));
  };
  const auto add_flag = [&object](std::string_view name, bool value) {
    if (value) object.add(name, json::Value(true));
  };
  object.add("server", json::Value(cluster.server));
  add_text("tls-server-name", cluster.tls_server_name);
  add_flag("insecure-skip-tls-verify", cluster.insecure_skip_tls_verify);
  add_text("certificate-authority-data", cluster.certificate_authority_data);
  add_text("proxy-url", cluster.proxy_url);
  add_flag("disable-compression", cluster.disable_compression);
  object.add("config", cluster.config);
  return object;
}

}  // namespace execcred
