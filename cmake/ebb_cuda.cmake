# The CUDA device: native, by nvcc, in the library itself; emulated, by the C++ compiler, in a
# library of its own that holds all of ebb. Both are made of the same files in cuda/.

set(default off)
if(PROJECT_IS_TOP_LEVEL)
  set(default auto)
endif()
set(EBB_CUDA ${default} CACHE STRING "The CUDA device: auto (native where nvcc is), native, off")
set_property(CACHE EBB_CUDA PROPERTY STRINGS auto native off)

# For the GPU that is here, as EBB_NATIVE is for its CPU, else for those of most machines.
set(default "80-real;90")
if(EBB_NATIVE)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE capabilities ERROR_QUIET)
  if(capabilities MATCHES "^([0-9]+)\\.([0-9]+)")
    set(default "${CMAKE_MATCH_1}${CMAKE_MATCH_2}-real")
  endif()
endif()
set(EBB_CUDA_ARCHITECTURES ${default}
    CACHE STRING "GPUs to build for, as CMAKE_CUDA_ARCHITECTURES: 90 is sm_90 with its PTX")

# Sets EBB_CUDA_MODE, native or off, and `reason`, from what is asked for and what is there.
string(TOLOWER "${EBB_CUDA}" EBB_CUDA_MODE)
if(NOT EBB_CUDA_MODE MATCHES "^(auto|native|off)$")
  message(FATAL_ERROR "EBB_CUDA=${EBB_CUDA} is not known; use auto, native or off")
endif()
set(reason "as asked")
if(EBB_CUDA_MODE STREQUAL "auto")
  set(EBB_CUDA_MODE off)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    find_package(CUDAToolkit 12 QUIET)
  endif()
  if(NOT CMAKE_CUDA_COMPILER)
    set(reason "no nvcc found")
  elseif(NOT TARGET CUDA::cublas)
    set(reason "found ${CMAKE_CUDA_COMPILER}, but no toolkit of CUDA 12 or newer with cuBLAS")
  else()
    set(EBB_CUDA_MODE native)
    set(reason "found ${CMAKE_CUDA_COMPILER}")
  endif()
endif()
if(EBB_CUDA_MODE STREQUAL "native")
  string(APPEND reason "; for ${EBB_CUDA_ARCHITECTURES}")
endif()
message(STATUS "ebb: CUDA device ${EBB_CUDA_MODE} (${reason})")

if(EBB_CUDA_MODE STREQUAL "native")
  # CMake before 3.25.2 knows no C++20 for nvcc, and would take C++17 without a word.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA_ARCHITECTURES "${EBB_CUDA_ARCHITECTURES}")
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  find_package(CUDAToolkit 12 REQUIRED)
endif()
if(EBB_EMULATED)
  find_package(Boost 1.71 COMPONENTS context)
  if(NOT Boost_FOUND)
    message(FATAL_ERROR "ebb::emulated needs Boost.Context (Debian: libboost-context-dev); install "
                        "it, or configure with -DEBB_EMULATED=OFF")
  endif()
endif()

include(ebb_cuda_sources)

# The objects of cuda/ and the file that ties them to core: target ebb_cuda_native.
function(ebb_add_native_cuda)
  file(GLOB sources CONFIGURE_DEPENDS cuda/runtime/*.cpp cuda/kernels/*.cpp cuda/kernels/*.cu)
  ebb_add_objects(ebb_cuda_native ${sources} ${device_setup})
  set_target_properties(ebb_cuda_native PROPERTIES CUDA_VISIBILITY_PRESET hidden
                                                   CUDA_STANDARD_REQUIRED ON)
  target_compile_definitions(ebb_cuda_native PRIVATE EBB_HAS_CUDA)
  target_link_libraries(ebb_cuda_native PRIVATE CUDA::cudart CUDA::cublas)
  # Their numbers are those of the CPU, which does not fuse products and sums.
  set_source_files_properties(cuda/kernels/optimizer.cu cuda/kernels/quantize.cu
                              cuda/kernels/random.cu cuda/kernels/shape.cu
                              PROPERTIES COMPILE_OPTIONS -fmad=false)
  target_compile_options(
    ebb_cuda_native
    PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>"
            "$<$<AND:$<BOOL:${EBB_WERROR}>,$<COMPILE_LANGUAGE:CUDA>>:-Werror=all-warnings>")
endfunction()

# ebb::emulated: all of ebb, with cuda/ compiled as C++ against the emulator.
function(ebb_add_emulated)
  file(GLOB sources CONFIGURE_DEPENDS cuda/runtime/*.cpp cuda/kernels/*.cpp cuda/emulator/*.cpp)
  file(GLOB kernels CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} cuda/kernels/*.cu)
  foreach(kernel IN LISTS kernels)
    string(REPLACE "/" "_" name ${kernel})
    set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/emulated/${name}.cpp)
    file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include <ebb/${kernel}>\n")
    list(APPEND sources ${wrapper})
  endforeach()
  ebb_add_objects(ebb_cuda_emulated ${sources} ${device_setup})
  target_compile_definitions(ebb_cuda_emulated PRIVATE EBB_HAS_CUDA EBB_CUDA_EMULATED)
  # A test device need not be fast: a quick build counts for more.
  target_compile_options(ebb_cuda_emulated PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(ebb_cuda_emulated PRIVATE Boost::context)
  # The arithmetic of the emulated cuBLAS works on packed copies; what packs them is instrumented.
  set_source_files_properties(cuda/emulator/cublas_arithmetic.cpp
                              PROPERTIES COMPILE_OPTIONS "-O3;-fno-sanitize=all")

  add_library(ebb_emulated STATIC ${core_objects} ${upper_objects}
                                  $<TARGET_OBJECTS:ebb_cuda_emulated>)
  add_library(ebb::emulated ALIAS ebb_emulated)
  set_target_properties(ebb_emulated PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME emulated)
  target_compile_features(ebb_emulated PUBLIC cxx_std_20)
  target_compile_definitions(ebb_emulated PUBLIC EBB_CUDA_EMULATED)
  target_include_directories(ebb_emulated PUBLIC $<BUILD_INTERFACE:${include_root}>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # Reports name kernels by what dladdr finds in the program.
  target_link_options(ebb_emulated INTERFACE -rdynamic)
  target_link_libraries(ebb_emulated PUBLIC Threads::Threads
                                     PRIVATE ZLIB::ZLIB Boost::context ${CMAKE_DL_LIBS})
endfunction()
