# The options of the build. As a subproject ebb builds the library alone, for any CPU, and leaves
# the flags of the whole project as they are.

option(EBB_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(EBB_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(EBB_BUILD_BENCH "Build the benchmarks" OFF)
option(EBB_INSTALL "Make install rules and the package files" ${PROJECT_IS_TOP_LEVEL})
option(EBB_NATIVE "Tune for the CPU of this machine; off: choose vector kernels at run time"
       ${PROJECT_IS_TOP_LEVEL})
option(EBB_WERROR "Warnings are errors" OFF)

set(EBB_CUDA off CACHE STRING "The CUDA device: off")
set_property(CACHE EBB_CUDA PROPERTY STRINGS off)

string(TOLOWER "${EBB_CUDA}" cuda)
if(NOT cuda STREQUAL "off")
  message(FATAL_ERROR "EBB_CUDA=${EBB_CUDA}: this version of ebb has no CUDA device, EBB_CUDA takes "
                      "only \"off\"")
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo, Debug" FORCE)
endif()
