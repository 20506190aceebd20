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

// GETs "/computeMetadata/v1/" + `path`, which may have a query. Both sides must say
// "Metadata-Flavor: Google". Fails with configuration where the host is not local
// (is_local_host), with no_credential for another server, else as ask_local_url().
Result<HttpResponse> ask_google_metadata(std::string_view path, CallContext& call);

}  // namespace execcred
