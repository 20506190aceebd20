// SPDX-License-Identifier: Apache-2.0
#include "examination.hpp"

#include "authenticate.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/engine/credential_check.hpp>
#include <execcred/engine/plugin_run.hpp>
#include <execcred/http/route.hpp>
#include <execcred/http/tls.hpp>
#include <execcred/x509/openssl.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace execcred::doctor {
namespace {

Error profile_error(std::string message, std::string hint = {}) {
  return Error{.kind = Error::Kind::configuration,
               .message = std::move(message),
               .hint = std::move(hint),
               .cause = cause::kProfileInvalid};
}

Status take_proxy(const Cluster& cluster, const Environment& environment, Route& route) {
  route.http.proxy.url = cluster.proxy_url;
  if (cluster.proxy_url.empty()) {
    // If the cluster names no proxy, that of the environment is used, as in clients.
    const ProxySettings settings = proxy_of(environment);
    if (settings.url.empty() || is_proxy_exception(settings.exceptions, route.server)) return {};
    route.http.proxy.url = settings.url;
  }
  const Result<Proxy> proxy = parse_proxy(route.http.proxy.url);
  if (!proxy) {
    return profile_error("its proxy-url " + proxy.error().message,
                         "it must be http://, https:// or socks5://HOST:PORT");
  }
  route.proxy = proxy->url;
  return {};
}

Result<Route> route_of(const Cluster& cluster, const Environment& environment) {
  Route route;
  Result<Url> server = parse_url(cluster.server);
  if (!server) return profile_error("its server " + server.error().message);
  route.server = std::move(server).value();
  while (route.server.path.ends_with('/')) route.server.path.pop_back();
  route.verified = route.server.host;
  if (!cluster.tls_server_name.empty()) {
    Result<Host> name = parse_host(cluster.tls_server_name);
    if (!name) return profile_error("its tls-server-name " + name.error().message);
    route.verified = std::move(name).value();
    route.http.tls.server_name = cluster.tls_server_name;
  }
  route.is_insecure = cluster.insecure_skip_tls_verify;
  const std::optional<std::string> pem = decode_base64(cluster.certificate_authority_data);
  if (!pem) return profile_error("its certificate-authority-data is no base64");
  route.http.tls.ca_certificates = *pem;
  if (!pem->empty()) {
    TRY(start_openssl());
    const Result<std::unique_ptr<Tls>> tls = Tls::make({.ca_certificates = *pem});
    const Status loaded = tls ? (*tls)->load_roots() : Status(tls.error());
    if (!loaded) {
      return profile_error(
          "its certificate-authority-data cannot be used: " + loaded.error().message,
          "it must be the PEM of the cluster's CA, in base64");
    }
  }
  TRY(take_proxy(cluster, environment, route));
  return route;
}

void skip_server(Item& item, std::string_view why) {
  for (const StepId id : {StepId::clock, StepId::authenticate, StepId::authorize}) {
    item.skip(id, why);
  }
}

// Reports the steps up to TLS of a connection. `problem` is the error of the request for which it
// was made, or null. Returns false if a step has failed.
bool report_way(const Connection& connection, const Error* problem, const Route& route,
                Item& item) {
  bool is_failed = false;
  for (const StepId id : Connection::kWay) {
    const std::string* const seen = connection.seen(id);
    const bool is_of_proxy = route.proxy && id < StepId::proxy;
    if (is_failed) {
      item.skip(id, "a step before it failed");
    } else if (is_of_proxy || (id == StepId::proxy && seen != nullptr && !route.proxy)) {
      item.skip(id, is_of_proxy ? "the proxy does it" : *seen);
    } else if (seen != nullptr) {
      item.ok(id, *seen);
    }
    if (is_failed || seen != nullptr) continue;
    is_failed = true;
    item.fail(is_of_proxy ? StepId::proxy : id, *problem, cause::kTlsFailed);
  }
  if (is_failed) skip_server(item, "there is no connection");
  return !is_failed;
}

void check_ca(const Connection& connection, Duration warn_before, Item& item) {
  const PeerFacts& peer = connection.peer();
  if (!peer.ca_not_after) return;
  constexpr std::chrono::seconds kLast(9'223'372'036);
  const TimePoint end(std::min<std::chrono::seconds>(peer.ca_not_after->time_since_epoch(), kLast));
  item.ca_expires = end;
  const TimePoint now = SystemClock().now();
  if (end - now > warn_before) return;
  item.warn(StepId::tls, cause::kCaExpiresSoon,
            "the CA " + in_quotes(peer.ca_subject) + " ends at " + text_of(end),
            "add the new CA to the ClusterProfile before that time");
}

// Compares the token with the server's own file, and reports a mismatch. Does nothing if a reply of
// the server says more.
void compare_with_config(const AuthenticationConfig& config, const engine::CredentialFacts& facts,
                         Item& item) {
  const Step& authenticate = item.step(StepId::authenticate);
  const bool is_unanswered = authenticate.verdict == Verdict::skipped ||
                             authenticate.cause == cause::kServerError ||
                             authenticate.cause == cause::kServerThrottled;
  if (!is_unanswered || !facts.claims) return;
  const Mismatch mismatch = compare(config, *facts.claims, facts.payload);
  if (mismatch.kind == Mismatch::Kind::issuer) {
    item.fail(StepId::credential, cause::kCredentialWrongIssuer, mismatch.message, mismatch.hint);
  } else if (mismatch.kind == Mismatch::Kind::audience) {
    item.fail(StepId::credential, cause::kCredentialWrongAudience, mismatch.message, mismatch.hint);
  } else if (mismatch.kind == Mismatch::Kind::other) {
    item.warn(StepId::credential, {}, mismatch.message, mismatch.hint);
  }
}

Route with_certificate(Route route, const Credential& credential) {
  route.http.tls.client_certificate = credential.client_certificate;
  route.http.tls.client_key = credential.client_key.copy();
  return route;
}

// Connects, and asks nothing.
Result<Answer> open(Connection& connection) {
  TRY(connection.open());
  return Answer();
}

void report_insecure(Item& item) {
  item.warn(
      StepId::tls, cause::kTlsInsecure,
      "insecure-skip-tls-verify is set: any machine that answers there could take the credential",
      "give the ClusterProfile the cluster's CA");
  skip_server(item, "no credential is sent to a server that is not verified");
}

// Reports the clock of a cluster for which there is no credential.
void report_time(const Result<Answer>& answer, const Connection& connection, Item& item) {
  if (connection.is_refused()) return report_refusal(answer.error(), item);
  if (!answer || !answer->date) {
    item.skip(StepId::clock, answer ? "the server sends no Date" : answer.error().message);
    return;
  }
  compare_clocks(skew_of(*answer), item);
}

// The threads of a run share it.
class Examination final : public cli::FleetWork {
 public:
  Examination(std::vector<engine::Target> targets, ExaminationOptions options)
      : FleetWork(targets.size()),
        targets_(std::move(targets)),
        options_(std::move(options)),
        runner_(options_.environment, {.limit = options_.timeout, .stop = stop()}) {}

  bool run(std::size_t number) override {
    examine(targets_[number]);
    return targets_[number].item.verdict() == Verdict::fail;
  }

  Item& item_of(std::size_t number) { return targets_[number].item; }

 private:
  // Writes the result to the target's item, and resets the rest of the target.
  void examine(engine::Target& target);
  std::optional<Credential> get_credential(engine::Target& target);
  void go_to_server(const engine::Target& target, const Route& route, const Credential* credential,
                    Item& item);

  std::vector<engine::Target> targets_;
  ExaminationOptions options_;
  engine::PluginRunner runner_;
};

std::optional<Credential> Examination::get_credential(engine::Target& target) {
  Item& item = target.item;
  if (target.written) {
    for (const StepId id : {StepId::mapping, StepId::program, StepId::run}) {
      item.skip(id, "the credential is written in the kubeconfig");
    }
    return std::move(target.written);
  }
  const Access& access = *target.access;
  if (access.exec.command.empty()) return std::nullopt;
  return runner_.run(access, options_.environment, item);
}

void Examination::go_to_server(const engine::Target& target, const Route& route,
                               const Credential* credential, Item& item) {
  engine::CredentialFacts facts;
  if (credential != nullptr) {
    facts = check_credential(*credential,
                             {.now = SystemClock().now(),
                              .is_written = target.access->exec.command.empty(),
                              .is_renewed = target.is_renewed,
                              .warn_before = options_.warn_before},
                             item);
  } else {
    item.skip(StepId::credential, "there is none");
  }
  const Patience patience{.limit = options_.timeout, .stop = stop()};
  const bool has_credential = credential != nullptr && !facts.is_unusable;
  Connection anonymous(route, patience);
  std::optional<Route> identified_route;
  std::optional<Connection> identified;
  if (has_credential && !credential->client_certificate.empty() && !route.is_insecure) {
    identified_route = with_certificate(route, *credential);
    identified.emplace(*identified_route, patience);
  }
  Connection& connection = identified ? *identified : anonymous;
  const bool is_asked = !options_.no_request && !route.is_insecure;
  const SecretString none;
  Result<Answer> answer =
      is_asked ? Api(connection, item, has_credential ? target.act_as : Impersonation())
                     .post(kSelfSubjectReviews, self_subject_review(),
                           has_credential ? credential->token : none)
               : open(connection);
  if (report_way(connection, answer ? nullptr : &answer.error(), route, item)) {
    check_ca(connection, options_.warn_before, item);
    if (route.is_insecure) {
      report_insecure(item);
    } else if (options_.no_request) {
      skip_server(item, "--no-request");
    } else if (!has_credential) {
      skip_server(item, "there is no credential");
      report_time(answer, connection, item);
    } else {
      const ServerCheck check{.credential = *credential,
                              .facts = facts,
                              .config = options_.config ? &*options_.config : nullptr,
                              .permissions = options_.permissions,
                              .act_as = target.act_as};
      ask_server(check, std::move(answer), anonymous, connection, item);
    }
  }
  if (credential != nullptr && options_.config) compare_with_config(*options_.config, facts, item);
}

void Examination::examine(engine::Target& target) {
  Item& item = target.item;
  const auto start = std::chrono::steady_clock::now();
  if (target.access) {
    const std::optional<Credential> credential = get_credential(target);
    const Result<Route> route = route_of(target.access->cluster, options_.environment);
    if (route) {
      go_to_server(target, *route, credential ? &*credential : nullptr, item);
    } else {
      item.fail(StepId::profile, route.error(), cause::kProfileInvalid);
    }
  }
  for (std::size_t i = 0; i < kStepCount; ++i) {
    Step& step = item.step(static_cast<StepId>(i));
    if (step.verdict == Verdict::skipped && step.message.empty()) {
      step.message = "it cannot be judged";
    }
  }
  item.duration = std::chrono::steady_clock::now() - start;
  target.access.reset();
  target.written.reset();
}

}  // namespace

Status check_proxy(const Environment& environment) {
  const std::string url = proxy_of(environment).url;
  const Result<Proxy> proxy = url.empty() ? Proxy() : parse_proxy(url);
  if (proxy) return {};
  return Error::configuration("HTTPS_PROXY " + proxy.error().message,
                              "it must be http://, https:// or socks5://HOST:PORT");
}

cli::FleetItems<Item> examine_all(std::vector<engine::Target> targets,
                                  const ExaminationOptions& examination,
                                  const cli::FleetOptions& options) {
  return cli::collect_from_fleet<Item>(
      std::make_shared<Examination>(std::move(targets), examination), options);
}

}  // namespace execcred::doctor
