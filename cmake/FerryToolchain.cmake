# cmake -DCMAKE_TOOLCHAIN_FILE=<prefix>/lib/cmake/Ferry/FerryToolchain.cmake …
#
# C is compiled by Ferry, which drives the C compiler of this machine: both standards are on, and find_package(OpenMP)
# finds what it knows of GNU. C++ and Fortran are Ferry's too where LLVM 19 is there: with FERRY_LLVM_LANGUAGES=ON. FERRY_DEVICES is a list for `--device`, for instance "cpu,cpu:separate".

get_filename_component(_ferry_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CMAKE_C_COMPILER "${_ferry_prefix}/bin/ferrycc" CACHE FILEPATH "Ferry as a C compiler")
option(FERRY_LLVM_LANGUAGES "Compile C++ and Fortran by ferry c++ and ferry fc" OFF)
if(FERRY_LLVM_LANGUAGES)
  set(CMAKE_CXX_COMPILER "${_ferry_prefix}/bin/ferryc++" CACHE FILEPATH "Ferry as a C++ compiler")
  set(CMAKE_Fortran_COMPILER "${_ferry_prefix}/bin/ferryfc" CACHE FILEPATH "Ferry as a Fortran compiler")
endif()
list(APPEND CMAKE_PREFIX_PATH "${_ferry_prefix}")

# Test projects of CMake's own read this file too and must see the same list.
set(FERRY_DEVICES "" CACHE STRING "Devices to compile for, as --device takes them")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FERRY_DEVICES FERRY_LLVM_LANGUAGES)
if(FERRY_DEVICES)
  set(CMAKE_C_FLAGS_INIT "--device=${FERRY_DEVICES}")
  if(FERRY_LLVM_LANGUAGES)
    set(CMAKE_CXX_FLAGS_INIT "--device=${FERRY_DEVICES}")
    set(CMAKE_Fortran_FLAGS_INIT "--device=${FERRY_DEVICES}")
  endif()
endif()
