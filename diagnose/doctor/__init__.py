"""The doctor: a training program is examined while it runs, and not a line of it is edited.

``exactdice doctor FILE.py`` runs a script in a process of its own. Gymnasium and PyTorch are tapped
(``tap``, ``calls``), the graph of each loss shows which numbers have which role (``graph``,
``losses``), and these are compared with what the environment has answered (``rollouts``,
``replay``). Small worlds
(``probes``) may take the place of the program's environment.
"""

import contextlib
from collections.abc import Iterator, Mapping

from .diagnosis import Diagnosis

__all__ = ["Diagnosis", "doctor"]


@contextlib.contextmanager
def doctor(budget: float = 0.1, declare: Mapping[str, str] | None = None) -> Iterator[Diagnosis]:
    """Examine the training that runs in a ``with`` block.

    ::

        with exactdice.diagnose.doctor() as found:
            main()
        assert found.ok, str(found)

    Args:
        budget: largest share of the time that the doctor may take.
        declare: what the doctor does not find by itself: "gamma" and "gae_lambda", and "returns"
            and "advantages" of the rows of a batch, each as an expression of the program's own
            variables where it computes a gradient, such as ``{"returns": "b_returns[rows]"}``.

    Yields:
        What was found, which is complete when the block has ended.

    Raises:
        InputError: if something else is declared.
    """
    from .examination import Examination  # which needs torch

    examination = Examination(budget, declare=declare)
    with examination.watching():
        yield examination.diagnosis
