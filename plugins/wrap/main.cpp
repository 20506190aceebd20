// SPDX-License-Identifier: Apache-2.0
#include "plugin.hpp"

int main(int argc, char** argv) {
  return execcred::plugin_main(execcred::wrap::plugin(), argc, argv);
}
