/* The table of file formats. See driver.h. */
#include "container/driver.h"

extern const zt_driver zt_driver_zt0, zt_driver_zt1_0, zt_driver_zt1_1, zt_driver_zt2;

const zt_driver *const zt_drivers[] = {
  &zt_driver_zt0, &zt_driver_zt1_0, &zt_driver_zt1_1, &zt_driver_zt2, NULL
};

const zt_driver *zt_driver_for(const zt_ends *ends){
  for(int i=0; zt_drivers[i]; i++) if( zt_drivers[i]->probe(ends) ) return zt_drivers[i];
  return NULL;
}
