"""The command `ztensor-sql`: everyday questions about tensor files without writing SQL.

Each subcommand is a module of commands/, a thin layer over a few statements, which --sql prints. A module is imported when its
subcommand is run, so that `ls` of one file answers at once.
"""
import importlib
import signal
import sys

import click

from . import LoadError, output
from .session import WAIT, Session, Trouble

# The subcommands in the order of --help: {name: module of commands/}
COMMANDS = {name: name for name in ("ls", "tree", "stats", "check", "diff", "export", "convert", "migrate", "catalog", "merge", "serve", "shell",
                                     "completion")}


class Commands(click.Group):
    def list_commands(self, context):
        return list(COMMANDS)

    def get_command(self, context, name):
        if name not in COMMANDS:
            return None
        return importlib.import_module(f".commands.{COMMANDS[name]}", __package__).command


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.pass_context
@click.option("--version", is_flag=True, is_eager=True, expose_value=False,
              callback=lambda context, option, given: _version(context, given), help="Show the extension's version and exit.")
@click.option("--remote", is_flag=True, help="Sources may be URLs of https, s3 and hf, too; ZTENSOR_REMOTE limits them.")
def cli(context, remote):
    """Answer everyday questions about tensor files (zTensor, safetensors, GGUF, npy, npz, PyTorch, pickle, ONNX, HDF5,
    TFLite, TensorFlow, MATLAB, msgpack, and archives of these).

    A SOURCE is a file, a directory, a pattern such as 'models/**/*.gguf', or a JSON array of these. A directory stands for all
    tensor files below it. `-` is stdin: it and other pipes are copied into a temporary file. With --remote, a URL of https, s3
    or hf is a SOURCE, too.

    Status: 0 if all is well; 1 if there is a finding (an error of check, a difference of diff, an unreadable file, a missing part of
    a model); 2 if the question cannot be answered, such as that of a folder without tensor files.
    """
    Session.remote = remote
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        context.exit(2)


def _version(context, given):
    if given:
        print(Session().value("SELECT zt_version()"))
        context.exit()


def main(arguments=None):
    """Run the command and end the process. A failure is one line on stderr and status 2."""
    output.prepare()
    for name in ("SIGINT", "SIGPIPE"):   # Statements end at once; a transaction that is not committed has not been
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        status = cli.main(arguments, prog_name="ztensor-sql", standalone_mode=False)
        sys.stdout.flush()   # Report a full disk here
        sys.exit(status)
    except click.Abort:   # Commands that handle an interrupt themselves raise it
        sys.exit(130)
    except click.ClickException as error:
        fail(error.format_message())
    except OSError as error:
        fail(f"{error.filename or 'stdout'}: {error.strerror}" if error.strerror else error)
    except (Trouble, LoadError) as error:
        fail(error)
    except MemoryError:
        fail("there is not enough memory")
    except Exception as error:
        if type(error).__module__ not in ("sqlite3", "apsw", "_apsw"):
            raise
        fail(error)


def fail(message):
    message = " ".join(str(message).split("\n"))
    if "database is locked" in message and Session.catalog:
        message = f"{Session.catalog}: another program is writing this database, and has not ended within {WAIT} seconds"
    if "sqlite3_ztensor_remote_init" in message and not Session.remote:
        url = message.removeprefix("ztensor: ").partition(": a URL of scheme")[0]
        message = f"{url}: this is a URL, and nothing is sent unless --remote is given: `ztensor-sql --remote ls {url}` opens it"
    try:
        print("ztensor-sql: " + output.plain(message), file=sys.stderr)
    except OSError:   # Only the status reports the failure then
        pass
    output.give_up()
    sys.exit(2)
