// SPDX-License-Identifier: Apache-2.0
// The content of a Google credentials file (https://google.aip.dev/auth/4110 and following): the
// identity, and how to get an access token for it.
//
// The file is read strictly: it is an error if a member is of the wrong kind, if a source is given
// twice or not at all, or if an e-mail address could change a path. Members without effect on an
// access token (quota_project_id, project_id, token_info_url, ...) are ignored.
#pragma once

#include "endpoints.hpp"

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace execcred::google {

// The service account of the machine or Pod; there is no file.
struct MetadataServer {};

struct ServiceAccountKey {
  std::string email = {};
  std::string key_id = {};  // may be empty
  SecretString private_key = {};
  std::string token_url = {};
};

struct AuthorizedUser {
  std::string client_id = {};
  SecretString client_secret = {};
  SecretString refresh_token = {};
  SecretString reauthentication = {};    // rapt_token; may be empty
  std::vector<std::string> scopes = {};  // empty: those of the user's consent
};

// A subject token in a file, or behind a URL.
struct FileSource {
  std::filesystem::path path = {};
  std::string field = {};  // of its JSON; empty: the whole is the token
};

struct SourceHeader {
  std::string name = {};
  SecretString value = {};
};

struct UrlSource {
  std::string url = {};
  std::vector<SourceHeader> headers = {};
  std::string field = {};
};

struct ExecutableSource {
  std::string program = {};  // absolute
  std::vector<std::string> arguments = {};
  Duration timeout = std::chrono::seconds(30);
  std::filesystem::path output_file = {};  // may be empty
};

struct AwsSource {
  std::string region_url = {};  // these three: empty where the metadata service is not asked
  std::string credentials_url = {};
  std::string session_token_url = {};
  std::string verification_url = {};  // with {region}
};

struct ExternalAccount {
  std::string audience = {};
  std::string subject_token_type = {};
  std::string token_url = {};
  std::string client_id = {};  // may be empty, and the secret too
  SecretString client_secret = {};
  std::string user_project = {};  // of a workforce pool; may be empty
  std::string impersonated = {};  // the account that its impersonation URL names; may be empty
  std::variant<FileSource, UrlSource, ExecutableSource, AwsSource> source = {};
};

struct Impersonation {
  std::string url = {};      // checked: …/serviceAccounts/EMAIL:generateAccessToken
  std::string account = {};  // its e-mail address, or number
  std::optional<std::vector<std::string>> delegates = {};
  std::chrono::seconds lifetime = std::chrono::hours(1);
};

struct GoogleCredentials {
  std::string type = {};  // as the file has it; empty for the metadata server
  std::variant<MetadataServer, ServiceAccountKey, AuthorizedUser, ExternalAccount> source = {};
  std::vector<Impersonation> impersonations = {};  // one after the other
  std::vector<std::string> scopes = {};            // of impersonated_service_account
  std::string universe_domain = std::string(kDefaultUniverse);
};

// Fails (configuration) if the text is malformed or of a type that is not supported;
// (no_credential) if its URLs are not allowed.
Result<GoogleCredentials> parse_google_credentials(std::string_view text,
                                                   const Endpoints& endpoints);

// Impersonation of the account, by the iamcredentials endpoint of the universe.
Result<Impersonation> impersonation_of(const std::string& account, std::string_view universe_domain,
                                       const Endpoints& endpoints);

}  // namespace execcred::google
