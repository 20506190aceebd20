// SPDX-License-Identifier: Apache-2.0
#include "sandbox.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace blackbox {

namespace fs = std::filesystem;

Sandbox::Sandbox() {
  std::string name = (fs::temp_directory_path() / "blackbox-XXXXXX").native();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
  path_ = fs::canonical(name);
  // Programs that run as another user need access too.
  fs::permissions(path_, fs::perms(0755));
}

Sandbox::~Sandbox() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Sandbox::at(std::string_view name) const { return (path_ / name).native(); }

std::string Sandbox::write(std::string_view name, std::string_view content, mode_t mode) const {
  const fs::path file = path_ / name;
  fs::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  if (!stream || chmod(file.c_str(), mode) != 0) throw std::runtime_error("write " + file.native());
  return file.native();
}

std::string Sandbox::script(std::string_view name, std::string_view body) const {
  return write(name, "#!/bin/sh\n" + std::string(body) + "\n", 0755);
}

std::string read_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

}  // namespace blackbox
