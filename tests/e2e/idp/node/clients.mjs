// SPDX-License-Identifier: Apache-2.0
// The provider's clients: one for each client authentication method.

import crypto from "node:crypto";
import fs from "node:fs";

export const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
export const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

// Contains the characters that form-encoding changes.
const SECRET = "s3c/ret+:% &=";

function client(id, method, fields = {}) {
  return {
    client_id: id,
    token_endpoint_auth_method: method,
    grant_types: ["client_credentials", "refresh_token", TOKEN_EXCHANGE, JWT_BEARER],
    redirect_uris: [],
    response_types: [],
    ...fields,
  };
}

function keyClient(id, alg, keyFile) {
  const jwk = crypto.createPublicKey(fs.readFileSync(keyFile)).export({ format: "jwk" });
  return client(id, "private_key_jwt", {
    token_endpoint_auth_signing_alg: alg,
    jwks: { keys: [{ ...jwk, kid: "first", use: "sig" }] },
  });
}

// `pki` is the directory of the clients' keys.
export function clients(pki) {
  return [
    client("basic client+1", "client_secret_basic", { client_secret: SECRET }),
    client("post", "client_secret_post", { client_secret: SECRET }),
    client("public", "none", { grant_types: ["refresh_token", TOKEN_EXCHANGE, JWT_BEARER] }),
    keyClient("key-RS256", "RS256", `${pki}/rsa.key`),
    keyClient("key-PS256", "PS256", `${pki}/rsa.key`),
    keyClient("key-ES256", "ES256", `${pki}/ec.key`),
    keyClient("key-EdDSA", "EdDSA", `${pki}/ed25519.key`),
    keyClient("federated", "RS256", `${pki}/rsa.key`),
    client("mtls", "tls_client_auth", { tls_client_auth_san_dns: "mtls-client" }),
  ];
}
