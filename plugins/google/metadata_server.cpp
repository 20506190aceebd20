// SPDX-License-Identifier: Apache-2.0
#include "access_token.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/oauth/google_metadata.hpp>
#include <execcred/oauth/token_reply.hpp>
#include <execcred/os/deadline.hpp>

#include <algorithm>
#include <utility>

namespace execcred::google {
namespace {

constexpr std::string_view kPath = "instance/service-accounts/default/token?scopes=";

// The hint: one for a server that answers, and one for a machine without a server.
std::string_view hint_for(const Error& error) {
  if (error.kind == Error::Kind::no_credential) {
    return "the Pod or machine has no service account for this, or not with these scopes";
  }
  return "no credentials file was found, so the metadata server was asked: outside Google Cloud "
         "set "
         "GOOGLE_APPLICATION_CREDENTIALS or --credentials-file";
}

}  // namespace

Result<AccessToken> ask_metadata_server(const std::vector<std::string>& scopes, CallContext& call) {
  deadline::enter_phase("asking the metadata server");
  const auto ask = [&]() -> Result<TokenReply> {
    const TimePoint asked = call.clock.now();
    const HttpResponse reply =
        TRY(ask_google_metadata(std::string(kPath) + percent_encode(join(scopes, ",")), call));
    // `expires_in` counts from when the server made the reply. The clock may have been set back.
    return parse_token_reply(
        reply, {.now = std::min(asked, call.clock.now()), .server = "the metadata server"});
  };
  Result<TokenReply> reply = ask().context("asking the metadata server for a token");
  if (reply) {
    return AccessToken{.token = std::move(reply->token), .expires_at = reply->expires_at};
  }
  Error& error = reply.error();
  if (error.kind != Error::Kind::configuration) error.hint = hint_for(error);
  return std::move(error);
}

}  // namespace execcred::google
