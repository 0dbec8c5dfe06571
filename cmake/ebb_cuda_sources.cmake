# ebb_add_cuda_sources(target x.cu ...): adds kernels written with <ebb/cuda/runtime/device_code.h>
# to a target that links ebb::ebb or ebb::emulated. With ebb::emulated the C++ compiler compiles
# them, and the program runs them on the CPU; with ebb::ebb nvcc does (enable_language(CUDA) first).
function(ebb_add_cuda_sources target)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if(NOT libraries MATCHES "ebb::emulated|ebb_emulated")
    if(NOT libraries MATCHES "ebb::ebb")
      message(FATAL_ERROR "ebb_add_cuda_sources(${target}): link it with ebb::ebb, whose kernels are "
                          "compiled by nvcc, or ebb::emulated, which needs no GPU, before")
    endif()
    if(NOT CMAKE_CUDA_COMPILER)
      message(FATAL_ERROR "ebb_add_cuda_sources(${target}): kernels of a target with ebb::ebb need "
                          "nvcc; write enable_language(CUDA), or link ebb::emulated instead")
    endif()
    find_package(CUDAToolkit REQUIRED)
    target_sources(${target} PRIVATE ${ARGN})
    target_link_libraries(${target} PRIVATE CUDA::cudart)
    target_compile_options(
      ${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr>)
    return()
  endif()
  # A file of its own, since one .cu file may belong to a native and to an emulated target.
  foreach(source IN LISTS ARGN)
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME)
    set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${target}_emulated/${name}.cpp)
    file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${path}\"\n")
    target_sources(${target} PRIVATE ${wrapper})
  endforeach()
endfunction()
