# Finds OpenBLAS as the target ebb::blas. Only its library is needed: Eigen declares the functions.
find_library(EBB_BLAS_LIBRARY NAMES openblas)
mark_as_advanced(EBB_BLAS_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(EbbBlas REQUIRED_VARS EBB_BLAS_LIBRARY)
if(EbbBlas_FOUND AND NOT TARGET ebb::blas)
  add_library(ebb::blas INTERFACE IMPORTED)
  set_target_properties(ebb::blas PROPERTIES INTERFACE_LINK_LIBRARIES "${EBB_BLAS_LIBRARY}")
endif()
