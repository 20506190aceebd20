// SPDX-License-Identifier: Apache-2.0
// Which directory the cache is in, and whether it is safe.
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/os/file_walk.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace execcred {

// A possible place of the cache.
class CacheCandidate {
 public:
  // `levels` is the number of directories at the path's end that may be created.
  CacheCandidate(std::string path, int levels) : path_(std::move(path)), levels_(levels) {}

  // nullopt if the directory does not exist and is not created. Fails (configuration) if it is not
  // safe.
  Result<std::optional<CacheDirectory>> open(CacheDirectory::IfMissing if_missing);
  const std::string& path() const { return path_; }

 private:
  Error unsafe(std::string_view where, const std::string& why) const;
  Status check_way();
  bool make() const;
  std::string parent() const { return path_.substr(0, path_.rfind('/')); }

  std::string path_;
  int levels_;
};

namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::string_view kName = "/execcred";

std::string without_slash(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

// The default places. XDG requires that relative paths are ignored.
std::vector<CacheCandidate> usual_candidates(const Environment& environment) {
  std::vector<CacheCandidate> candidates;
  const auto add = [&](const char* variable, std::string_view below, int levels) {
    const std::optional<std::string_view> base = environment.get(variable);
    if (!base || !base->starts_with('/')) return;
    candidates.emplace_back(without_slash(*base).append(below).append(kName), levels);
  };
  add("XDG_RUNTIME_DIR", "", 1);
  add("XDG_CACHE_HOME", "", 2);
  add("HOME", "/.cache", 2);
  candidates.emplace_back("/dev/shm/execcred-" + std::to_string(geteuid()), 1);
  return candidates;
}

std::vector<CacheCandidate> candidates_for(std::string_view asked, const Environment& environment) {
  const std::string_view named =
      asked.empty() ? environment.get("EXECCRED_CACHE_DIR").value_or("") : asked;
  if (named.empty()) return usual_candidates(environment);
  return {CacheCandidate(without_slash(named), 2)};
}

// An unsafe place ends the search, because another place would be another cache.
Result<std::optional<CacheDirectory>> first_of(std::vector<CacheCandidate>& candidates,
                                               CacheDirectory::IfMissing if_missing) {
  for (CacheCandidate& candidate : candidates) {
    std::optional<CacheDirectory> directory = TRY(candidate.open(if_missing));
    if (directory) return directory;
  }
  return std::optional<CacheDirectory>();
}

}  // namespace

Error CacheCandidate::unsafe(std::string_view where, const std::string& why) const {
  return Error::configuration("the cache directory " + in_quotes(path_) + " is not safe: " +
                              (where == path_ ? "it" : in_quotes(where)) + " " + why);
}

// A missing folder above the cache directory is no failure here; opening it fails later.
Status CacheCandidate::check_way() {
  const FolderWay way = check_way_to_folder(parent());
  if (!way.why.empty()) return unsafe(way.at, way.why);
  if (way.error_number == 0) path_ = without_slash(way.folder) + path_.substr(path_.rfind('/'));
  return {};
}

bool CacheCandidate::make() const {
  if (mkdir(path_.c_str(), 0700) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT || levels_ < 2) return false;
  if (mkdir(parent().c_str(), 0700) != 0 && errno != EEXIST) return false;
  return mkdir(path_.c_str(), 0700) == 0 || errno == EEXIST;
}

Result<std::optional<CacheDirectory>> CacheCandidate::open(CacheDirectory::IfMissing if_missing) {
  if (!path_.starts_with('/')) return unsafe(path_, "is no absolute path");
  if ((path_ + "/").find("/../") != std::string::npos) return unsafe(path_, "has '..' in it");
  TRY(check_way());
  FileDescriptor descriptor(::open(path_.c_str(), kDirectoryFlags));
  if (!descriptor && errno == ENOENT && if_missing == CacheDirectory::IfMissing::create && make()) {
    descriptor.reset(::open(path_.c_str(), kDirectoryFlags));
  }
  if (!descriptor) {
    if (errno == ENOTDIR || errno == ELOOP) return unsafe(path_, "is no directory");
    return std::optional<CacheDirectory>();
  }
  struct stat status = {};
  if (fstat(descriptor.get(), &status) != 0) return std::optional<CacheDirectory>();
  if (status.st_uid != geteuid()) {
    return unsafe(path_, "belongs to user " + std::to_string(status.st_uid));
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    Error error = unsafe(path_, "is open to other users");
    error.hint = "run chmod 0700 on it";
    return error;
  }
  return std::optional(CacheDirectory(path_, std::move(descriptor)));
}

Result<CacheDirectory> CacheDirectory::open(std::string_view asked, const Environment& environment,
                                            IfMissing if_missing) {
  std::vector<CacheCandidate> candidates = candidates_for(asked, environment);
  std::optional<CacheDirectory> directory = TRY(first_of(candidates, if_missing));
  if (directory) return *std::move(directory);
  return Error::configuration("there is no cache directory " +
                              in_quotes(candidates.front().path()) +
                              (if_missing == IfMissing::create ? ", and it cannot be made" : ""));
}

Result<std::optional<CacheDirectory>> CacheDirectory::find(std::string_view asked,
                                                           const Environment& environment) {
  std::vector<CacheCandidate> candidates = candidates_for(asked, environment);
  return first_of(candidates, IfMissing::leave);
}

}  // namespace execcred
