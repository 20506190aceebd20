// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/pem.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>
#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "-----END ";
constexpr std::string_view kDashes = "-----";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kLine = 64;

// The part before `at` of the line that contains it.
std::string_view line_before(std::string_view text, std::size_t at) {
  const std::size_t newline = text.substr(0, at).rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  return text.substr(start, at - start);
}

std::string_view line_from(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  return rest.substr(0, rest.find('\n'));
}

// "X-----" → "X"; empty for anything else.
std::string_view label_of(std::string_view line) {
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  if (!line.ends_with(kDashes)) return {};
  line.remove_suffix(kDashes.size());
  return line.find(kDashes) == std::string_view::npos ? line : std::string_view();
}

}  // namespace

std::optional<PemPart> next_pem_part(std::string_view& rest) {
  const std::string_view text = rest;
  const std::size_t begin = text.find(kBegin);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t label_start = begin + kBegin.size();
  const std::string_view margin = line_before(text, begin);
  const std::string_view line = line_from(text, label_start);
  PemPart part = {
      .before = text.substr(0, begin), .label = label_of(line), .is_indented = !margin.empty()};
  const std::size_t body = std::min(label_start + line.size() + 1, text.size());
  rest = text.substr(body);
  const auto with = [&](PemPart::Problem problem) {
    const std::size_t next = text.find(kBegin, body);
    part.problem = problem;
    part.text = text.substr(begin, std::min(next, text.size()) - begin);
    return part;
  };
  if (part.label.empty() || !trim(margin).empty()) return with(PemPart::Problem::begin_line);
  const std::size_t end = text.find(kDashes, body);
  if (end == std::string_view::npos) return with(PemPart::Problem::no_end);
  const std::string_view last = text.substr(end);
  const std::string_view end_line = last.substr(0, last.find('\n'));
  if (!end_line.starts_with(kEnd) || label_of(end_line.substr(kEnd.size())) != part.label ||
      !trim(line_before(text, end)).empty()) {
    return with(PemPart::Problem::dashes_inside);
  }
  part.body = text.substr(body, end - body);
  part.text = text.substr(begin, end + end_line.size() - begin);
  rest = text.substr(end + end_line.size());
  return part;
}

namespace {

Result<std::string> decode_strictly(std::string_view body) {
  std::string digits;
  digits.reserve(body.size());
  std::vector<std::string_view> lines = split(body, '\n');
  lines.pop_back();  // the body ends where the END line begins
  for (const std::string_view raw : lines) {
    const std::string_view line = trim(raw);
    // OpenSSL takes an empty line for the end of a header, and reads only the text after it.
    if (line.empty()) return Error::configuration("holds a certificate with an empty line in it");
    digits.append(line);
  }
  std::optional<std::string> der = decode_base64(digits);
  if (!der || der->empty()) return Error::configuration("holds a certificate that is not base64");
  return *std::move(der);
}

}  // namespace

Result<std::vector<std::string>> parse_pem_certificates(std::string_view text) {
  const Error foreign = Error::configuration("holds something other than CERTIFICATE blocks");
  std::vector<std::string> certificates;
  while (const std::optional<PemPart> part = next_pem_part(text)) {
    if (part->before.find(kDashes) != std::string_view::npos) return foreign;
    if (part->label != "CERTIFICATE") return foreign;
    if (part->problem == PemPart::Problem::no_end) {
      return Error::configuration("holds a certificate without its END line");
    }
    if (part->problem != PemPart::Problem::none) return foreign;
    if (part->is_indented || (!part->body.empty() && !part->body.ends_with('\n'))) {
      return Error::configuration(
          "has white space before a BEGIN or END line, which clients do not skip");
    }
    certificates.push_back(TRY(decode_strictly(part->body)));
  }
  if (text.find(kDashes) != std::string_view::npos) return foreign;
  if (certificates.empty()) return Error::configuration("holds no certificate");
  return certificates;
}

namespace {

Error malformed(std::string problem, std::string hint = {}) {
  return Error::no_credential("is PEM " + std::move(problem), std::move(hint));
}

Result<PemBlock> decode_tolerantly(const PemPart& part) {
  PemBlock block = {.label = std::string(part.label)};
  SecretString digits;
  for (const std::string_view raw : split(part.body, '\n')) {
    const std::string_view line = trim(raw);
    if (line.find(':') == std::string_view::npos) {
      digits.append(line);
    } else if (line.starts_with("Proc-Type:") && line.find("ENCRYPTED") != std::string_view::npos) {
      block.is_encrypted = true;
    }
  }
  if (block.is_encrypted) return block;  // its bytes are not used
  std::optional<std::string> der = decode_base64(digits.reveal());
  if (!der || der->empty()) {
    return malformed("whose " + in_quotes(block.label) + " is empty or no base64");
  }
  block.der = SecretString(*der);
  wipe(*der);
  return block;
}

bool has_end_line(std::string_view text) { return text.find(kEnd) != std::string_view::npos; }

}  // namespace

namespace {

// Go's getLine: takes a line off the front of the text, without white space at its end.
std::string_view take_go_line(std::string_view& text) {
  const std::size_t newline = text.find('\n');
  std::string_view line = text.substr(0, newline);
  text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  if (newline != std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
  while (line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
  return line;
}

std::optional<SecretString> decode_go_body(std::string_view body) {
  std::string digits(body);
  std::erase_if(digits, [](char c) { return c == ' ' || c == '\t'; });
  std::optional<std::string> der = decode_base64(digits);
  wipe(digits);
  if (!der) return std::nullopt;
  SecretString bytes(*der);
  wipe(*der);
  return bytes;
}

// The next block as Go's pem.Decode finds it: a block that it cannot read is passed over.
std::optional<PemBlock> next_go_block(std::string_view& text) {
  constexpr std::string_view kEndLine = "\n-----END ";
  std::string_view rest = text;
  for (std::size_t passed = 0; passed <= rest.size();) {
    rest.remove_prefix(passed);
    const std::size_t end = rest.find(kEndLine);
    if (end == std::string_view::npos) return std::nullopt;
    passed = end + kEndLine.size();
    const std::size_t begin = rest.substr(0, end).rfind(kBegin);
    if (begin == std::string_view::npos || (begin > 0 && rest[begin - 1] != '\n')) continue;
    std::string_view body = rest.substr(begin + kBegin.size());
    std::string_view label = take_go_line(body);
    if (!label.ends_with(kDashes)) continue;
    label.remove_suffix(kDashes.size());
    PemBlock block = {.label = std::string(label)};
    for (;;) {
      if (body.empty()) return std::nullopt;
      std::string_view next = body;
      const std::string_view line = take_go_line(next);
      if (line.find(':') == std::string_view::npos) break;
      block.has_headers = true;
      block.is_encrypted = block.is_encrypted || (line.starts_with("Proc-Type") &&
                                                  line.find("ENCRYPTED") != std::string_view::npos);
      body = next;
    }
    const std::size_t start = rest.size() - body.size();
    if (block.has_headers && start > end) continue;  // a header needs a newline before END
    std::string_view trailer = rest.substr(passed);
    if (!trailer.starts_with(block.label + std::string(kDashes))) continue;
    trailer.remove_prefix(label.size() + kDashes.size());
    if (!take_go_line(trailer).empty()) continue;
    std::optional<SecretString> der =
        decode_go_body(start < end ? rest.substr(start, end - start) : std::string_view());
    if (!der) continue;
    block.der = *std::move(der);
    text = trailer;
    return block;
  }
  return std::nullopt;
}

bool is_key(std::string_view label) {
  return label == "PRIVATE KEY" || label.ends_with(" PRIVATE KEY");
}

// Why Go finds no block that `is_wanted` accepts: the first fault, with its line.
std::string go_fault(std::string_view text, bool (*is_wanted)(std::string_view)) {
  if (text.starts_with("\x30\x82")) return "it is DER";
  const std::string_view whole = text;
  std::string others;
  while (const std::optional<PemPart> part = next_pem_part(text)) {
    const std::string_view before = whole.substr(
        0, static_cast<std::size_t>(part->before.data() - whole.data()) + part->before.size());
    const std::string line = std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
    const std::string block = "the " + in_quotes(part->label) + " of line " + line;
    if (before == kByteOrderMark) return "a byte order mark is before line 1, which clients refuse";
    if (part->is_indented) return "white space or text is before the -----BEGIN of line " + line;
    if (part->problem == PemPart::Problem::begin_line) return "line " + line + " lacks its -----";
    if (part->problem != PemPart::Problem::none) return block + " has no END line";
    if (!is_wanted(part->label)) {
      const std::string label = in_quotes(part->label);
      if (others.find(label) == std::string::npos) others += (others.empty() ? "" : ", ") + label;
    } else if (!part->body.empty() && !part->body.ends_with('\n')) {
      return block + " has white space before -----END";
    } else if (part->body.find(':') != std::string_view::npos) {
      return block + " has a header, which clients do not read";
    } else {
      return block + " is no base64";
    }
  }
  return others.empty() ? "it has no -----BEGIN line" : "it holds " + others;
}

Result<std::vector<std::string>> parse_go_certificates(std::string_view text, bool takes_headers) {
  std::vector<std::string> certificates;
  std::string_view rest = text;
  while (const std::optional<PemBlock> block = next_go_block(rest)) {
    if (block->label != "CERTIFICATE" || (block->has_headers && !takes_headers)) continue;
    certificates.emplace_back(block->der.reveal());
  }
  if (!certificates.empty()) return certificates;
  return Error::configuration(
      "holds no certificate in PEM: " +
      go_fault(text, [](std::string_view label) { return label == "CERTIFICATE"; }));
}

}  // namespace

Result<std::vector<std::string>> parse_go_certificates(std::string_view text) {
  return parse_go_certificates(text, false);
}

Result<std::vector<std::string>> parse_go_client_certificates(std::string_view text) {
  return parse_go_certificates(text, true);
}

Result<PemBlock> parse_go_private_key(std::string_view text) {
  std::string_view rest = text;
  while (std::optional<PemBlock> block = next_go_block(rest)) {
    if (is_key(block->label)) return *std::move(block);
  }
  return Error::configuration("is no private key in PEM: " + go_fault(text, is_key));
}

bool looks_like_pem(std::string_view text) { return text.find(kBegin) != std::string_view::npos; }

Result<std::vector<PemBlock>> parse_pem_blocks(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return malformed("with a NUL byte");
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const Error misplaced = malformed("with a BEGIN or END line that is out of place");
  std::vector<PemBlock> blocks;
  while (const std::optional<PemPart> part = next_pem_part(text)) {
    if (has_end_line(part->before)) return misplaced;
    const std::string unended = "without the END line of " + in_quotes(part->label);
    switch (part->problem) {
      case PemPart::Problem::none:
        blocks.push_back(TRY(decode_tolerantly(*part)));
        break;
      case PemPart::Problem::begin_line:
        return misplaced;
      case PemPart::Problem::dashes_inside:
        return malformed(
            unended,
            "BEGIN and END need lines of their own; files that were joined may lack a newline");
      case PemPart::Problem::no_end:
        return malformed(unended);
    }
  }
  if (has_end_line(text)) return misplaced;
  return blocks;
}

void append_pem(std::string_view label, std::string_view der, SecretString& out) {
  std::string body = encode_base64(der);
  const std::string ends = std::string(label) + "-----\n";
  out.append(std::string(kBegin) + ends);
  for (std::string_view rest = body; !rest.empty();) {
    const std::string_view line = rest.substr(0, kLine);
    out.append(line);
    out.append("\n");
    rest.remove_prefix(line.size());
  }
  out.append(std::string(kEnd) + ends);
  wipe(body);
}

}  // namespace execcred
