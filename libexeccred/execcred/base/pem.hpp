// SPDX-License-Identifier: Apache-2.0
// PEM (RFC 7468) as text, without decoding certificates or keys. There are three readers: Go's, for
// text that goes unchanged to a client; a strict one, for text that every client must read in the
// same way; and a tolerant one, for text that is written again.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// A block and its place. The views refer to the text that was scanned.
struct PemPart {
  enum class Problem {
    none,
    begin_line,     // "-----BEGIN " is not in a line of its own that ends in "-----"
    dashes_inside,  // "-----" comes before the END line
    no_end,
  };

  std::string_view before = {};  // the text between the previous part and this one
  std::string_view label = {};   // "CERTIFICATE"
  std::string_view body = {};    // between the BEGIN and the END line
  std::string_view text = {};    // from BEGIN to END; with a problem, to the next BEGIN
  Problem problem = Problem::none;
  bool is_indented = false;  // there is white space before BEGIN in its line
};

// Removes the next part from the front of `rest`, and returns it; nullopt if no BEGIN is left.
// After a problem, `rest` begins at the line after BEGIN.
std::optional<PemPart> next_pem_part(std::string_view& rest);

// The DER of each certificate, in order. Clients' PEM readers differ, so this one is strict. Text
// may surround the blocks, but any "-----" that is not in the first or last line of a CERTIFICATE
// block is refused, so that no reader can find a certificate that this one did not. Fails
// (configuration), also if there is no certificate.
Result<std::vector<std::string>> parse_pem_certificates(std::string_view text);

struct PemBlock {
  std::string label = {};
  bool has_headers = false;   // of RFC 1421
  bool is_encrypted = false;  // by such a header
  SecretString der = {};
};

// The DER of the CERTIFICATE blocks that Go's encoding/pem finds; without those that have headers,
// which crypto/x509 ignores in a CA's file. Fails (configuration) if there is none, with the first
// fault: "holds no certificate in PEM: the 'CERTIFICATE' of line 3 has no END line".
Result<std::vector<std::string>> parse_go_certificates(std::string_view text);
// The same of a client's certificate, in which crypto/tls takes blocks with headers too.
Result<std::vector<std::string>> parse_go_client_certificates(std::string_view text);
// The block that Go's crypto/tls takes for the private key. Fails in the same way.
Result<PemBlock> parse_go_private_key(std::string_view text);

bool looks_like_pem(std::string_view text);

// Blocks of any label. Text may surround them, a byte order mark may precede them, and they may
// contain headers, white space and empty lines. Fails (no_credential) with "is PEM …".
Result<std::vector<PemBlock>> parse_pem_blocks(std::string_view text);

// Appends a block with lines of 64 characters and a newline at the end.
void append_pem(std::string_view label, std::string_view der, SecretString& out);

}  // namespace execcred
