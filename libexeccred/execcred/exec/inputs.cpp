// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/inputs.hpp>

#include <execcred/base/digest.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/identity.hpp>
#include <execcred/json/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace execcred {

Inputs::Inputs(const CredentialRequest& request, const Environment& environment)
    : request_(request),
      unrecorded_(environment),
      observed_(environment.observed(
          [this](std::string_view name, std::string_view value) { add_variable(name, value); })) {
  key_.add("plugin", request.plugin);
  add_options(*request.settings);
}

void Inputs::add_options(const Settings& settings) {
  for (const Option& option : settings.options().all()) {
    if (!option.not_identity.empty()) continue;
    const std::vector<std::string>& texts = settings.get(option.name).texts;
    if (!texts.empty() && settings.is_used(option)) add_option(option, texts);
  }
}

// A value that may hold a secret is shown without it, beside a fingerprint of the whole. The values
// of a secret option are independent parameters, so their order has no meaning.
void Inputs::add_option(const Option& option, const std::vector<std::string>& texts) {
  std::vector<std::string> secrets;
  for (const std::string& typed : texts) {
    std::string text = option.parsed == nullptr ? typed : *option.parsed;
    if (option.ignores_case) text = ascii_lower(text);
    const std::string shown = option.is_secret ? std::string() : shown_value(option, text);
    if (!shown.empty()) key_.add(option.name, shown);
    if (shown != text) secrets.push_back(std::move(text));
  }
  std::sort(secrets.begin(), secrets.end());
  for (const std::string& secret : secrets) add_secret(option.name, secret);
}

void Inputs::add_variable(std::string_view name, std::string_view value) {
  if (!recorded_.emplace(name).second) return;
  const std::string title = name.empty() ? "environment" : "environment." + std::string(name);
  key_.add(title, fingerprint(title, value));
}

const Cluster* Inputs::cluster() {
  if (!request_.info.cluster) return nullptr;
  const Cluster& cluster = *request_.info.cluster;
  if (recorded_.emplace("cluster.server").second) {
    key_.add("cluster.server", cluster.server);
    key_.add("cluster.tls-server-name", cluster.tls_server_name);
    key_.add("cluster.proxy-url", fingerprint("proxy", cluster.proxy_url));
    key_.add("cluster.certificate-authority-data",
             fingerprint("ca", cluster.certificate_authority_data));
  }
  return &cluster;
}

void Inputs::add_whole_cluster() {
  // The same limits as when the document was read.
  const Result<json::Value> document = json::parse(request_.document);
  const json::Value* const spec = document ? document->find("spec") : nullptr;
  const json::Value* const whole = spec == nullptr ? nullptr : spec->find("cluster");
  add_secret("cluster", whole == nullptr ? std::string() : json::to_text(*whole));
  cluster();
}

Result<std::string> Inputs::expand(std::string_view option, std::string_view text) {
  std::string expanded = TRY(request_.expand(option, text));
  if (expanded != text) key_.add(option.substr(option.find_first_not_of('-')), expanded);
  return expanded;
}

Result<BearerToken> Inputs::token_file(std::string_view name, const std::filesystem::path& path) {
  BearerToken token = TRY(read_bearer_token(path));
  add_token(name, token);
  return token;
}

Result<SecretString> Inputs::secret_file(std::string_view name, const std::filesystem::path& path,
                                         std::size_t max_bytes) {
  SecretString content = TRY(read_secret_file(path, max_bytes));
  add_secret(name, content.reveal());
  return content;
}

void Inputs::add_token(std::string_view name, const BearerToken& token) {
  add_token_identity(name, token.text(), token.jwt(), key_);
}

void Inputs::add_token(std::string_view name, const SecretString& token) {
  add_token_identity(name, token, parse_jwt(token), key_);
}

void Inputs::add_secret(std::string_view name, std::string_view secret) {
  key_.add(std::string(name) + ".fingerprint", fingerprint(name, secret));
}

void Inputs::add_machine() {
  if (recorded_.emplace("machine").second) identify_machine(key_);
}

void Inputs::add_process() {
  add_machine();
  if (recorded_.emplace("process").second) identify_process(key_);
}

}  // namespace execcred
