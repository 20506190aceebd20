// SPDX-License-Identifier: Apache-2.0
// A program for the test of hardening.py. NOTE is the text of its note, without which it has none.
#include <string.h>
#ifdef NOTE
__asm__(
    ".section .note.execcred.hardening,\"a\",%note\n"
    ".balign 4\n"
    ".long 9, 2f - 1f, 1\n"
    ".asciz \"execcred\"\n"
    ".balign 4\n"
    "1: .ascii \"" NOTE
    "\"\n"
    "2: .balign 4\n"
    ".previous\n");
#endif
#ifdef WRITABLE_CODE
__asm__(".section .both,\"awx\",%progbits\n.quad 0\n.previous\n");
#endif
#ifdef TEXT_RELOCATION
__asm__(".text\n.quad main\n");
#endif

int main(int argc, char** argv) {
  char name[64] = "";
  if (argc > 0) strncpy(name, argv[0], sizeof(name) - 1);
  return name[0] == '\0';
}
