"""Audit CleanRL's ppo.py as its authors wrote it: every rollout, every update, the first epoch.

Get https://github.com/vwxyzjn/cleanrl (run with fe8d8a0), and pip install tensorboard tyro. Options
that follow the file go to the script, which runs unedited: PyTorch calls this program before and
after each step of an optimizer, and the script's variables have the rest.

python benchmarks/clients/cleanrl_audit.py cleanrl/cleanrl/ppo.py --total-timesteps 2048 \
    --num-envs 8 --num-steps 64

The game is Greed to 12 points with at most five dice, in which every action is legal: the script
has no masks. With ``--taxi`` before the file it is Gymnasium's Taxi, one-hot; then the exact error
of the critic is printed with every rollout. The script takes games that the limit of steps has cut
for ended ones, which is what the audit says of it.
"""

import contextlib
import copy
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from exactdice.diagnose import PolicyUpdate, Report, Rollout, audit, critic
from torch.optim import Optimizer, optimizer

GAME = "exactdice:exactdice/Greed-OneHot-v0"
KEYWORDS = {"max_score": 12, "sides": 3, "max_dice": 5}
TAXI = "--taxi" in sys.argv
make = gym.make  # which the script calls by its id


def made(_: str = "", **options: Any) -> gym.Env[Any, Any]:
    """Make the environment."""
    if TAXI:
        return gym.wrappers.FlattenObservation(make("Taxi-v4", **options))
    return make(GAME, **options, **KEYWORDS)


class SameStep(gym.vector.SyncVectorEnv):
    """Resets an ended game in the step that ends it, as Gymnasium 0.29 did."""

    def __init__(self, env_fns: Any) -> None:
        super().__init__(env_fns, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)

    def step(self, actions: Any) -> Any:
        """Make a move in every game."""
        *step, infos = super().step(actions)
        infos.pop("final_info", None)  # a list in Gymnasium 0.29, but now a dictionary
        return *step, infos


class Auditor:
    """Audits a running script before and after each of its gradient steps."""

    def __init__(self) -> None:
        self.env = made()
        self.reports: list[Report] = []
        self.busy = False  # an audit repeats the step with a copy of the optimizer
        self.iteration = 0

    def before(self, stepping: Optimizer, *_: Any) -> None:
        """Keep agent and optimizer."""
        if not self.busy:
            script = vars(sys.modules["__main__"])
            self.kept = copy.deepcopy((script["agent"], stepping))

    def after(self, stepping: Optimizer, *_: Any) -> None:
        """Audit the step, and the rollout or the epoch that it begins or ends."""
        if not self.busy:
            self.busy = True
            self.check(vars(sys.modules["__main__"]), stepping)
            self.busy = False

    def check(self, script: dict[str, Any], stepping: Optimizer) -> None:
        """Make the records of the variables of the script, and audit them."""
        args, agent = script["args"], copy.deepcopy(script["agent"])
        for own, other in zip(agent.parameters(), script["agent"].parameters(), strict=True):
            own.grad = other.grad.clone()
        before = self.kept[0]
        if self.iteration != script["iteration"]:
            self.iteration, self.epoch = script["iteration"], []
            ends = torch.cat([script["dones"][1:], script["next_done"][None]])
            names = ("values", "advantages", "returns")
            self.rollout = Rollout(
                *(script[name].numpy().copy() for name in ("obs", "actions", "rewards")),
                ends.bool().numpy(),
                log_probs=script["logprobs"].numpy().copy(),
                last_values=script["next_value"].ravel().numpy().copy(),
                last_observations=script["next_obs"].numpy().copy(),
                gamma=args.gamma,
                gae_lambda=args.gae_lambda,
                **{name: script[name].numpy().copy() for name in names},
            )
            self.reports.append(audit(self.env, self.rollout, before.actor, before.critic))
            if TAXI:
                found = critic(self.env, before.actor, before.critic, args.gamma)
                moves = self.iteration * args.batch_size
                print(f"{moves} moves: error of the critic {found.rmse:.4f}", file=sys.stderr)
        rows = np.array(script["mb_inds"])
        update = PolicyUpdate(
            *(script[f"b_{name}"][rows] for name in ("obs", "actions", "logprobs")),
            *(script[f"b_{name}"][rows] for name in ("advantages", "returns")),
            before=before,
            after=agent,
            actor=before.actor,
            critic=before.critic,
            clip=args.clip_coef,
            ent_coef=args.ent_coef,
            vf_coef=args.vf_coef / 2,  # of the script's half of the squares
            normalised=args.norm_adv,
            old_values=script["b_values"][rows] if args.clip_vloss else None,
            optimizer=self.kept[1],
            learning_rate=stepping.param_groups[0]["lr"],
            max_grad_norm=args.max_grad_norm,
            rollout=self.rollout,
            rows=rows,
        )
        self.reports.append(audit(self.env, update))
        self.epoch.append(update)
        if len(self.epoch) == args.num_minibatches:
            self.reports.append(audit(self.env, self.epoch))


def main() -> None:
    """Run the script, and print the findings."""
    if TAXI:
        sys.argv.remove("--taxi")
    if len(sys.argv) < 2:
        raise SystemExit("the file must be given, ppo.py of CleanRL, got none")
    script, auditor = Path(sys.argv[1]).resolve(), Auditor()
    optimizer.register_optimizer_step_pre_hook(auditor.before)
    optimizer.register_optimizer_step_post_hook(auditor.after)
    gym.make = made  # type: ignore[assignment]
    gym.vector.SyncVectorEnv = SameStep  # type: ignore[misc]
    sys.argv = [str(script), "--env-id", GAME, "--no-cuda", *sys.argv[2:]]
    with (
        tempfile.TemporaryDirectory() as place,
        contextlib.chdir(place),  # the script writes TensorBoard's files there
        contextlib.redirect_stdout(None),
    ):
        runpy.run_path(str(script), run_name="__main__")
    wrong = [report for report in auditor.reports if not report.ok]
    print(*wrong[:3], sep="\n\n")
    print(f"{len(auditor.reports)} audits, {len(wrong)} with findings")


if __name__ == "__main__":
    main()
