# cmake --install: the library, its headers, the package "ebb", and beside it, in a folder of its
# own that only Torch_DIR finds, the package "Torch".

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ebb)
set(torch_dir ${CMAKE_INSTALL_DATADIR}/ebb/torch)

install(TARGETS ebb EXPORT ebbTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT ebbTargets NAMESPACE ebb:: DESTINATION ${package_dir})

# The component "emulated", beside the library.
if(EBB_EMULATED)
  install(TARGETS ebb_emulated EXPORT ebbEmulatedTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT ebbEmulatedTargets NAMESPACE ebb:: DESTINATION ${package_dir})
endif()
install(FILES cmake/ebb_cuda_sources.cmake DESTINATION ${package_dir})

foreach(folder IN LISTS ebb_folders)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ebb
          FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "core/cpu" EXCLUDE)
endforeach()
install(FILES ebb.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ebb)
install(DIRECTORY compat/torch compat/ATen compat/c10 DESTINATION ${torch_dir}/include)

set(needs_zlib ON)
if(BUILD_SHARED_LIBS)
  set(needs_zlib OFF)
endif()
set(needs_toolkit OFF)
if(EBB_CUDA_MODE STREQUAL "native" AND NOT BUILD_SHARED_LIBS)
  set(needs_toolkit ON)
endif()
configure_package_config_file(cmake/ebbConfig.cmake.in ebbConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
configure_package_config_file(
  compat/TorchConfig.cmake.in TorchConfig.cmake INSTALL_DESTINATION ${torch_dir}
  PATH_VARS package_dir torch_dir)
write_basic_package_version_file(ebbConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ebbConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ebbConfigVersion.cmake
        DESTINATION ${package_dir})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TorchConfig.cmake DESTINATION ${torch_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ebb)
