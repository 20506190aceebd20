// SPDX-License-Identifier: Apache-2.0
#include <execcred/x509/pem_block.hpp>

#include <execcred/base/base64.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <optional>
#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "-----END ";
constexpr std::string_view kDashes = "-----";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kLine = 64;

Error malformed(std::string problem) {
  return Error{.kind = Error::Kind::no_credential, .message = "is PEM " + std::move(problem)};
}

// "-----BEGIN X-----" → "X"; empty for every other line.
std::string_view label_of(std::string_view line, std::string_view start) {
  if (!line.starts_with(start) || !line.ends_with(kDashes)) return {};
  line.remove_prefix(start.size());
  if (line.size() <= kDashes.size()) return {};
  line.remove_suffix(kDashes.size());
  return line.find(kDashes) == std::string_view::npos ? line : std::string_view();
}

class Reader {
 public:
  Status take(std::string_view line) {
    if (is_open_) return take_inside(line);
    const std::string_view label = label_of(line, kBegin);
    if (!label.empty()) {
      blocks_.push_back({.label = std::string(label)});
      body_ = SecretString();
      is_open_ = true;
      return {};
    }
    if (line.find(kBegin) == std::string_view::npos && line.find(kEnd) == std::string_view::npos) {
      return {};
    }
    return malformed("with a BEGIN or END line that is out of place");
  }

  Result<std::vector<PemBlock>> finish() {
    if (is_open_) return malformed("without the END line of " + in_quotes(blocks_.back().label));
    return std::move(blocks_);
  }

 private:
  Status take_inside(std::string_view line) {
    PemBlock& block = blocks_.back();
    if (label_of(line, kEnd) == block.label) return close(block);
    if (line.find(kDashes) != std::string_view::npos) {
      Error error = malformed("without the END line of " + in_quotes(block.label));
      error.hint =
          "BEGIN and END need lines of their own; files that were joined may lack a newline";
      return error;
    }
    if (line.find(':') == std::string_view::npos) {
      body_.append(line);
    } else if (line.starts_with("Proc-Type:") && line.find("ENCRYPTED") != std::string_view::npos) {
      block.is_encrypted = true;
    }
    return {};
  }

  Status close(PemBlock& block) {
    is_open_ = false;
    if (block.is_encrypted) return {};  // its bytes are of no use
    std::optional<std::string> der = decode_base64(body_.reveal());
    if (!der || der->empty()) {
      return malformed("whose " + in_quotes(block.label) + " is empty or no base64");
    }
    block.der = SecretString(*der);
    wipe(*der);
    return {};
  }

  std::vector<PemBlock> blocks_;
  SecretString body_;
  bool is_open_ = false;
};

}  // namespace

bool looks_like_pem(std::string_view text) { return text.find(kBegin) != std::string_view::npos; }

Result<std::vector<PemBlock>> parse_pem_blocks(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return malformed("with a NUL byte");
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Reader reader;
  for (const std::string_view line : split(text, '\n')) TRY(reader.take(trim(line)));
  return reader.finish();
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
