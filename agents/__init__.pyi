from .learners.dqn import (
    MaskedDQN as MaskedDQN,
    MaskedDQNPolicy as MaskedDQNPolicy,
    MaskedQRDQN as MaskedQRDQN,
    MaskedQRDQNPolicy as MaskedQRDQNPolicy,
)
from .learners.q_learning import QLearning as QLearning, QTable as QTable
from .learners.vec_env import GameVecEnv as GameVecEnv
from .runs.callback import ExactEvalCallback as ExactEvalCallback
from .runs.models import FallingEntropy as FallingEntropy
