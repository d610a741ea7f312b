"""The entry: `harness COMMAND ...` for a lifecycle command, `harness [overrides]` for a run."""

from __future__ import annotations

import os
import sys

from harness.base.conf import take_config_dir
from harness.base.errors import HarnessError
from harness.base.garbage import importing, own_process
from harness.base.progress import busy
from harness.base.signals import interrupted_code


def main() -> None:
    """Run the command line and end the process with the exit code that it deserves."""
    own_process()
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has seen enough, as in `harness --help | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def _is_word(argument: str) -> bool:
    return argument.replace("-", "").replace("_", "").isalnum() and not argument.startswith("-")


def run(arguments: list[str]) -> int:
    """A first argument that is a plain word is a command, and so is one with overrides before it; anything else is a
    run. Returns the exit code.

    `--config-dir DIR` may stand anywhere and is for all of them.
    """
    try:
        arguments = take_config_dir(arguments)
        if arguments and arguments[0] in ("-h", "--help"):
            from harness.cli.help import overview

            print(overview())
            return 0
        if arguments and arguments[0] in ("-V", "--version"):
            import harness

            print(f"harness {harness.__version__}")
            return 0
        if any(_is_word(argument) for argument in arguments):
            from harness.cli import COMMANDS, run_command
            from harness.cli.parsing import command_first

            words = command_first(arguments, [command.NAME for command in COMMANDS])
            if _is_word(words[0]):
                with busy(f"harness {words[0]}", until_output=True):
                    return run_command(words)
        with busy("starting", until_output=True):
            with importing():
                from harness.app import run_app

            return run_app(arguments)
    except HarnessError as error:
        if not error.shown:
            print(f"harness: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt as error:
        print(f"harness: {str(error) or 'interrupted'}", file=sys.stderr)
        return interrupted_code(error)


if __name__ == "__main__":
    main()
