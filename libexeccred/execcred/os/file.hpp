// SPDX-License-Identifier: Apache-2.0
// Trusted files (tokens, CAs, mappings): read only if no other user could have put them there.
//
// The path is walked from the root, one directory at a time, without letting the kernel follow
// a symlink. Every directory on the way must belong to root or to this user and not be writable
// by group or others, unless it is root's and sticky (kubelet's volume roots are mode 1777).
// Symlinks in such directories are followed when root or this user made them; the last name may
// be one too, but only to a place inside its own directory, which is how a projected volume looks
// (token -> ..data/token, ..data -> ..2026_07_01). The file itself must be regular, belong to
// root or this user, and not be writable by group or others.
//
// If the kubelet replaces `..data` during the walk, the walk starts again; a file that changes
// while it is read is read again.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace execcred {

// Limits in bytes: of a token or password, of certificates or a key in PEM, of a kubeconfig.
inline constexpr std::size_t kMaxSecretFile = 128 * 1024;
inline constexpr std::size_t kMaxPemFile = 1024 * 1024;
inline constexpr std::size_t kMaxKubeconfig = 1024 * 1024;

// Fails with configuration (cannot be opened, wrong kind, size or owner) or unavailable (it keeps
// changing, or this machine has a passing fault, such as a lack of memory or descriptors). Messages
// name the path and, for a refusal, what is at fault.
Result<SecretString> read_secret_file(const std::filesystem::path& path,
                                      std::size_t max_bytes = kMaxSecretFile);
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);

// The same, but nullopt if the directory has no such entry.
Result<std::optional<SecretString>> read_secret_file_if_there(
    const std::filesystem::path& path, std::size_t max_bytes = kMaxSecretFile);

// Several files of one directory, in the order of `names`; nullopt for each that is absent. In a
// volume that the kubelet writes, all are from the same state of the volume. Fails as
// read_secret_file() does, for the first file that cannot be read.
Result<std::vector<std::optional<SecretString>>> read_secret_directory(
    const std::filesystem::path& directory, const std::vector<std::string>& names,
    std::size_t max_bytes = kMaxSecretFile);

// A file that is not trusted (a ClusterProfile): any user may own it, and symlinks are followed. It
// must still be regular, not larger than `max_bytes`, and not shorter than its size says. Fails as
// read_file() does, and with unavailable for a file that is too short.
Result<std::string> read_untrusted_file(const std::filesystem::path& path, std::size_t max_bytes);

// Reads to the end of an open descriptor that need not be a file (standard input). `name` is its
// name in messages. Blocks until the writer closes it; only the deadline limits this. Memory for
// `expected` bytes is allocated at once. Fails (configuration).
Result<std::string> read_stream(int descriptor, std::size_t max_bytes, const std::string& name,
                                std::size_t expected = 0);

// Owns a descriptor, and closes it when destroyed.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { reset(); }

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  void reset(int descriptor = -1);

 private:
  int release() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    return descriptor;
  }

  int descriptor_ = -1;
};

}  // namespace execcred
