// SPDX-License-Identifier: Apache-2.0
// Memory for nghttp2 from operator new, which the release binaries serve without system calls
// (cmake/toolchains/musl_runtime.cpp): their malloc maps pages for each size that is asked for.
#pragma once

#include <nghttp2/nghttp2.h>

namespace execcred {

nghttp2_mem* http2_memory();

}  // namespace execcred
