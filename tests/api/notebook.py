"""Running code as a notebook does. As a program, `python -m tests.api.notebook NOTEBOOK` runs one and
prints what its cells show as a JSON list. No kernel is among the pinned packages, so it looks like one without widgets.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def run_cell(code: str, names: dict[str, Any]) -> Any:
    """Run code as a notebook does: what its last line comes to is what it shows."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None


def look_like_a_kernel() -> None:
    """What libraries go by who want to know whether they are in a notebook."""
    for name in ("IPython", "ipykernel", "ipykernel.zmqshell"):
        sys.modules[name] = ModuleType(name)
    vars(sys.modules["IPython"]).update(get_ipython=lambda: None, version_info=(9, 0, 0))


def shown(code: str, names: dict[str, Any]) -> str:
    """What a cell shows."""
    value = run_cell(code, names)
    assert value is not None, code
    show = getattr(value, "_repr_html_", None)
    return show() if show else repr(value)


if __name__ == "__main__":
    look_like_a_kernel()
    cells = json.loads(Path(sys.argv[1]).read_text())["cells"]
    namespace: dict[str, Any] = {}
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    print(json.dumps([shown(code, namespace) for code in codes]))
