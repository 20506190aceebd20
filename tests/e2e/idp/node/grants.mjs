// SPDX-License-Identifier: Apache-2.0
// Extensions of oidc-provider: the grants for tokens of another issuer, and a refresh token without
// a login in a browser.

import { createRemoteJWKSet, jwtVerify } from "jose";
import { errors } from "oidc-provider";
import { JWT_BEARER, TOKEN_EXCHANGE } from "./clients.mjs";

const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:";
const LIFETIME = 300;

// subjectVerifier ISSUER AUDIENCE: resolves a JWT of that issuer to its claims.
export function subjectVerifier(issuer, audience) {
  const keys = createRemoteJWKSet(new URL(`${issuer}/openid/v1/jwks`));
  return async (token) => (await jwtVerify(token, keys, { issuer, audience })).payload;
}

function accessToken(provider, ctx, subject, audience) {
  const token = new provider.AccessToken({
    accountId: subject,
    client: ctx.oidc.client,
    gty: "exchange",
  });
  token.resourceServer = new provider.ResourceServer("urn:e2e:exchange", {
    audience,
    accessTokenTTL: LIFETIME,
    accessTokenFormat: "jwt",
    jwt: { sign: { alg: "ES256" } },
  });
  return token.save();
}

function required(params, ...names) {
  for (const name of names) {
    if (!params[name]) throw new errors.InvalidRequest(`missing required parameter ${name}`);
  }
}

// RFC 8693. The token is for the one requested audience, or for the cluster if none is requested.
export function addTokenExchange(provider, verify, defaultAudience) {
  const exchange = async (ctx) => {
    const { params } = ctx.oidc;
    required(params, "subject_token", "subject_token_type");
    if (params.subject_token_type !== `${TOKEN_TYPE}jwt`) {
      throw new errors.InvalidRequest("unsupported subject_token_type");
    }
    let claims;
    try {
      claims = await verify(params.subject_token);
    } catch (error) {
      throw new errors.InvalidRequest(`subject_token: ${error.code}`);
    }
    const [audience, ...others] = [params.audience ?? defaultAudience].flat();
    if (others.length > 0) throw new errors.InvalidTarget();
    const type = params.requested_token_type ?? `${TOKEN_TYPE}access_token`;
    ctx.body = {
      access_token: await accessToken(provider, ctx, claims.sub, audience),
      issued_token_type: type,
      token_type: type === `${TOKEN_TYPE}access_token` ? "Bearer" : "N_A",
      expires_in: LIFETIME,
    };
  };
  const parameters = ["subject_token", "subject_token_type", "requested_token_type", "audience"];
  provider.registerGrantType(TOKEN_EXCHANGE, exchange, [...parameters, "scope"], ["audience"]);
}

// RFC 7523.
export function addJwtBearer(provider, verify, audience) {
  const grant = async (ctx) => {
    required(ctx.oidc.params, "assertion");
    let claims;
    try {
      claims = await verify(ctx.oidc.params.assertion);
    } catch (error) {
      throw new errors.InvalidGrant(`assertion: ${error.code}`);
    }
    ctx.body = {
      access_token: await accessToken(provider, ctx, claims.sub, audience),
      token_type: "Bearer",
      expires_in: LIFETIME,
    };
  };
  provider.registerGrantType(JWT_BEARER, grant, ["assertion", "scope"]);
}

// newRefreshToken PROVIDER CLIENT_ID ACCOUNT RESOURCE: the refresh token that a login would give.
export async function newRefreshToken(provider, clientId, accountId, resource) {
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope("offline_access");
  grant.addResourceScope(resource, "api");
  const token = new provider.RefreshToken({
    accountId,
    client: await provider.Client.find(clientId),
    grantId: await grant.save(),
    gty: "authorization_code",
    resource,
    scope: "offline_access api",
  });
  return token.save();
}
