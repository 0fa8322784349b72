"""The examples run, and print what is right."""

import importlib.util
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SERVICE = os.environ.get("SYMBOLON_TEST_SERVICE", "").split()


needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="Ray is not installed: pip install 'symbolon[ray]'",
)


def ran(name: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("millionaires.py", "Alice is richer: True"),
        ("hospitals.py", "patients of both: 2\ntheir scores: 44"),
        ("auction.py", "party 1 wins and pays 290"),
        ("aes_from_store.py", "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ],
)
def test_an_example(name: str, says: str) -> None:
    assert says in ran(name)


@pytest.mark.skipif(not SERVICE, reason="no nodes run here")
def test_the_example_of_a_service() -> None:
    socket, address, token, *_ = SERVICE
    with ThreadPoolExecutor(2) as pool:
        said = [pool.submit(ran, "service.py", *door) for door in ((socket,), (address, token))]
        assert [one.result() for one in said] == ["sums: [0, 2, 4, 6, 8]\n"] * 2


@needs_ray
def test_the_example_of_many_machines() -> None:
    said = ran("many_machines.py", "--rows", "1000")
    assert "kill -9" in said and "1000 rows, all outputs right at both" in said


def test_every_example_is_tested() -> None:
    named = {"millionaires", "hospitals", "auction", "aes_from_store", "service", "many_machines"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == named


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook(path: Path, tmp_path: Path) -> None:
    if path.stem == "many_machines" and importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'symbolon[ray]'")
    notebook = json.loads(path.read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(code) >= 3
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    # Tracing reads the source of functions, as a notebook's kernel offers it.
    script = tmp_path / "notebook.py"
    script.write_text("\n\n".join("".join(cell["source"]) for cell in code))
    ended = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
