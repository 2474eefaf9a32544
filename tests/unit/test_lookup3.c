/* The checksum of HDF5's metadata: zt_hdf5_sum(), which is lookup3's hashlittle() from 0. */
#include "test.h"

#include "container/hdf5.h"

TEST(test_known_sums){
  static const char text[] = "Four score and seven years ago";
  assert_int_equal( zt_hdf5_sum((const uint8_t*)text, 0), 0xdeadbeef );
  assert_int_equal( zt_hdf5_sum((const uint8_t*)text, sizeof(text)-1), 0x17770551 );
}

TEST(test_bytes_that_have_no_room_for_a_sum){
  static const uint8_t sum[4] = { 0xef, 0xbe, 0xad, 0xde };
  zt_error err = ZT_ERROR_NONE;
  zt_hdf5 h = { .err = &err };
  assert_int_equal( zt_hdf5_check_sum(&h, sum, 4, 48), SQLITE_OK );
  assert_int_equal( zt_hdf5_check_sum(&h, sum, 3, 48), SQLITE_ERROR );
  assert_string_equal( err.rule, "HD2" );
  assert_non_null( strstr(err.message, "the checksum of the 3 bytes at address 48 is wrong") );
  zt_error_clear(&err);
}

int main(void){
  return run_all("lookup3", NULL, NULL);
}
