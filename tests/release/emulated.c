// SPDX-License-Identifier: Apache-2.0
// Makes a program of another architecture one executable for a test: executes EMULATOR with PROGRAM
// and the arguments that it got. Linked statically, so that only the program itself reads the
// environment or needs a descriptor.
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char** const arguments = calloc((size_t)argc + 3, sizeof *arguments);
  if (arguments == NULL) return 126;
  arguments[0] = EMULATOR;
  arguments[1] = PROGRAM;
  for (int i = 1; i < argc; ++i) arguments[i + 1] = argv[i];
  execv(EMULATOR, arguments);
  return 126;
}
