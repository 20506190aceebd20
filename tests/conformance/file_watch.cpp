// SPDX-License-Identifier: Apache-2.0
#include "file_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>

namespace blackbox {
namespace {

int watch(const std::string& path, std::uint32_t events) {
  const int inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (inotify < 0 || inotify_add_watch(inotify, path.c_str(), events) < 0) {
    throw std::runtime_error("inotify on " + path);
  }
  return inotify;
}

void for_each_event(int inotify, const std::function<void(const inotify_event&)>& take) {
  alignas(inotify_event) std::array<char, 65536> buffer = {};
  for (;;) {
    const ssize_t count = read(inotify, buffer.data(), buffer.size());
    if (count <= 0) return;
    for (ssize_t at = 0; at < count;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      take(*event);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
}

}  // namespace

FileWatch::FileWatch() : folder_(sandbox_.at("baits")) {
  std::filesystem::create_directory(folder_);
}

FileWatch::~FileWatch() {
  if (inotify_ >= 0) close(inotify_);
}

std::string FileWatch::bait(std::string_view name, std::string_view content) {
  return sandbox_.write("baits/" + std::string(name), content, 0755);
}

std::string FileWatch::bait_to_create(std::string_view name) {
  return folder_ + "/" + std::string(name);
}

void FileWatch::start() { inotify_ = watch(folder_, IN_ALL_EVENTS); }

std::set<std::string> FileWatch::touched() {
  std::set<std::string> names;
  for_each_event(inotify_, [&names](const inotify_event& event) {
    names.insert(event.len > 0 ? event.name : ".");
  });
  return names;
}

OpenWatch::OpenWatch(const std::string& path) : inotify_(watch(path, IN_OPEN | IN_CLOSE)) {}

OpenWatch::~OpenWatch() { close(inotify_); }

bool OpenWatch::is_open() {
  for_each_event(inotify_, [this](const inotify_event& event) {
    count_ += (event.mask & IN_OPEN) != 0 ? 1 : 0;
    count_ -= (event.mask & IN_CLOSE) != 0 ? 1 : 0;
  });
  return count_ > 0;
}

}  // namespace blackbox
