// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <execcred/base/shell_words.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json.hpp>
#include <execcred/os/deadline.hpp>

#include <utility>

namespace execcred::aws {
namespace {

Result<AwsCredentials> read_reply(const json::Value& document) {
  const json::Value* const version = document.find("Version");
  if (version == nullptr || version->number() == nullptr || version->number()->text != "1") {
    return Error::no_credential("its 'Version' is not 1");
  }
  return aws_credentials_of_json(document, "SessionToken");
}

}  // namespace

Result<InnerCommand> parse_credential_process(const std::string& text) {
  Result<std::vector<std::string>> words = split_shell_words(text);
  if (!words) {
    return Error::configuration("credential_process " + words.error().message,
                                "end each quote, as in a shell");
  }
  if (words->empty()) return Error::configuration("credential_process is empty");
  InnerCommand command = {.program = std::move(words->front())};
  if (!command.program.starts_with('/')) {
    return Error::configuration("credential_process does not begin with an absolute path",
                                "PATH is not searched: write where the program is");
  }
  words->erase(words->begin());
  command.arguments = std::move(*words);
  return command;
}

Result<AwsCredentials> run_credential_process(const InnerCommand& command,
                                              const CallContext& call) {
  deadline::enter_phase("running credential_process");
  const std::string doing = "reading what " + in_quotes(command.program) + " printed";
  const SecretString output =
      TRY(run_token_command(command, environment_of_command(call.environment), call)
              .context("running credential_process"));
  const Result<json::SecretValue> document = json::parse_secret(output.reveal());
  if (!document) {
    return Result<AwsCredentials>(Error::no_credential("the JSON " + document.error().message))
        .context(doing);
  }
  return read_reply(**document).context(doing);
}

}  // namespace execcred::aws
