"""The entry: `harness COMMAND ...` for a lifecycle command, `harness [overrides]` for a run."""

from __future__ import annotations

import os
import sys

from harness.base.conf import take_config_dir
from harness.base.errors import HarnessError

INTERRUPTED = 130


def main() -> None:
    """Run the command line and end the process with the exit code that it deserves."""
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has seen enough, as in `harness --help | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """A first argument that is a plain word is a command; anything else is a run. Returns the exit code.

    `--config-dir DIR` may stand anywhere and is for all of them.
    """
    try:
        arguments = take_config_dir(arguments)
        if arguments and arguments[0] in ("-h", "--help"):
            from harness.cli.help import overview

            print(overview())
            return 0
        if arguments and arguments[0].replace("-", "").isalnum() and not arguments[0].startswith("-"):
            from harness.cli import run_command

            return run_command(arguments)
        from harness.app import run_app

        return run_app(arguments)
    except HarnessError as error:
        if not error.shown:
            print(f"harness: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("harness: interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    main()
