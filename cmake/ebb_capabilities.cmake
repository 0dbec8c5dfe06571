# For which CPUs the kernel files are compiled: EBB_CPU_CAPABILITIES, the best one last, and the
# flags of each. core/cpu/dispatch.cpp chooses among them at run time. avx512 is left out unless
# asked for (EBB_PACKAGE_CAPABILITIES="baseline;avx2;avx512"): it adds a quarter to the library.

# A package holds several sets of kernels and should be small: those for old CPUs are built for size,
# the others without the copies of loops that -O3 makes, and without vectorised loop tails.
set(vectorized $<$<CONFIG:Release>:-O2> -ftree-vectorize
               $<$<CXX_COMPILER_ID:GNU>:-fvect-cost-model=dynamic;--param=vect-epilogues-nomask=0>)
set(EBB_FLAGS_native "")
set(EBB_FLAGS_baseline $<$<CONFIG:Release>:-Os>)
set(EBB_FLAGS_avx2 ${vectorized} -mavx2 -mfma -mf16c)
set(EBB_FLAGS_avx512 ${vectorized} -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mf16c)

if(EBB_NATIVE)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-march=native EBB_HAS_MARCH_NATIVE)
  if(EBB_HAS_MARCH_NATIVE)
    set(EBB_FLAGS_native -march=native)
  endif()
  set(EBB_CPU_CAPABILITIES native)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(EBB_PACKAGE_CAPABILITIES baseline avx2
      CACHE STRING "Kernels in a library for any CPU, the best last: baseline, avx2, avx512")
  set(EBB_CPU_CAPABILITIES ${EBB_PACKAGE_CAPABILITIES})
else()
  set(EBB_CPU_CAPABILITIES baseline)
endif()
message(STATUS "ebb: vector kernels for ${EBB_CPU_CAPABILITIES}")
