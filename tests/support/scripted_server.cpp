// SPDX-License-Identifier: Apache-2.0
#include "scripted_server.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace execcred::test {
namespace {

std::string form_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && i + 2 < text.size();
    if (is_code) {
      decoded.push_back(
          static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16)));
      i += 2;
    } else {
      decoded.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return decoded;
}

std::vector<std::string> decoded_pairs(std::string_view text) {
  std::vector<std::string> pairs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    pairs.push_back(form_decoded(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

Received parse_request(const std::string& text, bool has_certificate) {
  Received received{.has_certificate = has_certificate};
  const std::size_t end = text.find("\r\n\r\n");
  received.body = text.substr(end + 4);
  std::string_view head = std::string_view(text).substr(0, end);
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t space = line.find(' ');
  received.method = line.substr(0, space);
  received.target = line.substr(space + 1, line.rfind(' ') - space - 1);
  head.remove_prefix(line.size());
  while (head.starts_with("\r\n")) {
    head.remove_prefix(2);
    const std::string_view header = head.substr(0, head.find("\r\n"));
    const std::size_t colon = header.find(": ");
    if (colon == std::string_view::npos) throw std::runtime_error("a header without a value");
    received.headers.emplace_back(header.substr(0, colon), header.substr(colon + 2));
    head.remove_prefix(header.size());
  }
  return received;
}

// With the same name, they would be the same CA for a client that trusts two of them.
std::string next_ca_name() {
  static std::atomic<int> count = 0;
  return "provider CA " + std::to_string(++count);
}

}  // namespace

std::string Received::path() const { return target.substr(0, target.find('?')); }

std::string Received::header(std::string_view name) const {
  std::string found;
  for (const auto& [known, value] : headers) {
    if (ascii_lower(known) != ascii_lower(name)) continue;
    found += (found.empty() ? "" : ", ") + value;
  }
  return found;
}

std::vector<std::string> Received::fields() const { return decoded_pairs(body); }

std::vector<std::string> Received::parameters() const {
  const std::size_t mark = target.find('?');
  return mark == std::string::npos ? std::vector<std::string>()
                                   : decoded_pairs(std::string_view(target).substr(mark + 1));
}

std::string Received::field(std::string_view name) const {
  std::string found = "(missing)";
  for (const std::string& pair : fields()) {
    if (!pair.starts_with(std::string(name) + "=")) continue;
    if (found != "(missing)") return "(twice)";
    found = pair.substr(name.size() + 1);
  }
  return found;
}

ScriptedServer::ScriptedServer(Transport transport, const Identity* client_ca)
    : ca_(make_ca(next_ca_name())),
      identity_(make_identity({.issuer = &ca_})),
      server_([this](Stream& stream) { converse(stream); },
              {.identity = transport == Transport::tls ? &identity_ : nullptr,
               .client_ca = client_ca,
               .asks_for_certificate = client_ca == nullptr}) {}

void ScriptedServer::on(const std::string& path, Answer answer) {
  const std::scoped_lock lock(mutex_);
  answers_[path] = std::move(answer);
}

void ScriptedServer::on(const std::string& path, std::string reply) {
  on(path, [reply = std::move(reply)](Stream& stream, const Received&) { stream.write(reply); });
}

void ScriptedServer::otherwise(Answer answer) {
  const std::scoped_lock lock(mutex_);
  otherwise_ = std::move(answer);
}

void ScriptedServer::converse(Stream& stream) {
  for (std::string text = stream.read_request(); !text.empty(); text = stream.read_request()) {
    const Received request = parse_request(text, stream.has_peer_certificate());
    answer_to(request)(stream, request);
  }
}

ScriptedServer::Answer ScriptedServer::answer_to(const Received& request) {
  const std::scoped_lock lock(mutex_);
  requests_.push_back(request);
  const auto found = answers_.find(request.path());
  if (found != answers_.end()) return found->second;
  if (otherwise_) return otherwise_;
  return [](Stream& stream, const Received&) { stream.write(reply(404, "{}")); };
}

std::vector<Received> ScriptedServer::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

std::vector<Received> ScriptedServer::requests(std::string_view path) const {
  std::vector<Received> found = requests();
  std::erase_if(found, [path](const Received& request) { return request.path() != path; });
  return found;
}

Received ScriptedServer::last(std::string_view path) const {
  const std::vector<Received> found = requests(path);
  if (found.empty()) throw std::runtime_error("nobody asked for " + std::string(path));
  return found.back();
}

void ScriptedServer::forget() {
  const std::scoped_lock lock(mutex_);
  requests_.clear();
}

std::string reply(int status, const std::string& body, const std::string& headers) {
  return "HTTP/1.1 " + std::to_string(status) +
         " X\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + headers + "\r\n" + body;
}

std::string redirect(int status, const std::string& to) {
  return reply(status, "", "Location: " + to + "\r\n");
}

}  // namespace execcred::test
