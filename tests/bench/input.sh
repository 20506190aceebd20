# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The input that execcred-token-file gets from a client and the kubelet, with usual sizes. Sourced.

# The API server's issuer. It is also the audience of tokens that are requested without one.
INPUT_AUDIENCE=https://kubernetes.default.svc.cluster.local
INPUT_HOST=member-1.fleet.example.com

base64url() { base64 -w0 | tr '+/' '-_' | tr -d '='; }

# make_key_pair NAME SUBJECT: NAME.key and the self-signed NAME.crt, as kubeadm makes its CA.
make_key_pair() {
  openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "$2" \
    -addext keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign \
    -keyout "$1.key" -out "$1.crt" 2>/dev/null
}

# service_account_token KEY: an RS256 token with the claims of a TokenRequest, valid for an hour.
service_account_token() {
  local now signed
  now=$(date +%s)
  signed=$(printf '{"alg":"RS256","kid":"%s"}' \
    "$(openssl pkey -in "$1" -pubout -outform DER | openssl dgst -sha256 -binary | base64url)" |
    base64url)
  signed+=.$(printf '{"aud":["%s"],"exp":%d,"iat":%d,"iss":"%s","jti":"%s","kubernetes.io":{"namespace":"fleet-system","serviceaccount":{"name":"fleet-controller","uid":"%s"}},"nbf":%d,"sub":"system:serviceaccount:fleet-system:fleet-controller"}' \
    "$INPUT_AUDIENCE" $((now + 3600)) "$now" "$INPUT_AUDIENCE" \
    "$(cat /proc/sys/kernel/random/uuid)" "$(cat /proc/sys/kernel/random/uuid)" "$now" | base64url)
  printf '%s.%s' "$signed" "$(printf %s "$signed" | openssl dgst -sha256 -sign "$1" -binary | base64url)"
}

# project_token DIR TOKEN: writes DIR/token as in a projected volume, with the symbolic link ..data.
project_token() {
  local payload
  payload=..$(date -u +%Y_%m_%d_%H_%M_%S).$RANDOM
  mkdir -p "$1/$payload"
  printf %s "$2" >"$1/$payload/token"
  chmod 755 "$1" "$1/$payload"
  chmod 644 "$1/$payload/token"
  ln -s "$payload" "$1/..data"
  ln -s ..data/token "$1/token"
}

# exec_info CA_FILE: KUBERNETES_EXEC_INFO as client-go writes it.
exec_info() {
  printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"https://%s:6443","certificate-authority-data":"%s","config":{"clusterName":"member-1"}},"interactive":false}}\n' \
    "$INPUT_HOST" "$(base64 -w0 "$1")"
}

# make_input DIR: DIR/volume/token and DIR/exec-info.json.
make_input() {
  make_key_pair "$1/ca" /CN=kubernetes
  project_token "$1/volume" "$(service_account_token "$1/ca.key")"
  exec_info "$1/ca.crt" >"$1/exec-info.json"
}
