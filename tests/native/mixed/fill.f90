subroutine fill_in_fortran(data, n) bind(c)
  use iso_c_binding
  implicit none
  integer(c_int), intent(in) :: n
  integer(c_int), intent(inout) :: data(n)
  integer :: i
  !$omp target parallel do map(tofrom: data)
  do i = 1, n
    data(i) = 7*i
  end do
  !$omp end target parallel do
end subroutine
