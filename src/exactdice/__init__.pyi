from . import (
    agents as agents,
    baselines as baselines,
    core as core,
    diagnose as diagnose,
    envs as envs,
    games as games,
    jax as jax,
    pettingzoo as pettingzoo,
    testing as testing,
)
from .baselines import (
    Blunder as Blunder,
    Bounds as Bounds,
    CertificateError as CertificateError,
    Comparison as Comparison,
    Evaluation as Evaluation,
    PayoffMatrix as PayoffMatrix,
    Policy as Policy,
    Score as Score,
    SimpleGame as SimpleGame,
    Solution as Solution,
    Task as Task,
    as_policy as as_policy,
    as_task as as_task,
    best_response as best_response,
    compare as compare,
    evaluate as evaluate,
    exact_evaluation as exact_evaluation,
    expected_payoffs as expected_payoffs,
    exploitability as exploitability,
    from_network as from_network,
    in_fixed_point as in_fixed_point,
    memoryless as memoryless,
    occupancy as occupancy,
    outcome_distribution as outcome_distribution,
    payoff_matrix as payoff_matrix,
    prove as prove,
    score as score,
    solve as solve,
    verify as verify,
    write_law as write_law,
)
from .core import InputError as InputError
from .envs import (
    REFERENCE as REFERENCE,
    explore as explore,
    from_P as from_P,
    from_spiel as from_spiel,
    register as register,
)
from .look import plot as plot

__version__: str
