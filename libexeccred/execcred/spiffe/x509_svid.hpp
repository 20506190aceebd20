// SPDX-License-Identifier: Apache-2.0
// Fetches X.509-SVIDs (SPIFFE X.509-SVID standard) from the agent, and checks them.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/spiffe/svid_choice.hpp>
#include <execcred/spiffe/workload_api.hpp>
#include <execcred/x509/certificate.hpp>

#include <string>

namespace execcred {

struct X509Svid {
  ClientCertificate pair =
      {};  // the key as PKCS#8 PEM, the leaf first, then the others as they came
  std::string spiffe_id = {};
  std::string common_name = {};  // of the leaf's subject; empty where it has none
};

// Checks an SVID. The leaf has exactly one URI SAN, which is the message's SPIFFE ID; it is not a
// CA; its key usage has digitalSignature, and neither keyCertSign nor cRLSign; it has no extended
// key usage, or one with clientAuth; now is within its validity (which may begin up to 60 s later);
// and the key belongs to it. Every other certificate is a CA's, with keyCertSign. The bundle
// consists of certificates. Nothing follows the last certificate, the key or the bundle. Signatures
// are not verified: the server does that. Fails (no_credential) with what is wrong.
Result<X509Svid> check_x509_svid(const X509SvidMessage& message, TimePoint now);

// Asks the agent for SVIDs, chooses one, and checks it. Fails as WorkloadApi, choose_svid() and
// check_x509_svid() do; so it fails if the choice leaves certificates of different users (common
// name and organizations) or of different SPIFFE IDs.
Result<X509Svid> fetch_x509_svid(const WorkloadApi& api, const SvidChoice& choice,
                                 const Clock& clock);

}  // namespace execcred
