// SPDX-License-Identifier: Apache-2.0
#include "subject.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/inner_program.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/json/json.hpp>
#include <execcred/oauth/local_url.hpp>
#include <execcred/os/deadline.hpp>

#include <utility>

namespace execcred::google {
namespace {

constexpr std::string_view kSaml = "urn:ietf:params:oauth:token-type:saml2";

Result<SecretString> member_of(const SecretString& text, const std::string& field) {
  const Result<json::SecretValue> document = json::parse_secret(text.reveal());
  if (!document) return Error::no_credential("the JSON " + document.error().message);
  const json::Value* const member = (*document)->find(field);
  SecretString token;
  if (member != nullptr && member->string() != nullptr) token = SecretString(*member->string());
  if (!token.empty()) return token;
  return Error::no_credential("the JSON has no string " + in_quotes(field));
}

Result<SecretString> fetch_url(const UrlSource& source, const std::string& type,
                               const TlsSettings& tls, CallContext& call) {
  HttpRequest request = {.url = source.url};
  for (const SourceHeader& header : source.headers) {
    request.headers.push_back({.name = header.name, .value = header.value.copy()});
  }
  const Url url = TRY(parse_url(source.url));
  const HttpResponse reply = TRY(ask_local_url(std::move(request), tls, call));
  return subject_token_of(reply.body, source.field, type)
      .context("reading what " + origin_of(url) + " answered");
}

}  // namespace

Result<SecretString> subject_token_of(const SecretString& text, const std::string& field,
                                      const std::string& type) {
  SecretString content = text.trimmed();
  if (!field.empty()) {
    content = TRY(member_of(content, field));
  }
  if (type != kSaml) return TRY(bearer_token(content)).take();
  if (content.empty() || content.reveal().find('\0') != std::string_view::npos) {
    return Error::no_credential("this is no SAML assertion");
  }
  return content;
}

Result<Subject> Subject::open(const ExternalAccount* account, Inputs& inputs) {
  Subject subject(account);
  if (account != nullptr) TRY(subject.read(inputs));
  return subject;
}

Status Subject::read(Inputs& inputs) {
  if (const auto* file = std::get_if<FileSource>(&account_->source)) {
    const auto read = [&]() -> Result<SecretString> {
      const SecretString content =
          TRY(Inputs::unrecorded_file("its token is recorded", file->path));
      return subject_token_of(content, file->field, account_->subject_token_type);
    };
    token_ = TRY(read()
                     .context("reading the subject token in " + in_quotes(file->path.native()))
                     .hint("it must hold one token and nothing else, or JSON with the field"));
    inputs.add_token("subject", token_);
  } else if (std::holds_alternative<UrlSource>(account_->source)) {
    inputs.add_machine();
  } else if (std::holds_alternative<ExecutableSource>(account_->source)) {
    inputs.add_machine();  // as which the program may ask
    add_environment(true, inputs);
  } else if (std::holds_alternative<AwsSource>(account_->source)) {
    plan_aws(inputs);
  }
  return {};
}

Result<SecretString> Subject::fetch(const TlsSettings& tls, CallContext& call) const {
  const std::string& type = account_->subject_token_type;
  if (const auto* url = std::get_if<UrlSource>(&account_->source)) {
    return fetch_url(*url, type, tls, call);
  }
  if (const auto* executable = std::get_if<ExecutableSource>(&account_->source)) {
    return run_executable(*executable, *account_, call);
  }
  if (const auto* aws = std::get_if<AwsSource>(&account_->source)) {
    return sign_for_aws(*aws, account_->audience, call);
  }
  return token_.copy();
}

Result<SecretString> Subject::get(const TlsSettings& tls, CallContext& call) const {
  deadline::enter_phase("getting the subject token");
  SecretString token = TRY(fetch(tls, call).context("getting the subject token"));
  Status checked = check_source_lifetime(token, call.clock.now());
  if (!checked) checked.error().is_local = !token_.empty();
  TRY(std::move(checked).context("looking at the subject token"));
  return token;
}

}  // namespace execcred::google
