# The options of the build. As a subproject ebb builds the library alone, for any CPU, and leaves
# the flags of the whole project as they are. Those of the CUDA device are in ebb_cuda.cmake.

option(EBB_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(EBB_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(EBB_BUILD_BENCH "Build the benchmarks" OFF)
option(EBB_INSTALL "Make install rules and the package files" ${PROJECT_IS_TOP_LEVEL})
option(EBB_NATIVE "Tune for the CPU of this machine; off: choose vector kernels at run time"
       ${PROJECT_IS_TOP_LEVEL})
option(EBB_WERROR "Warnings are errors" OFF)

option(EBB_EMULATED "Build ebb::emulated too: ebb with the CUDA device emulated on the CPU"
       ${EBB_BUILD_TESTS})

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo, Debug" FORCE)
endif()
