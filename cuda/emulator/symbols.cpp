// Names of kernels. Kernels in anonymous namespaces are not among the symbols that dladdr sees, so
// the symbol table of the program's file is read.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <cxxabi.h>
#include <dlfcn.h>
#if defined(__linux__)
#include <elf.h>
#include <link.h>
#endif

#include <ebb/cuda/emulator/report.h>

namespace ebb::cuda::emulator {

namespace {

#if defined(__linux__)

template <typename T>
bool read_at(std::ifstream& file, uint64_t offset, T* to, size_t count) {
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count * sizeof(T)));
  return file.good();
}

/// The name of the function at `value` in the symbol table of a file of this machine's format; ""
/// if it has none.
std::string find_symbol(const char* path, uint64_t value) {
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header{};
  if (!read_at(file, 0, &header, 1) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "";
  std::vector<ElfW(Shdr)> sections(header.e_shnum);
  if (!read_at(file, header.e_shoff, sections.data(), sections.size())) return "";
  for (const auto& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    std::vector<ElfW(Sym)> symbols(section.sh_size / sizeof(ElfW(Sym)));
    if (!read_at(file, section.sh_offset, symbols.data(), symbols.size())) return "";
    for (const auto& symbol : symbols) {
      if ((symbol.st_info & 0xf) != STT_FUNC || symbol.st_value != value) continue;
      file.seekg(static_cast<std::streamoff>(sections[section.sh_link].sh_offset + symbol.st_name));
      std::string name;
      std::getline(file, name, '\0');
      return name;
    }
  }
  return "";
}

/// Symbols of a file that is loaded where it likes count from its first byte.
std::string find_symbol(const Dl_info& info, const void* address) {
  const char* base = static_cast<const char*>(info.dli_fbase);
  const char* path = info.dli_fname;
  const auto value = reinterpret_cast<uint64_t>(address);
  const auto offset = static_cast<uint64_t>(static_cast<const char*>(address) - base);
  const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(base);
  const std::string name = find_symbol(path, header.e_type == ET_DYN ? offset : value);
  return name.empty() ? find_symbol("/proc/self/exe", offset) : name;
}

#else

std::string find_symbol(const Dl_info&, const void*) { return ""; }

#endif

std::string demangle(const std::string& name) {
  int status = 0;
  char* readable = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string text = readable != nullptr ? readable : name;
  std::free(readable);
  return text;
}

}  // namespace

std::string kernel_name(const void* address) {
  Dl_info info{};
  std::string name;
  if (dladdr(address, &info) != 0) {
    if (info.dli_sname != nullptr && info.dli_saddr == address) name = info.dli_sname;
    if (name.empty()) name = find_symbol(info, address);
  }
  if (!name.empty()) return demangle(name);
  char text[32];
  std::snprintf(text, sizeof text, "at %p", address);
  return text;
}

}  // namespace ebb::cuda::emulator
