# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Apache's web server in place of an API server, with one port for each kind of wrong server. Sourced
# after suite.sh.

APACHE_MODULES=/usr/lib/apache2/modules

# Each site's directives. NAME_SITE is its address afterwards.
declare -A WEB_SITES=(
  [FOREIGN]='Redirect 404 /'
  [MOVED]='Redirect 302 / https://login.example.com/'
  [LOGIN]='Redirect 401 /'
  [FORBIDDING]='Redirect 403 /'
  [BROKEN]='Redirect 500 /'
  [BALANCER]='ProxyPass / http://127.0.0.1:1/'
  [BUSY]='Redirect 429 /'
  [OLD]='SSLProtocol TLSv1.1'
  [PLAIN]='SSLEngine off'
)

# web_config FOLDER PKI PORT...: prints the configuration of all sites. Their certificate is from the
# cluster's CA.
web_config() {
  local folder=$1 pki=$2 module name
  shift 2
  for module in mpm_event authz_core alias ssl proxy proxy_http; do
    echo "LoadModule ${module}_module $APACHE_MODULES/mod_$module.so"
  done
  [ "$(id -u)" -ne 0 ] || printf '%s\n' "User nobody" "Group nogroup"
  printf '%s\n' "ServerName 127.0.0.1" "ServerRoot $folder" "DocumentRoot $folder/pages" \
    "PidFile $folder/pid" "ErrorLog $folder/log" "SSLCertificateFile $pki/server.crt" \
    "SSLCertificateKeyFile $pki/server.key" "SSLCipherSuite DEFAULT:@SECLEVEL=0" "ProxyTimeout 5"
  for name in "${!WEB_SITES[@]}"; do
    printf '%s\n' "Listen 127.0.0.1:$1" "<VirtualHost 127.0.0.1:$1>" "SSLEngine on" \
      "${WEB_SITES[$name]}" "</VirtualHost>"
    printf -v "${name}_SITE" 'https://127.0.0.1:%s' "$1"
    shift
  done >"$folder/sites"
  echo "Include $folder/sites"
}

# web_start FOLDER PKI
web_start() {
  free_ports "${#WEB_SITES[@]}"
  mkdir -p "$1/pages"
  web_config "$1" "$2" "${PORTS[@]}" >"$1/conf"
  background "$1/out" apache2 -X -f "$1/conf"
  wait_until 120 curl -sS --max-time 2 --noproxy '*' -o /dev/null "http://${PLAIN_SITE#https://}" ||
    fail "apache2: $(cat "$1/out" "$1/log")"
}

# silent_port LOG: sets SILENT_SITE to a port whose queue is full, so that no connection is accepted.
silent_port() {
  background "$1" python3 -c 'import socket, time
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(0)
waiting = [socket.socket() for _ in range(4)]
for one in waiting:
    one.setblocking(False)
    one.connect_ex(listener.getsockname())
print(listener.getsockname()[1], flush=True)
time.sleep(3600)'
  wait_until 120 test -s "$1" || fail "no port that is silent"
  # shellcheck disable=SC2034
  SILENT_SITE=https://127.0.0.1:$(cat "$1")
}
