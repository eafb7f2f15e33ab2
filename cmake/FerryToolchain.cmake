# cmake -DCMAKE_TOOLCHAIN_FILE=<prefix>/lib/cmake/Ferry/FerryToolchain.cmake …
#
# C is compiled by Ferry, which drives the C compiler of this machine: both standards are on, and find_package(OpenMP)
# finds what it knows of GNU. FERRY_DEVICES is a list for `--device`, for instance "cpu,cpu:separate".

get_filename_component(_ferry_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CMAKE_C_COMPILER "${_ferry_prefix}/bin/ferrycc" CACHE FILEPATH "Ferry as a C compiler")
list(APPEND CMAKE_PREFIX_PATH "${_ferry_prefix}")

# Test projects of CMake's own read this file too and must see the same list.
set(FERRY_DEVICES "" CACHE STRING "Devices to compile for, as --device takes them")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FERRY_DEVICES)
if(FERRY_DEVICES)
  set(CMAKE_C_FLAGS_INIT "--device=${FERRY_DEVICES}")
endif()
