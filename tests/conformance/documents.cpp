// SPDX-License-Identifier: Apache-2.0
#include "documents.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <regex>
#include <set>
#include <sstream>

namespace blackbox {
namespace {

using nlohmann::json;

std::string base64_with(std::string_view bytes, std::string_view alphabet, bool is_padded) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      if (j <= count) out.push_back(alphabet[group >> (18 - 6 * j) & 63U]);
      if (j > count && is_padded) out.push_back('=');
    }
  }
  return out;
}

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlSafe =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// nlohmann keeps the last of two equal keys; this refuses them.
json parse_without_duplicates(std::string_view text, std::string& problem) {
  std::vector<std::set<std::string>> open;
  const auto check = [&](int /*depth*/, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key &&
        !open.back().insert(parsed.get<std::string>()).second) {
      problem = "duplicate key " + parsed.get<std::string>();
    }
    return true;
  };
  json parsed = json::parse(text, check, false);
  if (parsed.is_discarded()) problem = "no JSON";
  return parsed;
}

std::string text_member(const json& object, const char* name, std::string& problem) {
  const auto found = object.find(name);
  if (found == object.end()) return {};
  if (!found->is_string() || found->get<std::string>().empty()) {
    problem = std::string(name) + " is " + found->dump();
    return {};
  }
  return found->get<std::string>();
}

std::string unknown_member(const json& object, const std::set<std::string>& known) {
  for (const auto& [name, value] : object.items()) {
    if (known.count(name) == 0) return "has the unknown member " + name;
  }
  return {};
}

std::string check_line(std::string_view output) {
  if (output.empty() || output.back() != '\n') return "does not end in a newline";
  const std::string_view line = output.substr(0, output.size() - 1);
  const bool is_plain =
      std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return is_plain ? "" : "is not one line of ASCII";
}

}  // namespace

std::int64_t seconds_since_epoch() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string base64(std::string_view bytes) { return base64_with(bytes, kStandard, true); }

std::string make_jwt(std::string_view claims) {
  return base64_with(R"({"alg":"RS256","kid":"k1"})", kUrlSafe, false) + "." +
         base64_with(claims, kUrlSafe, false) + "." +
         base64_with("a signature that nobody made", kUrlSafe, false);
}

std::string jwt_for(std::int64_t seconds, std::string_view more_claims) {
  return make_jwt(R"({"iss":"https://issuer.example.com","sub":"system:serviceaccount:ns:sa",)"
                  R"("aud":["server"],"exp":)" +
                  std::to_string(seconds_since_epoch() + seconds) + std::string(more_claims) + "}");
}

std::string exec_info(std::string_view version, std::string_view server,
                      std::string_view more_members) {
  return R"({"kind":"ExecCredential","apiVersion":")" + std::string(version) +
         R"(","spec":{"cluster":{"server":)" + json_string(server) + std::string(more_members) +
         R"(},"interactive":false}})" + "\n";
}

std::string exec_info(std::string_view version) {
  return R"({"kind":"ExecCredential","apiVersion":")" + std::string(version) +
         R"(","spec":{"interactive":false}})" + "\n";
}

std::int64_t parse_timestamp(std::string_view text) {
  static const std::regex form(R"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)");
  const std::string copy(text);
  std::tm parts = {};
  if (!std::regex_match(copy, form) ||
      strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) {
    return -1;
  }
  return timegm(&parts);
}

Answer read_any_answer(std::string_view output) {
  Answer answer;
  const json document = parse_without_duplicates(output, answer.problem);
  if (!answer.problem.empty()) return answer;
  if (!document.is_object() || !document.contains("status") || !document["status"].is_object()) {
    answer.problem = "has no object 'status'";
    return answer;
  }
  const json& status = document["status"];
  if (text_member(document, "kind", answer.problem) != "ExecCredential") {
    answer.problem += "kind is not ExecCredential";
  }
  answer.version = text_member(document, "apiVersion", answer.problem);
  answer.token = text_member(status, "token", answer.problem);
  answer.certificate = text_member(status, "clientCertificateData", answer.problem);
  answer.key = text_member(status, "clientKeyData", answer.problem);
  answer.expiration = parse_timestamp(text_member(status, "expirationTimestamp", answer.problem));
  if (answer.certificate.empty() != answer.key.empty()) answer.problem += "half a certificate pair";
  if (answer.token.empty() && answer.certificate.empty()) answer.problem += "no credential";
  // Compact: written again without white space it has the same length, whatever the key order.
  const std::size_t length = output.size() - (output.ends_with('\n') ? 1 : 0);
  for (const std::string& problem :
       {check_line(output), unknown_member(document, {"kind", "apiVersion", "status"}),
        unknown_member(status,
                       {"expirationTimestamp", "token", "clientCertificateData", "clientKeyData"}),
        std::string(document.dump().size() == length ? "" : "is not compact")}) {
    if (problem.empty()) continue;
    answer.form_problem += (answer.form_problem.empty() ? "" : " and ") + problem;
  }
  return answer;
}

Answer read_answer(std::string_view output) {
  Answer answer = read_any_answer(output);
  if (answer.problem.empty()) answer.problem = answer.form_problem;
  if (answer.problem.empty() && answer.expiration < 0) {
    answer.problem = "expirationTimestamp is missing or malformed";
  }
  return answer;
}

std::string json_at(std::string_view text, std::string_view path) {
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) return "(no JSON)";
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string name(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
    if (value.is_array() && std::isdigit(static_cast<unsigned char>(name[0])) != 0 &&
        std::stoul(name) < value.size()) {
      value = json(value[std::stoul(name)]);
    } else if (value.is_object() && value.contains(name)) {
      value = json(value[name]);
    } else {
      return "(missing)";
    }
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_same_json(std::string_view one, std::string_view other) {
  const json first = json::parse(one, nullptr, false);
  return !first.is_discarded() && first == json::parse(other, nullptr, false);
}

std::string json_string(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string shown_setting(std::string_view shown, std::string_view option) {
  std::istringstream lines{std::string(shown)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name) || name != option) continue;
    std::string setting;
    for (std::string word; words >> word;) setting += (setting.empty() ? "" : " ") + word;
    return setting;
  }
  return "(missing)";
}

}  // namespace blackbox
