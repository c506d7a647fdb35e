"""A whole cache or tree of kernels judged: which ones another launcher takes over as they are.

`walk` finds the kernels of a tree, `examine` judges one of them, `run` has that done by many processes and keeps what
they found in a `state.State`, and `summary` counts what a state holds. Each kernel is one line of JSON in the state:
what is not in there was not examined, so a run that was killed goes on where it stopped.
"""

from __future__ import annotations

from relaunch.audit.question import OUTCOMES, PRECOMPILED, Question, QuestionError

__all__ = ["OUTCOMES", "PRECOMPILED", "Question", "QuestionError"]
