// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/ca_file.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/file.hpp>

#include <utility>

namespace execcred {

Result<std::string> read_ca_file(const std::filesystem::path& path) {
  std::string pem = TRY(read_file(path, kMaxKubeconfig));
  if (pem.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    return Error{.kind = Error::Kind::configuration,
                 .message = in_quotes(path.native()) + " holds no certificate in PEM",
                 .hint = "give it the certificate of the CA, \"-----BEGIN CERTIFICATE-----\""};
  }
  return pem;
}

}  // namespace execcred
