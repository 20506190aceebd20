// SPDX-License-Identifier: Apache-2.0
// Prevents a confused deputy: the writer of a ClusterProfile chooses both the credential and the
// server that gets it. These checks use the stored object to verify that the two belong together.
#pragma once

#include "options.hpp"
#include "stored_credential.hpp"

#include <vector>

namespace execcred::static_secret {

// If the stored object names its server, only that server gets the credential, verified for the
// same host, with stored CAs only, and without a proxy. Fails (no_credential), or (configuration)
// if there is no cluster information to compare with.
Status check_servers(const StoredCredential& stored, const Options& options,
                     const CredentialRequest& request);

// Adds the Secret's annotation of --server-annotation as one more stored server. Fails
// (no_credential) if the Secret does not have it.
Status add_annotated_server(const StoredSecret& secret, const Options& options,
                            StoredCredential& stored);

// Fails (no_credential) if a bearer token would be sent to a server whose certificate is not
// verified.
Status check_verified(const StoredCredential& stored, const Options& options,
                      const CredentialRequest& request);

// The identity of this process at a hub.
struct HubIdentity {
  SecretString token = {};   // empty: none, or a certificate
  StoredServer server = {};  // as this process connects to it
  bool is_source = false;    // the credential was read there
};

// A token of a hub's service accounts is valid only at that hub, and for everything there. Fails
// (no_credential) if such a token would be sent to another server or, by another CA, name or proxy
// than this process's own, perhaps not to the hub; or, for the hub that is the source, if no own
// token of a service account shows which ones are the hub's.
Status check_hub_token(const StoredCredential& stored, const std::vector<HubIdentity>& own,
                       const Options& options, const CredentialRequest& request);

// A Secret of type kubernetes.io/service-account-token contains a token of the hub itself. Fails
// (no_credential) unless the options allow such a Secret.
Status check_secret_type(const StoredSecret& secret, const Options& options);

}  // namespace execcred::static_secret
