// SPDX-License-Identifier: Apache-2.0
#include <execcred/kube/profile_files.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/kube/profile_hint.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/manifest_walk.hpp>
#include <execcred/yaml/documents.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace execcred {
namespace {

namespace fs = std::filesystem;

// The files of a folder may be of any kind; a file that is named itself must be an inventory.
bool is_of_others(const std::string& text) {
  const std::vector<Result<Document>> documents = parse_each_document(text, kMaxInventory);
  return std::all_of(documents.begin(), documents.end(), [](const Result<Document>& one) {
    return one && one->value.object() != nullptr && one->value.find("kind") == nullptr &&
           one->value.find("apiVersion") == nullptr;
  });
}

void read_folder(const fs::path& folder, const ReceiveProfileOrError& receive,
                 const ReceiveEmptyFile& receive_empty) {
  const auto wrong = [&receive](std::string message, std::string hint) {
    receive(Error::configuration(std::move(message), std::move(hint)), {});
  };
  const auto read_one = [&](const fs::path& file, const std::string&) {
    Result<std::string> text = read_untrusted_file(file, kMaxInventory);
    if (!text) return receive(std::move(text).error(), {});
    if (text->empty() && receive_empty) receive_empty(file);
    if (!is_of_others(*text)) read_profiles(*text, in_quotes(file.native()), receive);
  };
  const auto report_unreadable = [&wrong](const fs::path& inner, const std::string&,
                                          const std::string& reason) {
    wrong("cannot read " + in_quotes(inner.native()) + ": " + reason,
          "name a folder that can be read");
  };
  const auto report_too_deep = [&wrong](const fs::path& inner, const std::string&) {
    wrong(
        in_quotes(inner.native()) + " holds folders that are nested too deeply, which are skipped",
        "name them too");
  };
  walk_manifests(folder,
                 {.file = read_one, .unreadable = report_unreadable, .too_deep = report_too_deep});
}

}  // namespace

void read_profiles(std::string_view text, const std::string& source,
                   const ReceiveProfileOrError& receive) {
  for_each_cluster_profile(text, [&](Result<ClusterProfile> profile, const ProfileName& name) {
    receive(std::move(profile).context("reading " + source).hint(profile_format_hint(true)), name);
  });
}

Status read_profiles_in(const fs::path& path, const ReceiveProfileOrError& receive,
                        const ReceiveEmptyFile& receive_empty) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    read_folder(path, receive, receive_empty);
    return {};
  }
  const std::string text = TRY(read_untrusted_file(path, kMaxInventory));
  if (text.empty() && receive_empty) receive_empty(path);
  read_profiles(text, in_quotes(path.native()), receive);
  return {};
}

Result<LoadedProfiles> load_profiles(const fs::path& path) {
  LoadedProfiles loaded;
  TRY(read_profiles_in(path, [&loaded](Result<ClusterProfile> profile, const ProfileName&) {
    if (profile) {
      loaded.profiles.push_back(std::move(*profile));
    } else {
      loaded.problems.push_back(std::move(profile).error());
    }
  }));
  return loaded;
}

}  // namespace execcred
