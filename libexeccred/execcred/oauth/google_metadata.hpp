// SPDX-License-Identifier: Apache-2.0
// The metadata server of Google Cloud (Compute Engine, GKE workload identity): plain http to
// GCE_METADATA_HOST, or else to metadata.google.internal, and never through a proxy.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/http/http.hpp>
#include <execcred/oauth/local_url.hpp>

#include <string>
#include <string_view>

namespace execcred {

std::string google_metadata_host(const Environment& environment);

// Sends GET for "/computeMetadata/v1/" + `path`, which may have a query. Request and reply must
// have the header "Metadata-Flavor: Google". Fails with configuration if the host is malformed or
// not local (is_local_host), with no_credential if the server is another one, and otherwise as
// ask_local_url() does.
Result<HttpResponse> ask_google_metadata(std::string_view path, CallContext& call);

}  // namespace execcred
