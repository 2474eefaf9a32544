"""`python -m ztensor_sqlite` is `ztensor-sql`."""
import gc


def main():
    """Run the command. Nothing that it imports is garbage: the collector looks at none of it, now or at the end, which takes long."""
    gc.disable()
    from . import command

    gc.freeze()
    gc.enable()
    command.main()


if __name__ == "__main__":
    main()
