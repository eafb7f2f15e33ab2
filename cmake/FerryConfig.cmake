# find_package(Ferry) gives
#   Ferry_COMPILER   the program to use as CMAKE_C_COMPILER (see FerryToolchain.cmake)
#   Ferry::headers   the API headers of both standards
#   Ferry::runtime   libferry, for objects that another compiler links; only where it is installed

get_filename_component(_ferry_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(Ferry_COMPILER "${_ferry_prefix}/bin/ferrycc")

if(NOT TARGET Ferry::headers)
  add_library(Ferry::headers INTERFACE IMPORTED)
  set_target_properties(Ferry::headers PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_ferry_prefix}/include/ferry")
endif()
if(NOT TARGET Ferry::runtime AND EXISTS "${_ferry_prefix}/lib/libferry.so")
  add_library(Ferry::runtime SHARED IMPORTED)
  set_target_properties(Ferry::runtime PROPERTIES
    IMPORTED_LOCATION "${_ferry_prefix}/lib/libferry.so"
    IMPORTED_NO_SONAME TRUE)
endif()
unset(_ferry_prefix)
