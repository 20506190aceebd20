// SPDX-License-Identifier: Apache-2.0
// Writes a .tar.gz: POSIX.1-1988 ustar (POSIX.1-2017, pax, "ustar Interchange Format") in a gzip
// file (RFC 1952) of stored blocks (RFC 1951, section 3.2.4). Any tar reads it. It is not
// compressed, because no library for that is linked.
#pragma once

#include <execcred/base/clock.hpp>

#include <string>
#include <vector>

namespace execcred::cli {

struct ArchiveFile {
  std::string name = {};  // at most 99 bytes
  std::string text = {};
};

// The files have the mode 0600.
std::string tar_gz(const std::vector<ArchiveFile>& files, TimePoint modified);

}  // namespace execcred::cli
