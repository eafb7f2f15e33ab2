! Arrays, allocatables and variables of modules on the device.
module shared
  implicit none
  integer :: factor = 3
  !$omp declare target(factor)
contains
  integer function scaled(x)
    integer, intent(in) :: x
    !$omp declare target
    scaled = factor * x
  end function
end module

program arrays
  use shared
  use omp_lib
  implicit none
  integer, allocatable :: a(:)
  real(8) :: b(50, 20)
  integer :: i, j, faults, total
  logical :: host
  faults = 0
  allocate (a(1000))
  a = 1
  host = .true.
  !$omp target parallel do map(tofrom: a)
  do i = 1, 1000
    a(i) = scaled(i) + a(i)
  end do
  !$omp end target parallel do
  do i = 1, 1000
    if (a(i) /= 3*i + 1) faults = faults + 1
  end do
  b = 0
  !$omp target enter data map(to: b)
  !$omp target
  do j = 1, 20
    do i = 1, 50
      b(i, j) = b(i, j) + i + 100*j
    end do
  end do
  !$omp end target
  !$omp target exit data map(from: b)
  do j = 1, 20
    do i = 1, 50
      if (b(i, j) /= i + 100*j) faults = faults + 1
    end do
  end do
  total = 0
  !$omp target map(tofrom: total, host)
  host = omp_is_initial_device()
  total = total + 41
  !$omp end target
  if (total /= 41 .or. host) faults = faults + 1
  if (faults == 0) then
    print '(a)', 'right'
  else
    print '(a, i0)', 'wrong: ', faults
    stop 1
  end if
end program
