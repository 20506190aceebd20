# SPDX-License-Identifier: Apache-2.0
# Fully static binaries against musl. The prefix EXECCRED_MUSL has the compiler and all libraries,
# so nothing that was built for this machine's own C library is found; scripts/release makes it.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES EXECCRED_MUSL EXECCRED_MUSL_MACHINE)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${EXECCRED_MUSL_MACHINE})
set(CMAKE_C_COMPILER ${EXECCRED_MUSL}/bin/cc)
set(CMAKE_CXX_COMPILER ${EXECCRED_MUSL}/bin/c++)
set(CMAKE_AR ${EXECCRED_MUSL}/bin/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${EXECCRED_MUSL}/bin/ranlib CACHE FILEPATH "")
# Zig ignores -static-pie and goes by this one, which CMake passes to the link too.
set(CMAKE_C_FLAGS_INIT -fPIE)
set(CMAKE_CXX_FLAGS_INIT -fPIE)
set(CMAKE_CXX_STANDARD_LIBRARIES "${EXECCRED_MUSL}/lib/runtime.o ${EXECCRED_MUSL}/lib/malloc.o")

set(CMAKE_FIND_ROOT_PATH ${EXECCRED_MUSL})
set(CMAKE_PREFIX_PATH ${EXECCRED_MUSL})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${EXECCRED_MUSL}/lib/pkgconfig)
set(ENV{PKG_CONFIG_PATH} "")
