// SPDX-License-Identifier: Apache-2.0
// X.509-SVIDs (SPIFFE X.509-SVID standard), from the agent and checked.
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

// The leaf: exactly one URI SAN, the message's SPIFFE ID; no CA; a key usage with digitalSignature
// and without keyCertSign and cRLSign; no extended key usage or one with clientAuth; now within its
// validity (begun at most 60 s ahead); the key belongs to it. Every other certificate: a CA with
// keyCertSign. The bundle: certificates. Nothing may follow the last certificate, the key or the
// bundle. Signatures are the server's to judge. Fails (no_credential) with what is wrong.
Result<X509Svid> check_x509_svid(const X509SvidMessage& message, TimePoint now);

// Asks the agent, chooses and checks. Fails as these do; so it fails where the choice leaves
// certificates of different users (common name and organizations) or SPIFFE IDs.
Result<X509Svid> fetch_x509_svid(const WorkloadApi& api, const SvidChoice& choice,
                                 const Clock& clock);

}  // namespace execcred
