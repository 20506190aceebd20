// SPDX-License-Identifier: Apache-2.0
#include "feed.hpp"

#include <execcred/base/text.hpp>
#include <execcred/os/manifest_walk.hpp>

#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

namespace execcred::sync {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

// Files are read when they have not changed for the first duration, or after the second at the
// latest.
constexpr std::chrono::milliseconds kQuiet(100);
constexpr std::chrono::seconds kRestless(2);
// How long files are used without a reported change. Some file systems report no changes; the
// second duration is for folders that cannot be watched.
constexpr std::chrono::minutes kAnyway(5);
constexpr std::chrono::seconds kAnywayBlind(10);

class FileFeed final : public ProfileFeed {
 public:
  FileFeed(const cli::ProfileSource& source, std::string mapping)
      : source_(source), mapping_(std::move(mapping)) {}
  ~FileFeed() override {
    if (watcher_.joinable()) watcher_.join();
  }

  Picture read(bool is_anew, const FeedReceiver& receiver) override;
  Status watch(std::function<void()> on_change, const StopEvent& stop) override;
  bool is_up() const override { return !is_blind_; }

 private:
  // The files and folders that the paths lead to, through links and mounts. 0: none.
  using Identities = std::vector<std::pair<dev_t, ino_t>>;
  Identities identities() const;
  bool must_read(bool is_anew);
  void look_at_folders();
  int look_at(const fs::path& folder);
  enum class Events { none, of_mapping, of_inventory };
  Events take_events();
  void run(const std::function<void()>& on_change, const StopEvent& stop);

  const cli::ProfileSource& source_;
  std::string mapping_;
  FileDescriptor changes_;
  std::atomic<bool> is_blind_ = false;
  std::atomic<bool> has_news_ = true;
  // The watch of the mapping's folder, if it is not one of the inventory's; otherwise 0. The
  // mapping is read at each look, so a change there is no news of the inventory.
  std::atomic<int> mapping_alone_ = 0;
  Picture last_ = {};
  Identities last_identities_ = {};
  std::thread watcher_;
};

// Whether an object can have this name. A ClusterProfile that cannot be read is listed only under
// such a name.
bool can_be_named(const ProfileName& name) {
  return is_dns1123_subdomain(name.name) &&
         (name.name_space.empty() || is_dns1123_subdomain(name.name_space));
}

FileFeed::Identities FileFeed::identities() const {
  Identities identities;
  for (const std::string& path : source_.paths()) {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0) status = {};
    identities.emplace_back(status.st_dev, status.st_ino);
  }
  return identities;
}

bool FileFeed::must_read(bool is_anew) {
  // The watch of a path that is a link is of the folder that it led to, and does not see another
  // link in its place.
  const bool is_replaced = identities() != last_identities_;
  if (is_replaced && changes_) look_at_folders();
  const bool has_news = has_news_.exchange(false) || is_anew || is_replaced;
  // If the last reading was not complete, what could not be read may be readable now, and that is
  // not a change of its folder.
  return has_news || !last_.is_whole || !last_.empty_paths.empty();
}

Picture FileFeed::read(bool is_anew, const FeedReceiver& receiver) {
  if (!must_read(is_anew)) {
    last_.is_all = false;
    return last_;
  }
  last_identities_ = identities();
  Picture picture{.is_all = true, .is_whole = true};
  bool is_path_empty = true;
  const auto take = [&](Result<ClusterProfile> profile, const ProfileName& name) {
    is_path_empty = false;
    // It is written as one of this namespace, so -n chooses it by this namespace.
    const bool has_default = name.name_space.empty() && !name.name.empty();
    ProfileName chosen = name;
    if (has_default) chosen.name_space = kDefaultNamespace;
    if (!source_.hub().chooses(chosen)) return;
    if (!profile) picture.is_whole = false;
    if (!profile && !can_be_named(name)) {
      picture.problems.push_back(profile.error());
      return;
    }
    if (profile) ++picture.count;
    const std::string& name_space = profile ? profile->name_space : name.name_space;
    const ListedProfile listed{.name_space = name_space.empty() ? kDefaultNamespace : name_space,
                               .name = profile ? profile->name : name.name,
                               .profile = std::move(profile)};
    receiver.take(listed);
  };
  const auto take_empty = [&picture](const fs::path& file) {
    picture.is_whole = false;
    picture.empty_files.push_back(file.native());
  };
  for (const std::string& path : source_.paths()) {
    is_path_empty = true;
    const Status read = cli::ProfileSource::for_each_document_in(path, take, take_empty);
    if (!read) {
      picture.is_whole = false;
      picture.failures.push_back(read.error());
      continue;
    }
    picture.is_known = true;
    if (is_path_empty && source_.paths().size() > 1) picture.empty_paths.push_back(path);
  }
  last_ = picture;
  return picture;
}

// The number of the watch; -1 if there is none.
int FileFeed::look_at(const fs::path& folder) {
  constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                    IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB;
  const int watch = inotify_add_watch(changes_.get(), folder.c_str(), kEvents);
  if (watch < 0) is_blind_ = true;
  return watch;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

// Watches the folders of the files, because a file may be replaced by another one of its name; and
// each folder inside a folder, because a folder does not report what happens in the folders inside.
void FileFeed::look_at_folders() {
  is_blind_ = !changes_;
  if (!changes_) return;
  std::set<int> watches;
  for (const std::string& path : source_.paths()) {
    std::error_code failed;
    if (!fs::is_directory(path, failed)) {
      watches.insert(look_at(folder_of(path)));
      continue;
    }
    watches.insert(look_at(path));
    std::set<std::string> inside;
    const auto add = [&inside](const fs::path& file, const std::string&) {
      inside.insert(file.parent_path().native());
    };
    walk_manifests(path,
                   {.file = add,
                    .unreadable = [](const fs::path&, const std::string&, const std::string&) {},
                    .too_deep = [](const fs::path&, const std::string&) {}});
    for (const std::string& folder : inside) watches.insert(look_at(folder));
    // Folders without a manifest may get one.
    for (fs::recursive_directory_iterator entry(path, failed), end; !failed && entry != end;
         entry.increment(failed)) {
      if (entry.depth() > 8) entry.disable_recursion_pending();
      if (entry->is_directory(failed) && !entry->is_symlink(failed)) {
        watches.insert(look_at(entry->path()));
      }
    }
  }
  const int mapping = look_at(folder_of(mapping_));
  mapping_alone_ = mapping > 0 && !watches.contains(mapping) ? mapping : 0;
}

FileFeed::Events FileFeed::take_events() {
  alignas(inotify_event) std::array<char, 16UL * 1024> events = {};
  Events found = Events::none;
  ssize_t size = 0;
  while ((size = ::read(changes_.get(), events.data(), events.size())) > 0) {
    inotify_event event = {};
    for (ssize_t at = 0; at < size; at += static_cast<ssize_t>(sizeof event + event.len)) {
      std::memcpy(&event, events.data() + at, sizeof event);
      const bool is_of_mapping = event.wd == mapping_alone_;
      found = std::max(found, is_of_mapping ? Events::of_mapping : Events::of_inventory);
    }
  }
  return found;
}

void FileFeed::run(const std::function<void()>& on_change, const StopEvent& stop) {
  bool is_news = false;  // of the inventory
  auto last_read = SteadyClock::now();
  auto first_change = SteadyClock::time_point::max();
  while (!stop.is_requested()) {
    const bool is_restless = first_change != SteadyClock::time_point::max();
    const auto anyway =
        is_blind_ ? SteadyClock::duration(kAnywayBlind) : SteadyClock::duration(kAnyway);
    const auto pause =
        is_restless ? SteadyClock::duration(kQuiet) : last_read + anyway - SteadyClock::now();
    std::array<pollfd, 2> polled = {{{.fd = stop.descriptor(), .events = POLLIN, .revents = 0},
                                     {.fd = changes_.get(), .events = POLLIN, .revents = 0}}};
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(pause).count();
    poll(polled.data(), polled.size(), static_cast<int>(std::max<std::int64_t>(wait, 0)));
    const auto now = SteadyClock::now();
    const bool has_events = changes_ && polled[1].revents != 0;
    const Events events = has_events ? take_events() : Events::none;
    const bool is_changing = events != Events::none;
    is_news = is_news || events == Events::of_inventory;
    if (is_changing && !is_restless) first_change = now;
    const bool is_over = is_restless && (!is_changing || now - first_change > kRestless);
    is_news = is_news || now - last_read >= anyway;
    if (!is_over && !(now - last_read >= anyway)) continue;
    first_change = SteadyClock::time_point::max();
    look_at_folders();
    if (std::exchange(is_news, false)) {
      last_read = now;
      has_news_ = true;
    }
    on_change();
  }
}

Status FileFeed::watch(std::function<void()> on_change, const StopEvent& stop) {
  changes_.reset(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  look_at_folders();
  // The first look finds what changed before the watch began.
  has_news_ = true;
  on_change();
  watcher_ = std::thread([this, action = std::move(on_change), &stop] { run(action, stop); });
  return {};
}

}  // namespace

std::unique_ptr<ProfileFeed> file_feed(const cli::ProfileSource& source, std::string mapping) {
  return std::make_unique<FileFeed>(source, std::move(mapping));
}

}  // namespace execcred::sync
