"""Run the notebooks and keep what they show: ``python docs/notebooks/run.py``."""

import os
import tempfile
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).parent
#: Pictures within the notebook, whatever a reader has set, and boards without a screen.
SETTINGS = {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "OMP_NUM_THREADS": "1",
    "SDL_VIDEODRIVER": "dummy",
    "XDG_RUNTIME_DIR": tempfile.gettempdir(),
}


def main() -> None:
    """Run all notebooks."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(with_small_pictures(executed(path)), path)


def with_small_pictures(book: Any) -> Any:
    """Give a notebook whose pictures have 256 colours, a third of the bytes."""
    for cell in book.cells:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", {}):
                picture = Image.open(BytesIO(b64decode(output.data["image/png"])))
                picture.convert("RGB").quantize(256).save(small := BytesIO(), "png", optimize=True)
                output.data["image/png"] = b64encode(small.getvalue()).decode() + "\n"
    return book


def executed(path: Path) -> Any:
    """Run a notebook with this Python, in an empty folder, and give it with its outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: if a cell fails.
    """
    book = nbformat.read(path, as_version=4)
    # Without folders of kernels there is but the one of the Python that runs this.
    kernels = KernelSpecManager(kernel_dirs=[])
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=kernels)
    with tempfile.TemporaryDirectory() as folder:
        settings = {**os.environ, **SETTINGS, "IPYTHONDIR": folder}
        place = {"metadata": {"path": folder}}
        client = NotebookClient(
            book,
            manager,
            resources=place,
            timeout=600,
            record_timing=False,  # times would be others at every run
            coalesce_streams=True,  # as would be the places where a longer text is cut
            extra_arguments=["--log-level=ERROR"],  # no word on encryption within one machine
        )
        client.execute(env=settings, cleanup_kc=True)
    book.metadata["language_info"] = {"name": "python"}  # without the version, which is anybody's
    return book


if __name__ == "__main__":
    main()
