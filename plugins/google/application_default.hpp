// SPDX-License-Identifier: Apache-2.0
// Application default credentials (https://google.aip.dev/auth/4110), in their order:
//
//   --credentials-file
//   GOOGLE_APPLICATION_CREDENTIALS
//   CLOUDSDK_CONFIG, or else ~/.config/gcloud: application_default_credentials.json
//   the metadata server
#pragma once

#include "credentials.hpp"
#include "options.hpp"

#include <execcred/base/result.hpp>
#include <execcred/exec/inputs.hpp>

#include <string>

namespace execcred::google {

struct ApplicationDefault {
  GoogleCredentials credentials = {};
  std::string path = {};  // of the file; empty for the metadata server
};

// Finds and reads the credentials, and applies the options: the service account to impersonate, and
// the provider. `named_by` is what names options.credentials_file, for messages. Fails as
// parse_google_credentials() does, and (configuration) if a named file does not exist, or if the
// options do not fit its type.
Result<ApplicationDefault> load_application_default(const Options& options,
                                                    const std::string& named_by, Inputs& inputs);

}  // namespace execcred::google
