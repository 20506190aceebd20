# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Keycloak with a realm that has one client for each client authentication method. Sourced after
# federation.sh.

# KEYCLOAK_SUB is the ServiceAccount whose token is the assertion of the client "federated".
KEYCLOAK_REALM=fleet

start_keycloak() {
  local attempt base directory=$FEDERATION/keycloak
  # Keycloak's scripts write into their own directory.
  cp -r "$E2E_KEYCLOAK" "$directory"
  for attempt in 1 2 3; do
    free_ports 3
    base=https://127.0.0.1:${PORTS[0]}
    # shellcheck disable=SC2034
    KEYCLOAK_URL=$base/realms/$KEYCLOAK_REALM
    background "$FEDERATION/log/keycloak" env KC_BOOTSTRAP_ADMIN_USERNAME=admin \
      KC_BOOTSTRAP_ADMIN_PASSWORD=admin JAVA_OPTS_KC_HEAP="-Xms64m -Xmx512m" \
      "$directory/bin/kc.sh" start-dev --db=dev-mem --cache=local --http-host=127.0.0.1 \
      --https-port="${PORTS[0]}" --http-management-port="${PORTS[1]}" --http-port="${PORTS[2]}" \
      --hostname="$base" --truststore-paths="$FEDERATION_CA" \
      --https-certificate-file="$FEDERATION/pki/server.crt" \
      --https-certificate-key-file="$FEDERATION/pki/server.key" \
      --features=token-exchange-standard:v2,client-auth-federated:v1,kubernetes-service-accounts:v1
    if STARTUP=420 started keycloak answers "$base/realms/master"; then
      configure_keycloak "$base" || fail "Keycloak refuses the realm: $(cat "$FEDERATION/log/realm")"
      return
    fi
    grep -q 'already in use\|already bound' "$FEDERATION/log/keycloak" || break
    echo "# a port was taken by another process (attempt $attempt)" >&2
  done
  fail "Keycloak did not become ready"
}

configure_keycloak() {
  local base=$1 token
  token=$(curl -fsS --noproxy '*' --cacert "$FEDERATION_CA" -d grant_type=password \
    -d client_id=admin-cli -d username=admin -d password=admin \
    "$base/realms/master/protocol/openid-connect/token" | jq -r .access_token)
  keycloak_realm >"$FEDERATION/realm.json"
  curl -sS --fail-with-body --noproxy '*' --cacert "$FEDERATION_CA" \
    -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
    --data-binary "@$FEDERATION/realm.json" "$base/admin/realms" -o "$FEDERATION/log/realm"
}

# Standard token exchange gives a token for a client only if the subject has a role of that client.
keycloak_realm() {
  jq -n --arg realm "$KEYCLOAK_REALM" --arg secret "$CLIENT_SECRET" --arg issuer "$ISSUER_URL" \
    --arg sub "$KEYCLOAK_SUB" --arg audience "$FEDERATED_AUDIENCE" \
    --arg certificate "$(openssl x509 -in "$FEDERATION/pki/rsa.crt" -outform DER | base64 -w0)" '
    def mapper($config): {name: "audience", protocol: "openid-connect",
      protocolMapper: "oidc-audience-mapper", config: ($config + {"access.token.claim": "true"})};
    def client($id): {clientId: $id, protocol: "openid-connect", publicClient: false,
      standardFlowEnabled: false, serviceAccountsEnabled: true,
      protocolMappers: [mapper({"included.custom.audience": $audience})]};
    {realm: $realm, enabled: true,
     clients: [
       client("plugin") + {secret: $secret,
                           attributes: {"standard.token.exchange.enabled": "true"}},
       client("caller") + {secret: $secret,
                           protocolMappers: [mapper({"included.client.audience": "plugin"})]},
       client("key") + {clientAuthenticatorType: "client-jwt",
         attributes: {"jwt.credential.certificate": $certificate,
                      "token.endpoint.auth.signing.alg": "RS256"}},
       client("federated") + {clientAuthenticatorType: "federated-jwt",
         attributes: {"jwt.credential.issuer": "cluster", "jwt.credential.sub": $sub}},
       client($audience)],
     roles: {client: {($audience): [{name: "user"}]}},
     users: [{username: "service-account-caller", enabled: true, serviceAccountClientId: "caller",
              clientRoles: {($audience): ["user"]}}],
     identityProviders: [
       {alias: "cluster", providerId: "kubernetes", enabled: true,
        config: {issuer: $issuer, supportsClientAssertions: "true",
                 supportsClientAssertionReuse: "true"}}]}'
}
