// SPDX-License-Identifier: Apache-2.0
#include "archive.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace execcred::cli {
namespace {

constexpr std::size_t kBlock = 512;

void put(std::string& header, std::size_t at, std::string_view text) {
  header.replace(at, text.size(), text);
}

// The number in octal digits, filled with zeros to `width`.
std::string octal(std::uint64_t number, std::size_t width) {
  std::string digits(width, '0');
  for (std::size_t i = width; i > 0 && number > 0; --i, number /= 8) {
    digits[i - 1] = static_cast<char>('0' + number % 8);
  }
  return digits;
}

std::string header_of(const ArchiveFile& file, std::uint64_t modified) {
  std::string header(kBlock, '\0');
  put(header, 0, file.name);
  put(header, 100, "0000600");
  put(header, 108, "0000000");
  put(header, 116, "0000000");
  put(header, 124, octal(file.text.size(), 11));
  put(header, 136, octal(modified, 11));
  put(header, 148, std::string(8, ' '));  // counts as spaces in the checksum
  put(header, 156, "0");
  put(header, 257,
      std::string_view("ustar\0"
                       "00",
                       8));
  std::uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(header, 148, octal(sum, 6) + std::string(1, '\0'));
  return header;
}

std::uint32_t crc32_of(std::string_view text) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

// The number's bytes, the lowest first.
std::string little_endian(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    text.push_back(static_cast<char>(number >> 8 * i & 0xff));
  }
  return text;
}

std::string gzip(std::string_view text) {
  constexpr std::size_t kMostStored = 65535;
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  std::string_view rest = text;
  do {
    const std::string_view block = rest.substr(0, kMostStored);
    rest.remove_prefix(block.size());
    file.push_back(rest.empty() ? '\x01' : '\0');
    file += little_endian(block.size(), 2) + little_endian(~block.size(), 2);
    file += block;
  } while (!rest.empty());
  return file + little_endian(crc32_of(text), 4) + little_endian(text.size(), 4);
}

}  // namespace

std::string tar_gz(const std::vector<ArchiveFile>& files, TimePoint modified) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(modified.time_since_epoch()).count();
  std::string tar;
  for (const ArchiveFile& file : files) {
    tar += header_of(file, static_cast<std::uint64_t>(std::max<std::int64_t>(seconds, 0)));
    tar += file.text;
    tar.append((kBlock - file.text.size() % kBlock) % kBlock, '\0');
  }
  tar.append(2 * kBlock, '\0');
  return gzip(tar);
}

}  // namespace execcred::cli
