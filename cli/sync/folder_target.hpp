// SPDX-License-Identifier: Apache-2.0
// DIR/<namespace>/<name>/, a folder for each cluster in the layout of the kubelet's volumes: the
// files are links into ..data, which is a link to the newest generation, so that a reader that
// resolves it once gets files that belong together.
//
// A folder is replaced or removed only if it holds the marker of this instance.
#pragma once

#include "target.hpp"

#include <execcred/os/file.hpp>

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace execcred::sync {

struct FolderSettings {
  std::filesystem::path root = {};
  std::string instance = {};
  mode_t file_mode = 0600;
  std::optional<gid_t> group = std::nullopt;
  // If false, scan() does not remove leftovers of killed runs.
  bool removes_left_overs = true;
};

class FolderTarget final : public Store, public Target {
 public:
  // Fails (configuration) if the folder cannot be opened, if it belongs to another user than root
  // and this one, or if its group or others may write it.
  static Result<std::unique_ptr<FolderTarget>> open(FolderSettings settings);

  Store& store() override { return *this; }
  Result<Held> place_of(const Mark& mark) override;
  // Also removes leftovers of killed runs, if the settings say so.
  Result<std::vector<Held>> scan() override;
  bool is_gone(const Held& held) const override;
  bool is_foreign(const Held& held) const override;
  Result<Wrote> write(const Held& held, const Issue& issue, const MayWrite& may_write) override;
  Result<Wrote> mark_expired(const Held& held, const MayWrite& may_write) override;
  Result<Wrote> remove(const Held& held, const MayWrite& may_write) override;

 private:
  FolderTarget(FolderSettings settings, dev_t device)
      : settings_(std::move(settings)), device_(device) {}

  mode_t folder_mode() const;
  Result<FileDescriptor> open_root() const;
  Status create(int parent, const std::string& name, const Mark& mark, const Contents& contents,
                const MayWrite& may_write, Wrote& wrote) const;
  Status replace(int folder, const Mark& mark, const Contents& contents, const MayWrite& may_write,
                 Wrote& wrote) const;
  Status write_generation(int folder, const std::string& generation,
                          const Contents& contents) const;
  Status adopt(int descriptor, mode_t mode) const;
  bool is_adopted(const struct stat& status, mode_t mode) const;
  bool is_as_set(int folder) const;
  Status open_to_readers(int parent, const struct stat& status) const;

  FolderSettings settings_;
  // The file system of the folder at the start. If it is a memory file system that was unmounted,
  // credentials must not be written to the disk below it.
  dev_t device_;
};

}  // namespace execcred::sync
