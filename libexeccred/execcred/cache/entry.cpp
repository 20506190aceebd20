// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/entry.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/cache/key.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kEnd = "end ";
constexpr std::size_t kEndSize = kEnd.size() + 16 + 1;

// nullopt unless the text is a number exactly as the writer writes it.
std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = -1;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  const bool is_spelt_well = text.size() == 1 || !text.starts_with('0');
  if (problem != std::errc() || stop != end || number < 0 || !is_spelt_well) return std::nullopt;
  if (text.front() == '-') return std::nullopt;
  return number;
}

}  // namespace

// A variant of FNV-1a over words of eight bytes instead of single bytes. The last word is padded
// with zeros, and the size is added at the end. Each step is reversible, so a change within one
// word always changes the result.
std::uint64_t cache_checksum(std::string_view text) {
  constexpr std::uint64_t kPrime = 0x100000001b3U;
  std::uint64_t sum = 0xcbf29ce484222325U;
  const std::size_t size = text.size();
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), count);
    sum = (sum ^ word) * kPrime;
    sum ^= sum >> 32U;
    text.remove_prefix(count);
  }
  return (sum ^ size) * kPrime;
}

FieldWriter::FieldWriter(std::string_view header) {
  text_.reserve(4096);
  text_.append(header);
  text_.append("\n");
}

void FieldWriter::add(std::string_view name, std::string_view value) {
  text_.append(name);
  text_.append(" ");
  text_.append(std::to_string(value.size()));
  text_.append("\n");
  text_.append(value);
  text_.append("\n");
}

SecretString FieldWriter::finish() {
  const std::string sum = hex_digits(cache_checksum(text_.reveal()));
  text_.append(kEnd);
  text_.append(sum);
  text_.append("\n");
  return std::move(text_);
}

FieldReader::FieldReader(std::string_view text, std::string_view header) : rest_(text) {
  if (text.size() < kEndSize) {
    is_good_ = false;
    return;
  }
  rest_.remove_suffix(kEndSize);
  const std::string_view end = text.substr(rest_.size());
  checksum_ = cache_checksum(rest_);
  is_good_ = end.starts_with(kEnd) && end.ends_with('\n') &&
             end.substr(kEnd.size(), 16) == hex_digits(checksum_);
  is_good_ = is_good_ && take_line() == header;
}

std::string_view FieldReader::take(std::size_t size) {
  if (!is_good_ || rest_.size() <= size || rest_[size] != '\n') {
    is_good_ = false;
    return {};
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size + 1);
  return taken;
}

std::string_view FieldReader::take_line() { return take(rest_.find('\n')); }

std::string_view FieldReader::field(std::string_view name) {
  std::string_view line = take_line();
  if (!is_good_ || !line.starts_with(name) || line.substr(name.size()).substr(0, 1) != " ") {
    is_good_ = false;
    return {};
  }
  const std::optional<std::int64_t> size = parse_number(line.substr(name.size() + 1));
  if (!size) is_good_ = false;
  return is_good_ ? take(static_cast<std::size_t>(*size)) : std::string_view();
}

std::int64_t FieldReader::number(std::string_view name) {
  const std::optional<std::int64_t> value = parse_number(field(name));
  if (!value) is_good_ = false;
  return value.value_or(0);
}

std::optional<std::string_view> FieldReader::optional_field(std::string_view name) {
  const bool is_next = rest_.starts_with(name) && rest_.substr(name.size()).starts_with(' ');
  if (!is_good_ || !is_next) return std::nullopt;
  const std::string_view value = field(name);
  return is_good_ ? std::optional(value) : std::nullopt;
}

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

// Checks a credential as strictly as a client checks one from standard output.
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
  if (!entry.error.cause.empty()) fields.add("cause", entry.error.cause);
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
  const std::optional<std::string_view> cause_text = fields.optional_field("cause");
  const std::optional<std::string_view> known =
      cause_text ? known_cause(*cause_text) : std::nullopt;
  while (const std::optional<std::string_view> doing = fields.optional_field("context")) {
    entry.error.context.emplace_back(*doing);
  }
  const bool is_bounded = entry.error.context.size() <= kMaxContext && transient <= 1;
  if (!fields.is_complete() || !kind || !is_bounded || (cause_text && !known)) return std::nullopt;
  if (known) entry.error.cause = *known;
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
