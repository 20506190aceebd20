// SPDX-License-Identifier: Apache-2.0
// A place where a credential is written: a folder or a Secret.
#pragma once

#include "mark.hpp"

#include <string>

namespace execcred::sync {

class Store;

struct Held {
  Store* store = nullptr;
  std::string place = {};       // "Secret fleet/spoke-1-token", "'/run/clusters/fleet/spoke-1'"
  std::string name_space = {};  // its own
  std::string name = {};
  Mark mark = {};
};

}  // namespace execcred::sync
