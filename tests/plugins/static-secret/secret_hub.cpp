// SPDX-License-Identifier: Apache-2.0
#include "secret_hub.hpp"
#include "documents.hpp"

#include <execcred/kube/label_selector.hpp>

#include <nlohmann/json.hpp>

#include <stdexcept>
#include <utility>

namespace execcred::test {
namespace {

using nlohmann::ordered_json;

HttpResponse json_reply(int status, const std::string& body,
                        std::vector<std::string> headers = {}) {
  headers.emplace_back("Content-Type: application/json");
  return {.status = status, .headers = std::move(headers), .body = body};
}

ordered_json document(const HubSecret& secret, bool is_item) {
  ordered_json object = ordered_json::object();
  if (!is_item) object["kind"] = "Secret";
  if (!is_item) object["apiVersion"] = "v1";
  object["metadata"] = {{"name", secret.name},
                        {"namespace", secret.name_space},
                        {"uid", "7b1c0c3e-0000-4000-8000-000000000001"},
                        {"resourceVersion", "42"}};
  if (!secret.labels.empty()) object["metadata"]["labels"] = secret.labels;
  if (!secret.annotations.empty()) object["metadata"]["annotations"] = secret.annotations;
  for (const auto& [key, value] : secret.data) object["data"][key] = blackbox::base64(value);
  for (const auto& [key, value] : secret.raw_data) object["data"][key] = value;
  object["type"] = secret.type;
  return object;
}

std::string percent_decoded(const std::string& text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && i + 2 < text.size();
    decoded.push_back(is_code ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16))
                              : text[i]);
    if (is_code) i += 2;
  }
  return decoded;
}

std::string query_value(const std::string& query, const std::string& name) {
  const std::string text = "&" + query;
  const std::size_t at = text.find("&" + name + "=");
  if (at == std::string::npos) return {};
  const std::size_t start = at + name.size() + 2;
  return percent_decoded(text.substr(start, text.find('&', start) - start));
}

}  // namespace

std::string to_json(const HubSecret& secret, bool is_item) {
  return document(secret, is_item).dump();
}

HttpResponse status_reply(int code, const std::string& reason, const std::string& message,
                          std::vector<std::string> headers) {
  const ordered_json status = {{"kind", "Status"},
                               {"apiVersion", "v1"},
                               {"metadata", ordered_json::object()},
                               {"status", "Failure"},
                               {"message", message},
                               {"reason", reason},
                               {"details", {{"kind", "secrets"}}},
                               {"code", code}};
  return json_reply(code, status.dump(), std::move(headers));
}

SecretHub::SecretHub()
    : token_(blackbox::make_jwt(
          R"({"iss":"https://kubernetes.default.svc.cluster.local","sub":"system:serviceaccount:)"
          R"(clusters:reader","aud":["https://kubernetes.default.svc.cluster.local"],"exp":)" +
          std::to_string(blackbox::seconds_since_epoch() + 3600) + "}")),
      server_([this](const HttpRequest& request) { return answer(request); }) {}

void SecretHub::add(HubSecret secret) {
  const std::scoped_lock lock(mutex_);
  secrets_.push_back(std::move(secret));
}

void SecretHub::clear() {
  const std::scoped_lock lock(mutex_);
  secrets_.clear();
}

void SecretHub::next(HttpResponse reply) {
  const std::scoped_lock lock(mutex_);
  replies_.push_back(std::move(reply));
}

void SecretHub::always(HttpResponse reply) {
  const std::scoped_lock lock(mutex_);
  fixed_ = std::move(reply);
}

std::string SecretHub::kubeconfig(const std::string& name_space) const {
  return "apiVersion: v1\nkind: Config\ncurrent-context: hub\nclusters:\n- name: hub\n  cluster:\n"
         "    server: " +
         url() + "\n    certificate-authority-data: " + blackbox::base64(ca_pem()) +
         "\nusers:\n- name: reader\n  user: {token: " + token_ +
         "}\ncontexts:\n- name: hub\n  context: {cluster: hub, user: reader" +
         (name_space.empty() ? "" : ", namespace: " + name_space) + "}\n";
}

std::vector<std::string> SecretHub::requests() {
  std::vector<std::string> texts;
  const std::vector<HttpRequest> all = server_.requests();
  for (; told_ < all.size(); ++told_) {
    texts.push_back(all[told_].method + " " + percent_decoded(all[told_].target));
  }
  return texts;
}

HttpResponse SecretHub::answer(const HttpRequest& request) {
  const std::scoped_lock lock(mutex_);
  if (request.header("Authorization") != "Bearer " + token_) {
    return status_reply(401, "Unauthorized", "Unauthorized");
  }
  if (fixed_) return *fixed_;
  if (!replies_.empty()) {
    HttpResponse reply = std::move(replies_.front());
    replies_.pop_front();
    return reply;
  }
  const std::string prefix = "/api/v1/namespaces/";
  const std::string path(request.path());
  const std::size_t slash = path.find('/', prefix.size());
  const std::string kind = "/secrets";
  if (request.method != "GET" || !path.starts_with(prefix) || slash == std::string::npos ||
      path.compare(slash, kind.size(), kind) != 0) {
    return status_reply(404, "NotFound", "the server could not find the requested resource");
  }
  const std::string name_space = path.substr(prefix.size(), slash - prefix.size());
  const std::string rest = path.substr(slash + kind.size());
  if (!rest.empty()) return get(name_space, rest.substr(1));
  return list(name_space, request.target.substr(std::min(path.size() + 1, request.target.size())));
}

HttpResponse SecretHub::get(const std::string& name_space, const std::string& name) {
  for (const HubSecret& secret : secrets_) {
    if (secret.name == name && secret.name_space == name_space) {
      return json_reply(200, to_json(secret));
    }
  }
  ordered_json status =
      ordered_json::parse(status_reply(404, "NotFound", "secrets \"" + name + "\" not found").body);
  status["details"]["name"] = name;
  return json_reply(404, status.dump());
}

// The continue token is the index of the next Secret.
HttpResponse SecretHub::list(const std::string& name_space, const std::string& query) {
  const std::string limit_text = query_value(query, "limit");
  const std::size_t limit = limit_text.empty() ? secrets_.size() : std::stoul(limit_text);
  const Result<LabelSelector> selector = LabelSelector::parse(query_value(query, "labelSelector"));
  if (!selector) return status_reply(400, "BadRequest", selector.error().message);
  const std::string start = query_value(query, "continue");
  ordered_json items = ordered_json::array();
  std::string next;
  for (std::size_t i = start.empty() ? 0 : std::stoul(start); i < secrets_.size(); ++i) {
    const HubSecret& secret = secrets_[i];
    const Labels labels(secret.labels.begin(), secret.labels.end());
    if (secret.name_space != name_space || !selector->matches(labels)) continue;
    if (items.size() == limit) {
      next = std::to_string(i);
      break;
    }
    items.push_back(document(secret, true));
  }
  ordered_json metadata = {{"resourceVersion", "42"}};
  if (!next.empty()) metadata["continue"] = next;
  return json_reply(200, ordered_json({{"kind", "SecretList"},
                                       {"apiVersion", "v1"},
                                       {"metadata", metadata},
                                       {"items", std::move(items)}})
                             .dump());
}

}  // namespace execcred::test
