// SPDX-License-Identifier: Apache-2.0
#include "subject.hpp"

#include "subject_kubernetes.hpp"
#include "subject_url.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/inner_program.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/spiffe/jwt_svid.hpp>
#include <execcred/spiffe/workload_api.hpp>

#include <utility>

namespace execcred::oidc_federation {
namespace {

// Unlike Environment::get, this distinguishes an empty variable from one that is not set.
Result<SecretString> read_variable(const Environment& environment, const std::string& name) {
  for (const std::string& entry : last_of_each_name(environment.entries())) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return SecretString(std::string_view(entry).substr(name.size() + 1));
    }
  }
  return Error{.kind = Error::Kind::configuration,
               .message = "the variable " + in_quotes(name) + " is not set",
               .hint = "--subject-token-env names the variable that holds the subject token",
               .cause = cause::kSourceMissing};
}

// The machine and the environment of the program may determine the identity.
void plan_command(Inputs& inputs) {
  inputs.add_machine();  // as which the program may ask
  add_environment(true, inputs);
}

Result<SecretString> run_subject_command(const InnerCommand& command, const CallContext& call) {
  const SecretString output =
      TRY(run_token_command(command, environment_of_command(call.environment), call));
  return TRY(bearer_token(output).context("reading what " + in_quotes(command.program) +
                                          " printed"))
      .take();
}

// A JWT-SVID of this process, from the agent on this machine.
Result<SecretString> fetch_spiffe(const Options& options, const CallContext& call) {
  const SpiffeOptions& spiffe = options.subject.spiffe;
  if (spiffe.socket.empty()) {
    return Error::configuration("--subject=spiffe needs the Workload API's socket",
                                "set SPIFFE_ENDPOINT_SOCKET=unix:///PATH, or pass --socket");
  }
  WorkloadEndpoint endpoint = TRY(parse_workload_endpoint(spiffe.socket));
  const WorkloadApi api(std::move(endpoint), call);
  JwtSvid svid = TRY(fetch_jwt_svid(api, {subject_audience(options)}, spiffe.choice, call.clock));
  call.debug("got a JWT-SVID of " + in_quotes(svid.spiffe_id));
  return std::move(svid.token);
}

}  // namespace

Result<Subject> Subject::open(const Options& options, Inputs& inputs) {
  Subject subject(options, inputs.request());
  TRY(subject.read(inputs));
  return subject;
}

Status Subject::read(Inputs& inputs) {
  const SubjectOptions& subject = options_.subject;
  const SubjectSource source = options_.subject_source();
  is_local_ = source == SubjectSource::none || source == SubjectSource::file ||
              source == SubjectSource::variable;
  switch (source) {
    case SubjectSource::none:
      return {};
    case SubjectSource::file:
      return take(Inputs::unrecorded_file("its token is recorded", subject.file), inputs)
          .context(request_.reading("--subject-token-file", subject.file));
    case SubjectSource::variable:
      return take(read_variable(inputs.unrecorded_environment("its token is recorded"),
                                subject.variable),
                  inputs)
          .context(request_.reading("--subject-token-env", subject.variable));
    case SubjectSource::url:
      return plan_url(subject, inputs);
    case SubjectSource::command:
      plan_command(inputs);
      return {};
    case SubjectSource::github_actions:
      return plan_github_actions(options_, inputs);
    case SubjectSource::gcp_metadata:
      plan_gcp_metadata(inputs);
      return {};
    case SubjectSource::kubernetes:
      hub_ = plan_kubernetes(options_, inputs);
      return {};
    case SubjectSource::spiffe:
      inputs.add_process();
      return {};
  }
  return Error::internal("a source of subject tokens without a name");
}

Status Subject::take(Result<SecretString> content, Inputs& inputs) {
  if (!content) return std::move(content).error();
  token_ = TRY(bearer_token_of_source(*content));
  // A new refresh token is another grant, although it may have the same claims.
  if (options_.flow == Flow::refresh_token) {
    inputs.add_secret("subject", token_.text().reveal());
  } else {
    inputs.add_token("subject", token_);
  }
  return {};
}

Result<SecretString> Subject::get(CallContext& call) const {
  if (options_.subject_source() == SubjectSource::none) return SecretString();
  SecretString token = token_.text().copy();
  if (!is_local_) {
    deadline::enter_phase("getting the subject token");
    token = TRY(fetch(call).context("getting the subject token"));
  }
  // Only its server knows the format of a refresh token.
  if (options_.flow != Flow::refresh_token) {
    Status checked = check_source_lifetime(token, call.clock.now());
    if (!checked) checked.error().is_local = is_local_;
    TRY(std::move(checked).context("looking at the subject token"));
  }
  return token;
}

Result<SecretString> Subject::fetch(CallContext& call) const {
  switch (options_.subject_source()) {
    case SubjectSource::url:
      return fetch_url(options_.subject, request_, call);
    case SubjectSource::command:
      return run_subject_command(options_.subject.command, call);
    case SubjectSource::github_actions:
      return fetch_github_actions(options_, request_, call);
    case SubjectSource::gcp_metadata:
      return fetch_gcp_metadata(options_, call);
    case SubjectSource::kubernetes:
      return request_from_kubernetes(options_, *hub_, call);
    case SubjectSource::spiffe:
      return fetch_spiffe(options_, call);
    case SubjectSource::none:
    case SubjectSource::file:
    case SubjectSource::variable:
      break;
  }
  return token_.text().copy();
}

}  // namespace execcred::oidc_federation
