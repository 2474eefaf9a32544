"""`python -m ztensor_sqlite` is `ztensor-sql`."""
from .command import main

main()
