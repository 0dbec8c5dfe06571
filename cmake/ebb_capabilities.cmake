# For which CPUs the kernel files are compiled: EBB_CPU_CAPABILITIES, the best one last, and the
# flags of each. core/cpu/dispatch.cpp chooses among them at run time.

set(EBB_FLAGS_native "")
set(EBB_FLAGS_baseline "")
set(EBB_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(EBB_FLAGS_avx512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mf16c)

if(EBB_NATIVE)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-march=native EBB_HAS_MARCH_NATIVE)
  if(EBB_HAS_MARCH_NATIVE)
    set(EBB_FLAGS_native -march=native)
  endif()
  set(EBB_CPU_CAPABILITIES native)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(EBB_CPU_CAPABILITIES baseline avx2 avx512)
else()
  set(EBB_CPU_CAPABILITIES baseline)
endif()
message(STATUS "ebb: vector kernels for ${EBB_CPU_CAPABILITIES}")
