// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/entry.hpp>

#include <execcred/base/text.hpp>
#include <execcred/cache/fields.hpp>

#include <array>
#include <charconv>
#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kCredentialHeader = "execcred credential 2";
constexpr std::string_view kFailureHeader = "execcred failure 1";
constexpr std::size_t kMaxContext = 16;

struct KindName {
  Error::Kind kind;
  std::string_view name;
};
constexpr std::array<KindName, 3> kKinds = {{{Error::Kind::no_credential, "no-credential"},
                                             {Error::Kind::configuration, "configuration"},
                                             {Error::Kind::unavailable, "unavailable"}}};

std::int64_t nanoseconds_of(TimePoint time) { return time.time_since_epoch().count(); }
TimePoint read_time(FieldReader& fields, std::string_view name) {
  return TimePoint(std::chrono::nanoseconds(fields.number(name)));
}

// As strict as what a client takes from standard output.
bool is_usable(const Credential& credential) {
  const bool has_certificate = !credential.client_certificate.empty();
  if (has_certificate == credential.client_key.empty()) return false;
  return (has_certificate || !credential.token.empty()) &&
         !has_control_character(credential.token.reveal());
}

std::optional<Error::Kind> parse_kind(std::string_view text) {
  for (const KindName& known : kKinds) {
    if (known.name == text) return known.kind;
  }
  return std::nullopt;
}

}  // namespace

SecretString write_cached_credential(const CachedCredential& entry) {
  FieldWriter fields(kCredentialHeader);
  fields.add("key", entry.key);
  fields.add("created", nanoseconds_of(entry.created));
  fields.add("expires", nanoseconds_of(entry.expires));
  fields.add("reask-after", entry.reask_after.count());
  fields.add("endless", std::int64_t{entry.credential.expires_at ? 0 : 1});
  fields.add("identity", entry.identity);
  fields.add("target", entry.target);
  fields.add("token", entry.credential.token.reveal());
  fields.add("client-certificate", entry.credential.client_certificate);
  fields.add("client-key", entry.credential.client_key.reveal());
  return fields.finish();
}

std::optional<CachedCredential> parse_cached_credential(std::string_view text) {
  FieldReader fields(text, kCredentialHeader);
  CachedCredential entry;
  entry.key = fields.field("key");
  entry.created = read_time(fields, "created");
  entry.expires = read_time(fields, "expires");
  entry.reask_after = Duration(fields.number("reask-after"));
  const std::int64_t endless = fields.number("endless");
  entry.identity = fields.field("identity");
  entry.target = fields.field("target");
  entry.credential.token.append(fields.field("token"));
  entry.credential.client_certificate = fields.field("client-certificate");
  entry.credential.client_key.append(fields.field("client-key"));
  if (endless == 0) entry.credential.expires_at = entry.expires;
  entry.id = fields.checksum();
  if (!fields.is_complete() || endless > 1 || !is_usable(entry.credential)) return std::nullopt;
  return entry;
}

std::string write_cached_failure(const CachedFailure& entry) {
  FieldWriter fields(kFailureHeader);
  fields.add("key", entry.key);
  fields.add("created", nanoseconds_of(entry.created));
  fields.add("until", nanoseconds_of(entry.until));
  fields.add("count", entry.count);
  for (const KindName& known : kKinds) {
    if (known.kind == entry.error.kind) fields.add("kind", known.name);
  }
  fields.add("transient", std::int64_t{entry.error.is_transient ? 1 : 0});
  fields.add("message", entry.error.message);
  fields.add("hint", entry.error.hint);
  for (std::size_t i = 0; i < entry.error.context.size() && i < kMaxContext; ++i) {
    fields.add("context", entry.error.context[i]);
  }
  return std::string(fields.finish().reveal());
}

std::optional<CachedFailure> parse_cached_failure(std::string_view text) {
  FieldReader fields(text, kFailureHeader);
  CachedFailure entry;
  entry.key = fields.field("key");
  entry.created = read_time(fields, "created");
  entry.until = read_time(fields, "until");
  entry.count = fields.number("count");
  const std::optional<Error::Kind> kind = parse_kind(fields.field("kind"));
  const std::int64_t transient = fields.number("transient");
  entry.error.message = fields.field("message");
  entry.error.hint = fields.field("hint");
  while (const std::optional<std::string_view> doing = fields.optional_field("context")) {
    entry.error.context.emplace_back(*doing);
  }
  const bool is_bounded = entry.error.context.size() <= kMaxContext && transient <= 1;
  if (!fields.is_complete() || !kind || !is_bounded) return std::nullopt;
  entry.error.kind = *kind;
  entry.error.is_transient = transient == 1;
  return entry;
}

std::uint64_t checksum_of(std::string_view text) {
  std::uint64_t sum = 0;
  if (text.size() < 17) return 0;
  const char* start = text.data() + text.size() - 17;
  const auto [stop, problem] = std::from_chars(start, start + 16, sum, 16);
  return problem == std::errc() && stop == start + 16 ? sum : 0;
}

}  // namespace execcred
