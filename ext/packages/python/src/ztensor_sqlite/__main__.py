"""`python -m ztensor_sqlite` is `ztensor-sql`."""
import atexit
import gc
import os


def main():
    """Run the command. Python's collector looks at nothing that is imported here, and nothing is taken apart at the end: both would take
    a tenth of a listing's time."""
    gc.disable()
    from . import command, output

    gc.freeze()
    gc.enable()
    try:
        command.main()
    except SystemExit as ended:
        output.give_up()
        atexit._run_exitfuncs()
        os._exit(ended.code or 0)


if __name__ == "__main__":
    main()
