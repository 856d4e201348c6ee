"""How the pages are built: ``python -m sphinx -EW -q -c docs . build/docs``.

The source is the repository's root, so a link from one page to another is the same here and on GitHub.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sphinx.application import Sphinx

import redisson_dq
from redisson_dq.cli.documents.table import DOCUMENTS
from redisson_dq.cli.json_schemas import schema_of

project = "redisson-dq"
version = release = redisson_dq.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = [
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs/**.md",
    "examples/README.md",
    "examples/*/README.md",
]
exclude_patterns = [".*", "build", "dist", "interop", "redisson_dq", "tests"]

myst_heading_anchors = 4  # anchors for every heading, as on GitHub

# In a console session, the button copies only the commands.
copybutton_prompt_text = r"\$ |> |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

# The front page and llms.txt at the root of the site: pages keep the folders that they have in the repository.
html_extra_path = ["site"]
html_static_path = ["_static"]
html_css_files = ["print.css"]
html_theme = "furo"
html_title = f"redisson-dq {version}"
html_copy_source = False
html_show_copyright = False


def _write_schemas(app: Sphinx, failure: Exception | None) -> None:
    folder = Path(app.outdir, "schemas")
    folder.mkdir(exist_ok=True)
    for command in DOCUMENTS:
        text = json.dumps(schema_of(command), indent=2)
        folder.joinpath(f"{command.replace(' ', '-')}.json").write_text(f"{text}\n", "utf-8")


def setup(app: Sphinx) -> None:
    """Adds the JSON Schemas of the commands to the site."""
    app.connect("build-finished", _write_schemas)
