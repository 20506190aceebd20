# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# How names are resolved in a root that has only /etc/resolv.conf and /etc/hosts. Sourced by runtime.sh.

# resolv_conf LINE...
resolv_conf() { printf '%s\n' "$@" >"$RUNTIME/rootfs/etc/resolv.conf"; }
forget_questions() { : >"$RUNTIME/dns.log"; }
was_asked() { grep -qxF "$1" "$RUNTIME/dns.log"; }
was_not_asked() { ! was_asked "$1"; }

resolves_from_hosts() {
  resolv_conf "nameserver $NO_DNS"
  asks listed.fleet.test && verdict took_at_most 3000
}

# As the kubelet writes it: a name with fewer dots than ndots is tried in every domain first.
searches_domains() {
  resolv_conf "nameserver $GOOD_DNS" \
    "search fleet-system.svc.cluster.local svc.cluster.local cluster.local" "options ndots:5"
  forget_questions
  asks idp.fleet-system.svc && asks idp.fleet.test &&
    verdict was_asked "udp A idp.fleet-system.svc.svc.cluster.local" &&
    verdict was_asked "udp A idp.fleet-system.svc.cluster.local" &&
    verdict was_asked "udp A idp.fleet.test.cluster.local" && verdict was_asked "udp A idp.fleet.test"
}

# The final dot means that a name is absolute.
searches_nothing_for_whole_names() {
  resolv_conf "nameserver $GOOD_DNS" "search cluster.local" "options ndots:5"
  forget_questions
  asks idp.fleet.test. && verdict was_not_asked "udp A idp.fleet.test.cluster.local"
}

asks_by_tcp_where_truncated() {
  forget_questions
  asks large.fleet.test && verdict was_asked "udp A large.fleet.test" &&
    verdict was_asked "tcp A large.fleet.test"
}

asks_another_server() {
  resolv_conf "nameserver $1" "nameserver $GOOD_DNS"
  asks idp.fleet.test && verdict took_at_most 3000
}

# gives_up CODE MESSAGE STEP HOST: fails within the deadline, with this message and step.
gives_up() {
  local seconds=2
  fails_with "$1" "$2" -- "${FEDERATION[@]}" "--token-url=https://$4/token" "--timeout=${seconds}s" &&
    verdict says "$3" && verdict took_at_most $((seconds * 1000 + DNS_MARGIN))
}
# For what starts before the plugin's timer: namespaces, sudo, an emulator.
DNS_MARGIN=700

has_failure() { as_root find "$RUNTIME/cache" -name '*.failure' | grep -q .; }

# without_answer SERVER: this server gives no answer. The look-up ends with the call, before the run, so the
# failure is in the cache.
without_answer() {
  resolv_conf "nameserver $1"
  gives_up 3 "timed out" "while asking the token endpoint" idp.fleet.test &&
    fails_with 3 "timed out" -- "${FEDERATION[@]:0:2}" --cache-dir=/cache \
      --token-url=https://idp.fleet.test/token --timeout=3s && verdict has_failure
}

without_configuration() {
  rm "$RUNTIME/rootfs/etc/resolv.conf" "$RUNTIME/rootfs/etc/hosts"
  gives_up 3 "timed out" "while asking the token endpoint" idp.fleet.test
}

# check_name WHAT COMMAND...: one case, after which names are resolved as before.
check_name() {
  check "$@"
  reset_root
}

check_dns() {
  local name="$1 execcred-oidc-federation, confined"
  use_plugin "$1" execcred-oidc-federation
  check_name "$name: resolves by /etc/hosts, without a DNS server" resolves_from_hosts
  if [ -e /proc/net/if_inet6 ]; then
    check_name "$name: resolves a name with IPv6 addresses only" asks six.fleet.test
  else
    skip "$name: resolves a name with IPv6 addresses only" "this kernel has no IPv6"
  fi
  check_name "$name: search domains, ndots:5" searches_domains
  check_name "$name: no search for a name that ends in a dot" searches_nothing_for_whole_names
  check_name "$name: TCP if an answer is truncated" asks_by_tcp_where_truncated
  check_name "$name: a server without a listener, then a good one" asks_another_server "$NO_DNS"
  check_name "$name: a server that is silent, then a good one" asks_another_server "$BLACK_HOLE_DNS"
  check_name "$name: a name that does not exist" \
    gives_up 3 "cannot resolve 'nobody.fleet.test'" "while asking" nobody.fleet.test
  check_name "$name: no DNS server listens: the deadline holds" without_answer "$NO_DNS"
  check_name "$name: the DNS server is silent: the deadline holds" without_answer "$BLACK_HOLE_DNS"
  check_name "$name: the DNS server fails: the deadline holds" without_answer "$FAILING_DNS"
  check_name "$name: no resolv.conf, no hosts: the deadline holds" without_configuration
}
