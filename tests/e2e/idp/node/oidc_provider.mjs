// SPDX-License-Identifier: Apache-2.0
// An OpenID provider (npm's oidc-provider) whose access tokens are JWTs for a cluster.
//
//   node oidc_provider.mjs TLS_CERTIFICATE TLS_KEY CA_FILE CLIENT_PKI SUBJECT_ISSUER URL_FILE
//
// A second port requests a client certificate. mtls_endpoint_aliases in the metadata names it.
// GET /e2e/refresh-token?client=ID&account=NAME returns the refresh token that a login would give.
// Standard output has a line for each token request: "STATUS GRANT CLIENT". URL_FILE is written
// last. NODE_EXTRA_CA_CERTS must contain the CA of SUBJECT_ISSUER.

import crypto from "node:crypto";
import fs from "node:fs";
import { exportJWK, generateKeyPair } from "jose";
import { Provider, errors } from "oidc-provider";
import { clients } from "./clients.mjs";
import { addJwtBearer, addTokenExchange, newRefreshToken, subjectVerifier } from "./grants.mjs";
import { listen, writeUrl } from "./loopback.mjs";

const [certificateFile, keyFile, caFile, clientPki, subjectIssuer, urlFile] =
  process.argv.slice(2);
const AUDIENCE = "k8s";
// The signature algorithm for the tokens of each resource.
const RESOURCES = { "https://k8s.example": "RS256", "https://k8s-es256.example": "ES256" };
const [DEFAULT_RESOURCE] = Object.keys(RESOURCES);

async function signingKey(alg) {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, kid: alg, use: "sig" };
}

function resourceServer(resource) {
  const alg = RESOURCES[resource];
  if (!alg) throw new errors.InvalidTarget();
  return {
    scope: "api",
    audience: AUDIENCE,
    accessTokenTTL: 600,
    accessTokenFormat: "jwt",
    jwt: { sign: { alg } },
  };
}

const mTLS = {
  enabled: true,
  tlsClientAuth: true,
  getCertificate(ctx) {
    const { raw } = ctx.socket.getPeerCertificate?.() ?? {};
    return raw && new crypto.X509Certificate(raw).toString();
  },
  certificateAuthorized: (ctx) => ctx.socket.authorized,
  certificateSubjectMatches: (ctx, property, expected) =>
    property === "tls_client_auth_san_dns" &&
    ctx.socket.getPeerCertificate().subjectaltname === `DNS:${expected}`,
};

const tls = { cert: fs.readFileSync(certificateFile), key: fs.readFileSync(keyFile) };
const server = await listen(tls);
// Clients without a certificate can connect too: the provider then refuses them with an error.
const mtlsServer = await listen({
  ...tls,
  ca: fs.readFileSync(caFile),
  requestCert: true,
  rejectUnauthorized: false,
});

const provider = new Provider(server.url, {
  clients: clients(clientPki),
  clientAuthMethods: [
    "client_secret_basic",
    "client_secret_post",
    "private_key_jwt",
    "tls_client_auth",
    "none",
  ],
  discovery: { mtls_endpoint_aliases: { token_endpoint: `${mtlsServer.url}/token` } },
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    mTLS,
    resourceIndicators: {
      enabled: true,
      defaultResource: () => DEFAULT_RESOURCE,
      getResourceServerInfo: (ctx, resource) => resourceServer(resource),
      useGrantedResource: () => true,
    },
  },
  findAccount: (ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  jwks: { keys: [await signingKey("RS256"), await signingKey("ES256")] },
  rotateRefreshToken: true,
  scopes: ["api", "offline_access", "openid"],
});

const verify = subjectVerifier(subjectIssuer, server.url);
addTokenExchange(provider, verify, AUDIENCE);
addJwtBearer(provider, verify, AUDIENCE);

provider.on("server_error", (ctx, error) => console.error(error));
provider.use(async (ctx, next) => {
  if (ctx.path === "/e2e/refresh-token") {
    const { client, account } = ctx.query;
    ctx.body = await newRefreshToken(provider, client, account, DEFAULT_RESOURCE);
    return;
  }
  await next();
  if (ctx.path !== "/token") return;
  const grant = ctx.oidc?.params?.grant_type?.split(":").at(-1);
  console.log(ctx.status, grant, JSON.stringify(ctx.oidc?.client?.clientId ?? null));
});

server.on("request", provider.callback());
mtlsServer.on("request", provider.callback());
writeUrl(urlFile, server.url);
