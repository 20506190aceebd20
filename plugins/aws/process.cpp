// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <execcred/deadline.hpp>
#include <execcred/fingerprint.hpp>
#include <execcred/json.hpp>
#include <execcred/text.hpp>

#include <optional>
#include <utility>

namespace execcred::aws {
namespace {

Error wrong(std::string message, std::string hint = {}) {
  return Error{
      .kind = Error::Kind::configuration, .message = std::move(message), .hint = std::move(hint)};
}

// POSIX, section 2.2. nullopt for a quote or a backslash without its end.
std::optional<std::vector<std::string>> shell_words(std::string_view text) {
  constexpr std::string_view kEscapedInQuotes = "\\\"$`";
  std::vector<std::string> words;
  bool is_in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && is_space(c)) {
      is_in_word = false;
      continue;
    }
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      if (i + 1 == text.size()) return std::nullopt;
      const bool is_kept = quote == '"' && kEscapedInQuotes.find(text[i + 1]) == std::string::npos;
      if (is_kept) words.back().push_back(c);
      words.back().push_back(text[++i]);
    } else {
      words.back().push_back(c);
    }
  }
  return quote == 0 ? std::optional(std::move(words)) : std::nullopt;
}

Result<AwsCredentials> read_reply(const json::Value& document) {
  const json::Value* const version = document.find("Version");
  if (version == nullptr || version->number() == nullptr || version->number()->text != "1") {
    return Error{.kind = Error::Kind::no_credential, .message = "its 'Version' is not 1"};
  }
  return aws_credentials_of_json(document, "SessionToken");
}

}  // namespace

Result<TokenCommand> parse_credential_process(const std::string& text) {
  std::optional<std::vector<std::string>> words = shell_words(text);
  if (!words) return wrong("credential_process has a quote or a backslash without its end");
  if (words->empty()) return wrong("credential_process is empty");
  TokenCommand command = {.program = std::move(words->front())};
  if (!command.program.starts_with('/')) {
    return wrong("credential_process does not begin with an absolute path",
                 "PATH is not searched: write where the program is");
  }
  words->erase(words->begin());
  command.arguments = *std::move(words);
  return command;
}

void identify_process(const TokenCommand& command, const Environment& environment, CacheKey& key) {
  SecretString arguments;
  for (const std::string& argument : command.arguments) {
    arguments.append(argument);
    arguments.append(std::string_view("\0", 1));
  }
  key.add("source", "process").add("process", command.program);
  key.add("process.fingerprint", fingerprint("process", arguments.reveal()));
  key.add("process.environment.fingerprint", environment_fingerprint(environment));
}

Result<AwsCredentials> run_credential_process(const TokenCommand& command, const Services& services,
                                              const ProviderCall& call) {
  deadline::enter_phase("running credential_process");
  const std::string doing = "reading what " + in_quotes(command.program) + " printed";
  TRY_ASSIGN(
      const SecretString output,
      run_token_command(command, environment_of_command(services.environment), services, call)
          .context("running credential_process"));
  Result<json::Value> document = json::parse(output.reveal());
  if (!document) {
    return Result<AwsCredentials>(Error{.kind = Error::Kind::no_credential,
                                        .message = "the JSON " + document.error().message})
        .context(doing);
  }
  Result<AwsCredentials> credentials = read_reply(*document);
  json::wipe(*document);
  return std::move(credentials).context(doing);
}

}  // namespace execcred::aws
