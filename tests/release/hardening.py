# SPDX-License-Identifier: Apache-2.0
"""Checks that a program is hardened.

What an ELF file shows is read from its headers. What a stripped file does not show is read from the
notes that cmake/toolchains/hardening_note.cpp.in and musl_malloc.c put into it.

  hardening.py --list              names the properties
  hardening.py FILE [PROPERTY...]  checks these, or all; prints what is missing, and exits with 1
"""
import pathlib
import struct
import sys

EM_X86_64, EM_AARCH64 = 62, 183
ET_DYN = 3
PT_LOAD, PT_DYNAMIC, PT_NOTE = 1, 2, 4
PT_GNU_STACK, PT_GNU_RELRO = 0x6474E551, 0x6474E552
PF_X, PF_W = 1, 2
SHT_SYMTAB, SHT_DYNSYM = 2, 11
DT_TEXTREL, DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1 = 22, 24, 30, 0x6FFFFFFB
DF_TEXTREL, DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 4, 8, 1, 0x8000000

# The values in a note, and the compiler's options, for the protection of branches.
BRANCHES = {EM_X86_64: ("cet", "-fcf-protection=full"),
            EM_AARCH64: ("bti,pac", "-mbranch-protection=standard")}


class Elf:
    """A 64-bit little-endian ELF file. Malformed ones end in struct.error or ValueError."""

    def __init__(self, content):
        if content[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no 64-bit little-endian ELF file")
        self.content = content
        self.type, self.machine = struct.unpack_from("<HH", content, 16)
        program_offset, section_offset = struct.unpack_from("<QQ", content, 32)
        program_size, programs, section_size, sections = struct.unpack_from("<HHHH", content, 54)
        # Of each segment: type, flags, offset, address, physical address, size in the file, ...
        self.segments = [struct.unpack_from("<IIQQQQQQ", content, program_offset + i * program_size)
                         for i in range(programs)]
        # Of each section: name, type, flags, address, offset, size, link, ...
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", content,
                                            section_offset + i * section_size)
                         for i in range(sections)]
        self.dynamic = dict(self._dynamic_entries())
        self.notes = dict(line.split("=", 1) for text in self._note_texts()
                          for line in text.splitlines())

    def of_type(self, kind):
        return [segment for segment in self.segments if segment[0] == kind]

    def has(self, tag, flag):
        return bool(self.dynamic.get(tag, 0) & flag)

    def symbols(self):
        """The names in the symbol tables; none in a stripped static program."""
        for section in self.sections:
            if section[1] in (SHT_SYMTAB, SHT_DYNSYM):
                names = self.sections[section[6]]
                text = self.content[names[4]:names[4] + names[5]]
                for at in range(section[4], section[4] + section[5], 24):
                    name, = struct.unpack_from("<I", self.content, at)
                    if name:
                        yield text[name:text.index(b"\0", name)].decode()

    def _dynamic_entries(self):
        for segment in self.of_type(PT_DYNAMIC):
            yield from struct.iter_unpack("<QQ", self.content[segment[2]:segment[2] + segment[5]])

    def _note_texts(self):
        for segment in self.of_type(PT_NOTE):
            at, end = segment[2], segment[2] + segment[5]
            while at < end:
                name_size, text_size, _ = struct.unpack_from("<III", self.content, at)
                name_at = at + 12
                text_at = name_at + (name_size + 3) // 4 * 4
                if self.content[name_at:name_at + name_size] == b"execcred\0":
                    yield self.content[text_at:text_at + text_size].rstrip(b"\0").decode()
                at = text_at + (text_size + 3) // 4 * 4


def is_position_independent(elf):
    return elf.type == ET_DYN and elf.has(DT_FLAGS_1, DF_1_PIE)


def has_full_relro(elf):
    return bool(elf.of_type(PT_GNU_RELRO)) and (
        DT_BIND_NOW in elf.dynamic or elf.has(DT_FLAGS, DF_BIND_NOW)
        or elf.has(DT_FLAGS_1, DF_1_NOW))


def has_plain_stack(elf):
    stacks = elf.of_type(PT_GNU_STACK)
    return len(stacks) == 1 and not stacks[0][1] & PF_X


def has_no_writable_code(elf):
    return all(segment[1] & (PF_W | PF_X) != PF_W | PF_X for segment in elf.of_type(PT_LOAD))


def has_no_text_relocations(elf):
    return DT_TEXTREL not in elf.dynamic and not elf.has(DT_FLAGS, DF_TEXTREL)


def has_stack_protector(elf):
    names = set(elf.symbols())
    return elf.notes.get("stack-protector") == "strong" and (
        not names or "__stack_chk_fail" in names)


def has_protected_branches(elf):
    return elf.notes.get("branches") == BRANCHES[elf.machine][0]


def has_hardened_libraries(elf):
    wanted = {"-fPIE", "-fstack-protector-strong", BRANCHES[elf.machine][1]}
    return wanted <= set(elf.notes.get("libraries", "").split())


PROPERTIES = {
    "position-independent": is_position_independent,
    "full-relro": has_full_relro,
    "no-executable-stack": has_plain_stack,
    "no-writable-code": has_no_writable_code,
    "no-text-relocations": has_no_text_relocations,
    "stack-protector": has_stack_protector,
    "libc++-extensive": lambda elf: elf.notes.get("libc++") == "extensive",
    "bounds-checked": lambda elf: elf.notes.get("bounds") == "checked",
    "branches-protected": has_protected_branches,
    "libraries-hardened": has_hardened_libraries,
    "allocator-checked": lambda elf: elf.notes.get("allocator") == "mallocng",
}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(PROPERTIES))
        return 0
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(PROPERTIES):
        sys.exit(__doc__)
    try:
        elf = Elf(pathlib.Path(sys.argv[1]).read_bytes())
        missing = [name for name in sys.argv[2:] or PROPERTIES if not PROPERTIES[name](elf)]
    except (OSError, ValueError, KeyError, IndexError, struct.error) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
    for name in missing:
        print(name)
    return 1 if missing else 0


sys.exit(main())
