// SPDX-License-Identifier: Apache-2.0
#include "sts.hpp"

#include "documents.hpp"
#include "plugin_under_test.hpp"

#include <execcred/base/rfc3339.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/exec/jwt.hpp>

#include <algorithm>
#include <regex>

namespace execcred::test {
namespace {

constexpr const char* kXmlNamespace = "https://sts.amazonaws.com/doc/2011-06-15/";

bool matches(const std::string& text, const std::string& pattern) {
  return std::regex_match(text, std::regex(pattern));
}

std::string xml_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

// Checks the JWT's audience, but not its signature.
std::string check_web_identity(const std::string& token) {
  const auto claims = unverified_claims(SecretString(token));
  if (!claims || !claims->has_value()) return "InvalidIdentityToken: no JWT";
  const auto& audiences = (*claims)->audiences;
  if (std::find(audiences.begin(), audiences.end(), "sts.amazonaws.com") == audiences.end()) {
    return "InvalidIdentityToken: incorrect audience";
  }
  return {};
}

}  // namespace

Sts::Sts() { work(); }

void Sts::know(const std::string& id, const std::string& secret, const std::string& token) {
  const std::scoped_lock lock(mutex_);
  keys_[id] = {.secret = secret, .session_token = token};
}

KnownKeys Sts::keys() const {
  const std::scoped_lock lock(mutex_);
  return keys_;
}

std::string Sts::problem() const {
  const std::scoped_lock lock(mutex_);
  return problem_;
}

void Sts::answer(const std::string& body, int status, const std::string& headers) {
  on("/", reply(status, body, headers));
}

void Sts::work() {
  on("/", [this](Stream& stream, const Received& request) { serve(stream, request); });
}

void Sts::serve(Stream& stream, const Received& request) {
  const std::string why = check(request);
  if (why.empty()) {
    stream.write(reply(200, session_for(request)));
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    if (problem_.empty()) problem_ = why;
  }
  const std::string code = why.substr(0, why.find(':'));
  stream.write(reply(400, speaks_xml ? sts_error_xml(code, why) : sts_error(code, why)));
}

std::string Sts::check(const Received& request) const {
  const auto field = [&request](std::string_view name) { return request.field(name); };
  const std::string action = field("Action");
  if (request.method != "POST" || request.target != "/") return "InvalidAction: method or path";
  if (field("Version") != "2011-06-15") return "InvalidAction: version";
  if (request.header("Content-Type") != "application/x-www-form-urlencoded; charset=utf-8") {
    return "InvalidRequest: content type";
  }
  if (!matches(field("RoleArn"), "arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+")) {
    return "ValidationError: RoleArn";
  }
  if (!matches(field("RoleSessionName"), "[A-Za-z0-9_+=,.@-]{2,64}")) {
    return "ValidationError: RoleSessionName";
  }
  const std::string duration = field("DurationSeconds");
  if (duration != "(missing)" && (!matches(duration, "[0-9]{3,5}") || std::stoi(duration) < 900 ||
                                  std::stoi(duration) > 43200)) {
    return "ValidationError: DurationSeconds";
  }
  if (action == "AssumeRoleWithWebIdentity") {
    if (!request.header("Authorization").empty()) return "InvalidRequest: must be unsigned";
    return takes_any_audience ? "" : check_web_identity(field("WebIdentityToken"));
  }
  if (action != "AssumeRole") return "InvalidAction: " + action;
  return judge_signed_request(request, keys()).problem;
}

std::string Sts::session_for(const Received& request) {
  const std::string duration = request.field("DurationSeconds");
  const std::int64_t end = blackbox::seconds_since_epoch() +
                           (duration == "(missing)" ? lifetime.load() : std::stoi(duration));
  const std::scoped_lock lock(mutex_);
  const std::string number = std::to_string(++sessions_);
  const std::string id = "ASIASESSION" + number;
  const SigningKeyPair key = {.secret = "s3ssion/S3cret+" + number + "AndMoreOfIt",
                              .session_token = "FwoG/t0ken+" + number + "AndMoreOfIt=="};
  keys_[id] = key;
  blackbox::remember_secret(key.secret);
  blackbox::remember_secret(key.session_token);
  const std::string action = request.field("Action");
  const std::string role = request.field("RoleArn");
  const std::string arn = "arn:aws:sts::" + std::string(kAccount) + ":assumed-role/" +
                          role.substr(role.rfind('/') + 1) + "/" + request.field("RoleSessionName");
  if (!speaks_xml) {
    return "{\"" + action + "Response\":{\"" + action +
           "Result\":{\"AssumedRoleUser\":{\"Arn\":\"" + arn +
           "\",\"AssumedRoleId\":\"AROAEXAMPLE:s\"},\"Credentials\":{\"AccessKeyId\":\"" + id +
           "\",\"Expiration\":" + std::to_string(end) + ".0,\"SecretAccessKey\":\"" + key.secret +
           "\",\"SessionToken\":\"" + key.session_token +
           "\"},\"PackedPolicySize\":null},\"ResponseMetadata\":{\"RequestId\":\"r\"}}}";
  }
  const std::string time = format_rfc3339(std::chrono::sys_seconds(std::chrono::seconds(end)));
  return "<" + action + "Response xmlns=\"" + kXmlNamespace + "\">\n  <" + action +
         "Result>\n    <AssumedRoleUser>\n      <Arn>" + arn +
         "</Arn>\n      <AssumedRoleId>AROAEXAMPLE:s</AssumedRoleId>\n    </AssumedRoleUser>\n" +
         "    <Credentials>\n      <AccessKeyId>" + id + "</AccessKeyId>\n      <SecretAccessKey>" +
         key.secret + "</SecretAccessKey>\n      <SessionToken>" + key.session_token +
         "</SessionToken>\n      <Expiration>" + time + "</Expiration>\n    </Credentials>\n  </" +
         action + "Result>\n  <ResponseMetadata>\n    <RequestId>r</RequestId>\n" +
         "  </ResponseMetadata>\n</" + action + "Response>\n";
}

std::string sts_error(const std::string& code, const std::string& message) {
  return "{\"Error\":{\"Code\":" + blackbox::json_string(code) +
         ",\"Message\":" + blackbox::json_string(message) +
         ",\"Type\":\"Sender\"},\"RequestId\":\"r\"}";
}

std::string sts_error_xml(const std::string& code, const std::string& message) {
  return "<ErrorResponse xmlns=\"" + std::string(kXmlNamespace) +
         "\">\n  <Error>\n    <Type>Sender</Type>\n    <Code>" + xml_escaped(code) +
         "</Code>\n    <Message>" + xml_escaped(message) +
         "</Message>\n  </Error>\n  <RequestId>r</RequestId>\n</ErrorResponse>\n";
}

}  // namespace execcred::test
