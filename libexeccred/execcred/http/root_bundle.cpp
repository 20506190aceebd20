// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/root_bundle.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>

#include <algorithm>
#include <utility>

namespace execcred {
namespace {

using Bytes = std::string_view;

constexpr unsigned char kInteger = 0x02;
constexpr unsigned char kObjectIdentifier = 0x06;
constexpr unsigned char kUniversalString = 0x1c;
constexpr unsigned char kBmpString = 0x1e;
constexpr unsigned char kSequence = 0x30;
constexpr unsigned char kSet = 0x31;
constexpr unsigned char kVersion = 0xa0;

// Decodes base64 that is divided into lines; nullopt if it is malformed.
std::optional<std::string> decode_lines(std::string_view text) {
  std::string digits(text);
  const auto is_between = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  digits.erase(std::remove_if(digits.begin(), digits.end(), is_between), digits.end());
  return decode_base64(digits);
}

struct Element {
  unsigned char tag = 0;
  Bytes content = {};
  Bytes whole = {};
};

// Removes and returns the DER element (X.690) at the front of `rest`; nullopt if it is malformed or
// cut.
std::optional<Element> take_element(Bytes& rest) {
  const auto byte = [&rest](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  if (rest.size() < 2) return std::nullopt;
  std::size_t head = 2;
  std::size_t size = byte(1);
  if (size >= 0x80) {
    const std::size_t count = size & 0x7f;
    if (count == 0 || count > 3 || rest.size() < 2 + count) return std::nullopt;
    size = 0;
    for (std::size_t i = 0; i < count; ++i) size = (size << 8) | byte(2 + i);
    head += count;
  }
  if (rest.size() - head < size) return std::nullopt;
  const Element element = {
      .tag = byte(0), .content = rest.substr(head, size), .whole = rest.substr(0, head + size)};
  rest.remove_prefix(head + size);
  return element;
}

// Removes the element at the front of `rest` and returns its content; empty if it has another tag
// or is malformed.
Bytes take(Bytes& rest, unsigned char tag) {
  if (rest.empty() || static_cast<unsigned char>(rest.front()) != tag) return {};
  const std::optional<Element> element = take_element(rest);
  return element ? element->content : Bytes();
}

// The content of an element that may be cut at its end; empty if it has another tag.
Bytes enter(Bytes rest, unsigned char tag) {
  if (rest.size() < 2 || static_cast<unsigned char>(rest[0]) != tag) return {};
  const std::size_t size = static_cast<unsigned char>(rest[1]);
  return rest.substr(std::min(rest.size(), size < 0x80 ? 2 : 2 + (size & 0x7f)));
}

// The DER of a certificate's subject (RFC 5280, section 4.1). Empty if the bytes are not a
// certificate, or are cut before the end of the subject.
Bytes subject_of(Bytes certificate) {
  Bytes rest = enter(enter(certificate, kSequence), kSequence);
  take(rest, kVersion);
  if (take(rest, kInteger).empty()) return {};
  for (int i = 0; i < 3; ++i) {  // signature algorithm, issuer, validity
    if (take(rest, kSequence).empty()) return {};
  }
  const std::optional<Element> subject = take_element(rest);
  return subject && subject->tag == kSequence ? subject->whole : Bytes();
}

// Decodes only the front at first: most subjects end within the first hundreds of bytes, and
// decoding is most of the work.
std::string decode_subject(std::string_view text) {
  constexpr std::size_t kFront = 520;  // characters
  for (std::size_t most = kFront;; most *= 4) {
    const std::string der = decode_base64_front(text.substr(0, most));
    const Bytes subject = subject_of(der);
    if (!subject.empty() || most >= text.size()) return std::string(subject);
  }
}

struct Attribute {
  Bytes type = {};
  Element value = {};
};

// Removes and returns the first attribute of a name. nullopt if there is none, or if it is one of
// several attributes in one relative distinguished name.
std::optional<Attribute> take_attribute(Bytes& name) {
  Bytes set = take(name, kSet);
  Bytes attribute = take(set, kSequence);
  const Bytes type = take(attribute, kObjectIdentifier);
  const std::optional<Element> value = take_element(attribute);
  if (!set.empty() || type.empty() || !value) return std::nullopt;
  return Attribute{.type = type, .value = *value};
}

bool is_wide(const Element& text) { return text.tag == kBmpString || text.tag == kUniversalString; }

bool have_equal_letters(Bytes left, Bytes right) {
  for (;;) {
    while (!left.empty() && !is_alphanumeric(left.front())) left.remove_prefix(1);
    while (!right.empty() && !is_alphanumeric(right.front())) right.remove_prefix(1);
    if (left.empty() || right.empty()) return left.empty() && right.empty();
    constexpr unsigned kLowerCase = 0x20;  // digits have it
    if ((static_cast<unsigned char>(left.front()) | kLowerCase) !=
        (static_cast<unsigned char>(right.front()) | kLowerCase)) {
      return false;
    }
    left.remove_prefix(1);
    right.remove_prefix(1);
  }
}

// Whether two names, in DER, may be equal for OpenSSL. OpenSSL also treats names as equal if only
// case, white space or the type of string differ, but to find that out both must be decoded. In
// equal names, the types of attributes are equal, and the letters and digits of the values are
// equal without regard to case. Also returns true if this cannot be decided.
bool may_be_equal(Bytes left, Bytes right) {
  left = take(left, kSequence);
  right = take(right, kSequence);
  while (!left.empty() && !right.empty()) {
    const std::optional<Attribute> one = take_attribute(left);
    const std::optional<Attribute> other = take_attribute(right);
    if (!one || !other || is_wide(one->value) || is_wide(other->value)) return true;
    if (one->type != other->type) return false;
    if (!have_equal_letters(one->value.content, other->value.content)) return false;
  }
  return left.empty() && right.empty();
}

std::string der_of(const X509_NAME& name) {
  const unsigned char* der = nullptr;
  std::size_t size = 0;
  if (X509_NAME_get0_der(&name, &der, &size) != 1) return {};
  return {reinterpret_cast<const char*>(der), size};
}

bool is_equal(Bytes der, const X509_NAME& wanted) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  const NameOwner name(d2i_X509_NAME(nullptr, &bytes, static_cast<long>(der.size())));
  return name != nullptr && X509_NAME_cmp(name.get(), &wanted) == 0;
}

}  // namespace

RootBundle::RootBundle(std::string pem) : pem_(std::move(pem)) {
  constexpr std::string_view kTrusted = "TRUSTED CERTIFICATE";
  std::string_view rest = pem_;
  while (const std::optional<PemPart> block = next_pem_part(rest)) {
    if (block->problem != PemPart::Problem::none || block->is_indented) continue;
    if (block->label != "CERTIFICATE" && block->label != "X509 CERTIFICATE" &&
        block->label != kTrusted) {
      continue;
    }
    std::string subject = decode_subject(block->body);
    if (subject.empty()) continue;
    entries_.push_back({.text = block->body,
                        .is_trusted_form = block->label == kTrusted,
                        .subject = std::move(subject)});
  }
}

std::vector<X509Owner> RootBundle::find(const X509_NAME& subject) const {
  const std::string wanted = der_of(subject);
  std::vector<X509Owner> found;
  for (const Entry& entry : entries_) {
    if (entry.subject != wanted) {
      if (!may_be_equal(entry.subject, wanted) || !is_equal(entry.subject, subject)) continue;
    }
    const std::optional<std::string> der = decode_lines(entry.text);
    if (!der) continue;
    const auto* bytes = reinterpret_cast<const unsigned char*>(der->data());
    const auto size = static_cast<long>(der->size());
    X509Owner certificate(entry.is_trusted_form ? d2i_X509_AUX(nullptr, &bytes, size)
                                                : d2i_X509(nullptr, &bytes, size));
    if (certificate != nullptr) found.push_back(std::move(certificate));
  }
  return found;
}

}  // namespace execcred
