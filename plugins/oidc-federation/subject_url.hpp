// SPDX-License-Identifier: Apache-2.0
// Subject tokens that are fetched by HTTP: from a URL, from GitHub Actions, from Google's metadata
// server. execcred/oauth/local_url.hpp has the rule for plain http.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/exec/inputs.hpp>

#include <string>

namespace execcred::oidc_federation {

// The value of --subject-audience, or else the issuer.
const std::string& subject_audience(const Options& options);

Status plan_url(const SubjectOptions& subject, Inputs& inputs);
Result<SecretString> fetch_url(const SubjectOptions& subject, const CredentialRequest& run,
                               CallContext& call);

// Reads ACTIONS_ID_TOKEN_REQUEST_URL and ACTIONS_ID_TOKEN_REQUEST_TOKEN.
Status plan_github_actions(const Options& options, Inputs& inputs);
Result<SecretString> fetch_github_actions(const Options& options, const CredentialRequest& run,
                                          CallContext& call);

// Uses GCE_METADATA_HOST, or metadata.google.internal.
void plan_gcp_metadata(Inputs& inputs);
Result<SecretString> fetch_gcp_metadata(const Options& options, CallContext& call);

}  // namespace execcred::oidc_federation
