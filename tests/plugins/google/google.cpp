// SPDX-License-Identifier: Apache-2.0
#include "google.hpp"

#include "support/jws_keys.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace execcred::test {
namespace {

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out.push_back(static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16)));
      i += 2;
    } else {
      out.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return out;
}

}  // namespace

std::string text(std::string_view value) { return blackbox::json_string(value); }

std::string object(const Members& members) {
  std::string json = "{";
  for (const auto& [name, value] : members) {
    if (json.size() > 1) json += ",";
    json += text(name) + ":" + value;
  }
  return json + "}";
}

Members with(Members members, const std::string& name, const std::string& value) {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const auto& member) { return member.first == name; });
  if (found == members.end()) {
    if (!value.empty()) members.emplace_back(name, value);
  } else if (value.empty()) {
    members.erase(found);
  } else {
    found->second = value;
  }
  return members;
}

Google::Google()
    : subject(new_subject()),
      subject_path(sandbox.write("subject", subject + "\n")),
      ca_path(sandbox.write("ca.pem", cloud.ca_pem())),
      home(sandbox.at("home")),
      client_secret(new_secret()),
      refresh_token("1//" + new_secret()) {
  std::filesystem::create_directory(home);
}

blackbox::Command Google::command(const Ask& ask) const {
  Texts arguments;
  if (!ask.credentials.empty()) {
    arguments.push_back("--credentials-file=" + sandbox.write("credentials.json", ask.credentials));
  }
  if (ask.has_trust) arguments.push_back("--ca-file=" + ca_path);
  if (ask.has_cache) arguments.push_back("--cache-dir=" + cache_path);
  const Texts variables = ask.variables + Texts{"HTTPS_PROXY=" + cloud.proxy(), "HOME=" + home};
  blackbox::Command command =
      plugin_command("execcred-google", arguments + ask.arguments,
                     variables + asked_for(ask.server, ask.config, "", ask.version));
  command.patience = ask.patience;
  return command;
}

Members Google::file_account() const {
  return {{"type", text("external_account")},
          {"audience", text(kAudience)},
          {"subject_token_type", text("urn:ietf:params:oauth:token-type:jwt")},
          {"token_url", text("https://sts.googleapis.com/v1/token")},
          {"credential_source", object({{"file", text(subject_path)}})}};
}

Members Google::service_account(const std::string& email) {
  const SecretString key = rfc7515_rsa_key();
  blackbox::remember_secret(std::string(key.reveal().substr(40, 200)));
  return {{"type", text("service_account")},
          {"project_id", text("project-1")},
          {"private_key_id", text("key-1")},
          {"private_key", text(key.reveal())},
          {"client_email", text(email)},
          {"client_id", text("1234567890")},
          {"auth_uri", text("https://accounts.google.com/o/oauth2/auth")},
          {"token_uri", text("https://oauth2.googleapis.com/token")},
          {"universe_domain", text("googleapis.com")}};
}

Members Google::user() const {
  return {{"type", text("authorized_user")},
          {"account", text("")},
          {"client_id", text("764086051850-x.apps.googleusercontent.com")},
          {"client_secret", text(client_secret)},
          {"refresh_token", text(refresh_token)},
          {"quota_project_id", text("project-1")},
          {"universe_domain", text("googleapis.com")}};
}

bool is_claimed(const Outcome& outcome, std::int64_t seconds) {
  return is_about(claimed_seconds(outcome), claim_for(seconds));
}

Texts fields_in_order(const Received& request) {
  Texts fields;
  std::string_view rest = request.body;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    fields.push_back(decoded(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fields;
}

std::string new_subject(std::int64_t seconds, const std::string& subject) {
  return new_jwt(R"("iss":"https://hub.example","sub":")" + subject + R"(","aud":["https:)" +
                     kAudience + R"("])",
                 seconds);
}

}  // namespace execcred::test
