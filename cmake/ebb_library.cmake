# The library: core, which links alone, then the folders above it, and the kernel files, which are
# compiled once for each CPU capability.

include(GNUInstallDirs)
include(ebb_capabilities)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

# Headers are included as <ebb/folder/header.h>.
set(ebb_folders core cuda autograd io nn optim data techniques testing)
set(include_root ${CMAKE_CURRENT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${include_root}/ebb)
foreach(entry IN LISTS ebb_folders ITEMS ebb.h)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${entry} ${include_root}/ebb/${entry} SYMBOLIC)
endforeach()

# What all files of the library are compiled with.
add_library(ebb_flags INTERFACE)
target_compile_features(ebb_flags INTERFACE cxx_std_20)
target_include_directories(ebb_flags INTERFACE ${include_root})
# nvcc reads -Werror otherwise, and its own files break -Wpedantic: ebb_cuda.cmake has its flags.
target_compile_options(
  ebb_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic>"
                      "$<$<AND:$<BOOL:${EBB_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>")
# g++ 12 warns wrongly where a text literal and a std::string are joined (its bug 105651).
target_compile_options(
  ebb_flags INTERFACE $<$<AND:$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>>:-Wno-restrict>)
target_compile_definitions(ebb_flags INTERFACE $<$<BOOL:${BUILD_SHARED_LIBS}>:EBB_SHARED_LIBRARY>)
target_link_libraries(ebb_flags INTERFACE Threads::Threads)

# Precompiled headers save a third of the time of a build; a compiler cache does better without.
set(precompile ON)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(precompile OFF)
endif()
option(EBB_PRECOMPILED_HEADERS "Compile the headers that all files include once" ${precompile})

function(ebb_precompile name header)
  if(EBB_PRECOMPILED_HEADERS)
    target_precompile_headers(${name} PRIVATE "<functional$<ANGLE-R>" "<string$<ANGLE-R>"
                              "<vector$<ANGLE-R>" "<ebb/${header}$<ANGLE-R>")
  endif()
endfunction()

function(ebb_add_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PRIVATE ebb_flags)
  # Sections of their own let a program drop what it does not use.
  target_compile_options(${name} PRIVATE -ffunction-sections -fdata-sections)
  set_target_properties(
    ${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF
                       CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS core/*.cpp)
file(GLOB kernel_sources CONFIGURE_DEPENDS core/cpu/kernels/*.cpp)
# Tells a library with a CUDA device from one without, so it is compiled for each.
set(device_setup ${CMAKE_CURRENT_SOURCE_DIR}/core/device_setup.cpp)
list(REMOVE_ITEM core_sources "" ${kernel_sources} ${device_setup})
# Only kernels gain from -O3. In a package, what runs several times for each op (memory, tensors,
# iterators, the engine) is built for speed, what runs once for size.
set(small_code $<$<CONFIG:Release>:-O2>)
set(smallest_code ${small_code})
if(NOT EBB_NATIVE)
  set(smallest_code $<$<CONFIG:Release>:-Os>)
endif()
# Of core, the ops whose kernels take long, and what configures and reports memory.
set(core_for_size
    ops/attention ops/conv ops/embedding ops/index ops/join ops/loss ops/matmul ops/norm ops/optimizer
    ops/pool ops/quantize ops/random ops/reduce ops/scan ops/softmax ops/sort memory/chrome_trace
    memory/config memory/growth_monitor memory/history memory/host_source memory/leak_check
    memory/observer memory/out_of_memory memory/page memory/page_parts
    memory/page_segments memory/playback memory/report memory/report_file memory/snapshot
    memory/statistics memory/structure_writer memory/summary)
list(TRANSFORM core_for_size REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/core/\\1.cpp")
list(REMOVE_ITEM core_sources ${core_for_size})
ebb_add_objects(ebb_core_objects ${core_sources})
target_compile_options(ebb_core_objects PRIVATE ${small_code})
ebb_add_objects(ebb_core_objects_for_size ${core_for_size})
target_compile_options(ebb_core_objects_for_size PRIVATE ${smallest_code})
set(core_objects "")
foreach(objects ebb_core_objects ebb_core_objects_for_size)
  ebb_precompile(${objects} core/tensor/tensor_base.h)
  list(APPEND core_objects $<TARGET_OBJECTS:${objects}>)
endforeach()

string(REPLACE ";" "," capability_list "${EBB_CPU_CAPABILITIES}")
target_compile_definitions(ebb_core_objects PRIVATE "EBB_CPU_CAPABILITIES=${capability_list}")
if(kernel_sources)
  foreach(capability IN LISTS EBB_CPU_CAPABILITIES)
    set(kernels ebb_kernels_${capability})
    ebb_add_objects(${kernels} ${kernel_sources})
    target_compile_definitions(${kernels} PRIVATE EBB_CPU_CAPABILITY=${capability})
    target_compile_options(${kernels} PRIVATE ${EBB_FLAGS_${capability}} -fno-math-errno
                                              -fno-trapping-math -ffp-contract=off)
    # Loops that call libm (fmod, pow) are not vectorised, and need not be.
    target_compile_options(${kernels} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
    ebb_precompile(${kernels} core/ops/kernels.h)
    list(APPEND core_objects $<TARGET_OBJECTS:${kernels}>)
  endforeach()
endif()

# The folders above core. An object library each for what is built for speed and for size.
file(GLOB autograd_sources CONFIGURE_DEPENDS autograd/*.cpp)
set(autograd_for_size anomaly indexing print tensor_literal)
list(TRANSFORM autograd_for_size REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/autograd/\\1.cpp")
list(REMOVE_ITEM autograd_sources ${autograd_for_size})
file(GLOB upper_sources CONFIGURE_DEPENDS autograd/ops/*.cpp)
list(APPEND upper_sources ${autograd_for_size})
foreach(folder IN LISTS ebb_folders)
  if(NOT folder MATCHES "^(core|cuda|autograd)$")
    file(GLOB_RECURSE folder_sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(APPEND upper_sources ${folder_sources})
  endif()
endforeach()
ebb_add_objects(ebb_autograd_objects ${autograd_sources})
target_compile_options(ebb_autograd_objects PRIVATE ${small_code})
ebb_add_objects(ebb_upper_objects ${upper_sources})
target_compile_options(ebb_upper_objects PRIVATE ${smallest_code})
target_link_libraries(ebb_upper_objects PRIVATE ZLIB::ZLIB)
foreach(objects ebb_autograd_objects ebb_upper_objects)
  ebb_precompile(${objects} autograd/tensor.h)
endforeach()
set(upper_objects $<TARGET_OBJECTS:ebb_autograd_objects> $<TARGET_OBJECTS:ebb_upper_objects>)

ebb_add_objects(ebb_device_setup_off ${device_setup} cuda/absent.cpp cuda/runtime/memory.cpp)
set(device_objects $<TARGET_OBJECTS:ebb_device_setup_off>)
if(EBB_CUDA_MODE STREQUAL "native")
  ebb_add_native_cuda()
  set(device_objects $<TARGET_OBJECTS:ebb_cuda_native>)
endif()

add_library(ebb ${core_objects} ${device_objects} ${upper_objects})
add_library(ebb::ebb ALIAS ebb)
set_target_properties(ebb PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                     SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(ebb PUBLIC cxx_std_20)
target_include_directories(ebb PUBLIC $<BUILD_INTERFACE:${include_root}>
                                      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(ebb PUBLIC Threads::Threads PRIVATE ZLIB::ZLIB)
if(EBB_CUDA_MODE STREQUAL "native")
  target_link_libraries(ebb PRIVATE CUDA::cudart CUDA::cublas)
endif()
if(EBB_EMULATED)
  ebb_add_emulated()
endif()
if(BUILD_SHARED_LIBS)
  target_compile_definitions(ebb PUBLIC EBB_SHARED_LIBRARY)
  include(ebb_packed_relocations)
  # The standard library's templates are visible whatever the flags say; the list keeps them in.
  if(NOT APPLE)
    set(exports ${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.map)
    # The library calls its own functions directly, not through the table that lets others replace
    # them, and its relocations are packed where the C library can read that: 5 % of its bytes.
    target_link_options(ebb PRIVATE -Wl,--gc-sections -Wl,--version-script=${exports}
                                    -Wl,-Bsymbolic-functions ${EBB_PACKED_RELOCATIONS})
    set_property(TARGET ebb PROPERTY LINK_DEPENDS ${exports})
  endif()
endif()
