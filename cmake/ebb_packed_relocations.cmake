# EBB_PACKED_RELOCATIONS: the linker's option for packed relative relocations, or nothing. It takes a
# linker that knows it (binutils 2.38) and a C library that reads it (glibc 2.36).

include(CheckCXXSourceCompiles)

set(packed_relocations -Wl,-z,pack-relative-relocs)
set(CMAKE_REQUIRED_LINK_OPTIONS ${packed_relocations} -Wl,--fatal-warnings)
check_cxx_source_compiles(
  "#include <features.h>
#if !__GLIBC_PREREQ(2, 36)
#error older
#endif
int main() { return 0; }"
  EBB_HAS_PACKED_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
set(EBB_PACKED_RELOCATIONS "")
if(EBB_HAS_PACKED_RELOCATIONS)
  set(EBB_PACKED_RELOCATIONS ${packed_relocations})
endif()
