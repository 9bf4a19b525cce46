"""Learning agents, scored exactly while they train.

Users import classes from here: ``from exactdice.agents import ExactEvalCallback``. A class, see the
stub of this module, is imported when it is first asked for, as the modules need stable-baselines3
and PyTorch, which the rest of the package does not.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
