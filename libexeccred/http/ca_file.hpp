// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/base/result.hpp>

#include <filesystem>
#include <string>

namespace execcred {

// The PEM of a file of CA certificates, for TlsSettings. Fails as read_file does, and
// (configuration) where no certificate is in it: nothing at all would mean the system's roots.
Result<std::string> read_ca_file(const std::filesystem::path& path);

}  // namespace execcred
