"""`ztensor-sql completion`"""
import click

from ..session import Trouble

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", short_help="Print a script of completions for a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell):
    """Print a script that lets a shell complete commands, options, files, columns, types and names of tensors.

    \b
    bash   eval "$(ztensor-sql completion bash)"           in ~/.bashrc
    zsh    eval "$(ztensor-sql completion zsh)"            in ~/.zshrc, after compinit
    fish   ztensor-sql completion fish | source            in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from ..command import cli

    found = get_completion_class(shell)
    if found is None:
        raise Trouble(f"{shell}: there is no completion for it")
    print(found(cli, {}, "ztensor-sql", "_ZTENSOR_SQL_COMPLETE").source())
