// SPDX-License-Identifier: Apache-2.0
// The issuer of a cluster's ServiceAccounts as a static site, as a cluster publishes it if others
// cannot reach its API server (--service-account-issuer).
//
//   node issuer.mjs TLS_CERTIFICATE TLS_KEY SIGNING_KEY URL_FILE
//
// URL_FILE is written last, when the site can be read.

import crypto from "node:crypto";
import fs from "node:fs";
import { listen, writeUrl } from "./loopback.mjs";

const [certificateFile, keyFile, signingKeyFile, urlFile] = process.argv.slice(2);

function publicJwk(file) {
  const key = crypto.createPublicKey(fs.readFileSync(file));
  // The key ID that kube-apiserver gives its keys.
  const kid = crypto
    .createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
  return { ...key.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" };
}

const server = await listen({
  cert: fs.readFileSync(certificateFile),
  key: fs.readFileSync(keyFile),
});

const pages = {
  "/.well-known/openid-configuration": {
    issuer: server.url,
    jwks_uri: `${server.url}/openid/v1/jwks`,
    authorization_endpoint: `${server.url}/none`,
    token_endpoint: `${server.url}/none`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  },
  "/openid/v1/jwks": { keys: [publicJwk(signingKeyFile)] },
};

server.on("request", (request, response) => {
  const page = pages[request.url];
  response.writeHead(page ? 200 : 404, { "Content-Type": "application/json" });
  response.end(JSON.stringify(page ?? { error: "not found" }));
});

writeUrl(urlFile, server.url);
