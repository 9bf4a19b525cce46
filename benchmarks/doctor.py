"""Plant one mistake at a time in four learners, and let the doctor examine each of them.

The learners are examples/ppo.py and examples/dqn.py, and CleanRL's ppo.py and dqn.py, which are no
part of this project: two paths give them. Beside Gymnasium 1 they need
``autoreset_mode=gym.vector.AutoresetMode.SAME_STEP``. The program prints the counts of
docs/doctor.md. The file has a row for each mistake:

- *noticed by*: the checks that found something, or "note";
- *name*: the names that the doctor gave, "wrong" behind those that are no name of the mistake;
- *line*: the number of lines from the edited one to the nearest one that the doctor shows;
- *seconds*: of the script with the doctor.

Choices are edits of which nobody can say that they are mistakes, such as another discount: nothing
may be found there. The edits of the examples are those of tests/diagnose/test_mutants.py.

python benchmarks/doctor.py --cleanrl-ppo FILE --cleanrl-dqn FILE --csv benchmarks/doctor.csv
"""

import csv
import json
import multiprocessing
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.utils.tensorboard
import tyro
from exactdice.diagnose.doctor.__main__ import main as main_of_doctor

ROOT = Path(__file__).parent.parent
sys.path += [str(ROOT / "tests"), str(ROOT / "tests/diagnose")]
import test_mutants as mutants  # noqa: E402  from the path above

#: Seconds after which a learner is stopped.
LONGEST = 90


@dataclass(frozen=True)
class Fault:
    """An edit of a learner.

    Attributes:
        edit: a text, and what it is replaced by.
        names: the names that the doctor may give.
        world: edits of the environment, without which the mistake does not show.
        choice: whether it is no mistake.
        options: of the command line.
    """

    edit: tuple[str, str]
    names: tuple[str, ...] = ()
    world: tuple[tuple[str, str], ...] = ()
    choice: bool = False
    options: tuple[str, ...] = ()


def choice(old: str, new: str) -> Fault:
    """Return an edit that is no mistake."""
    return Fault((old, new), choice=True)


# ------------------------------------------------------------------------------ the examples

SMALL = [
    "--audits",
    "1",
    "--total-timesteps",
    "8192",
    "--num-envs",
    "64",
    "--num-steps",
    "16",
    "--batch-size",
    "256",
]
OWN = {
    "ppo": [*SMALL, "--learning-rate", "0.01"],
    "dqn": [
        *SMALL,
        *["--buffer-size", "4096", "--learning-starts", "1024", "--target-interval", "2048"],
    ],
}
MADE = "gym.make_vec(args.env_id, args.num_envs, **kind)"
#: Edits of the examples that are no mistakes, or of which only a declaration would tell it.
CHOICES = {
    "advantages not normalised",
    "another weight of the critic's loss",
    "no clipping",
    "wider clipping",
    "clipping above alone",
    "advantages divided by their deviation alone",
    "Huber errors of the critic",
    "a penalty of the drift",
    "no clipping of gradients",
    "gradients clipped after the step",
    "a learning rate that does not fall",
    "a penalty of each move",
    "rewards clipped to their signs",
    "epsilon that never falls",
    "no exploration",
    "double DQN that is not declared",
    "squared errors",
    "errors clipped in the square",
    "a target network that is always updated",
    "values of the online network",
    "another network that acts",
}
#: Names beside those of tests/diagnose/mutants.csv.
ALSO = {
    "actions of the step before": ("actions-of-the-row-before",),
    "rewards of the step before": ("rewards-of-the-row-before",),
    "rewards of the wrong sign": ("rewards-negated",),
    "ends of the step before": ("gae-ends-late", "terminated-of-the-row-before"),
    "no ends": ("gae-ignores-ends", "target-ignores-ends"),
    "the last partial game counted as ended": ("gae-last-value-missing",),
    "gradients never set to zero": ("gradients-not-cleared",),
    "returns of the row before in the update": ("returns-in-another-order",),
    "this observation for the next in targets": ("stale-next-observation",),
    "values after the move": ("values-of-the-next-row",),
    "masks of after the move": ("mask-after-the-move",),
    "log-probabilities in another order": ("log-probs-in-another-order",),
}


def of_examples(learner: str) -> dict[str, Fault]:
    """Return the mistakes of an example by what is planted."""
    pages = {row[1]: row[3] for row in mutants.ROWS if row[0] == learner}
    found = {}
    for words, edit in mutants.EDITS[learner].items():
        made, options = "max_score=12, **kind", list[str]()
        shown = mutants.SHOWN_BY.get(words, {})
        for key, value in shown.items():
            if key == "game":
                made, options = "**kind", ["--env-id", value["env_id"]]
            else:
                options = [f"--{key.replace('_', '-')}", str(value)]
        names = (pages[words], mutants.CONSEQUENCES.get(words), *ALSO.get(words, ()))
        found[words] = Fault(
            edit,
            tuple(name for name in names if name),
            ((MADE, MADE.replace("**kind", made)),),
            words in CHOICES,
            tuple(options),
        )
    return found


# ---------------------------------------------------------------------------------- CleanRL

PPO_OPTIONS = ["--learning-rate", "0.003", "--no-cuda", "--total-timesteps", "2560"]
DQN_OPTIONS = [
    "--no-cuda",
    "--total-timesteps",
    "2400",
    "--learning-starts",
    "400",
    "--train-frequency",
    "4",
    "--target-network-frequency",
    "300",
    "--start-e",
    "0.5",
]
#: Rewards of CartPole that differ; games that are cut.
DRAWN = (
    (
        "            env = gym.make(env_id)\n",
        "            import numpy\n"
        "            drawn = numpy.random.default_rng(idx)\n"
        "            env = gym.make(env_id)\n"
        "            env = gym.wrappers.TransformReward(env, lambda r: r + drawn.normal())\n",
    ),
)
CUT = (("env = gym.make(env_id)\n", "env = gym.make(env_id, max_episode_steps=12)\n"),)
KEPT = "rewards[step] = torch.tensor(reward).to(device).view(-1)"
ADVANTAGES = "mb_advantages = b_advantages[mb_inds]"
TAKEN = "actions[step] = action\n"
SUM = "args.gamma * args.gae_lambda * nextnonterminal * lastgaelam"
CLEANRL_PPO = {
    "next-step autoreset": Fault(
        ("AutoresetMode.SAME_STEP", "AutoresetMode.NEXT_STEP"), ("autoreset",)
    ),
    "rewards of the step before": Fault(
        (
            KEPT,
            "rewards[step] = kept if global_step > args.num_envs else 0; "
            "kept = torch.tensor(reward)",
        ),
        ("rewards-of-the-row-before", "shifted-rewards"),
        DRAWN,
    ),
    "actions of the step before": Fault(
        (TAKEN, "actions[step] = kept if global_step > args.num_envs else 0; kept = action\n"),
        ("actions-of-the-row-before", "shifted-actions"),
    ),
    "observations after the move": Fault(
        (KEPT, f"{KEPT}; obs[step] = torch.Tensor(next_obs)"), ("stale-observation",)
    ),
    "values after the move": Fault(
        (
            KEPT,
            f"{KEPT}; values[step] = agent.get_value(torch.Tensor(next_obs)).flatten().detach()",
        ),
        ("shifted-values", "values-of-the-next-row"),
    ),
    "ends a row late": Fault(("1.0 - dones[t + 1]", "1.0 - dones[t]"), ("gae-ends-late",)),
    "no ends": Fault(("dones[step] = next_done", "pass"), ("gae-ignores-ends",)),
    "no value after the last row": Fault(
        ("nextvalues = next_value", "nextvalues = 0 * next_value"), ("gae-last-value-missing",)
    ),
    "lambda left out": Fault((SUM, "args.gamma * nextnonterminal * lastgaelam"), ("lambda-wrong",)),
    "gamma twice in the sum": Fault((SUM, f"args.gamma * {SUM}"), ("lambda-wrong",)),
    "gamma left out of the differences": Fault(
        ("args.gamma * nextvalues", "nextvalues"), ("gamma-in-delta-left-out",)
    ),
    "no ends in the differences": Fault(
        ("nextvalues * nextnonterminal", "nextvalues"), ("ends-in-delta-left-out",)
    ),
    "no ends in the sum": Fault(
        ("nextnonterminal * lastgaelam", "lastgaelam"), ("ends-in-sum-left-out",)
    ),
    "cut games go on into the next one": Fault(
        ("np.logical_or(terminations, truncations)", "terminations"),
        ("cut-games-run-on",),
        world=CUT,
    ),
    "returns without values": Fault(
        ("returns = advantages + values", "returns = advantages"), ("returns-without-values",)
    ),
    "returns of normalised advantages": Fault(
        (
            "returns = advantages + values",
            "returns = (advantages - advantages.mean()) / advantages.std() + values",
        ),
        ("advantages-normalised",),
    ),
    "advantages not detached": Fault(
        (ADVANTAGES, "mb_advantages = b_returns[mb_inds] - newvalue.view(-1)"),
        ("advantages-not-detached",),
    ),
    "ratio inverted": Fault(
        ("newlogprob - b_logprobs[mb_inds]", "b_logprobs[mb_inds] - newlogprob"),
        ("ratio-inverted",),
    ),
    "ratio without exp": Fault(
        ("ratio = logratio.exp()", "ratio = logratio"), ("ratio-without-exp",)
    ),
    "clipping alone": Fault(
        ("torch.max(pg_loss1, pg_loss2).mean()", "pg_loss2.mean()"), ("clip-without-minimum",)
    ),
    "minimum of the losses": Fault(
        ("torch.max(pg_loss1, pg_loss2)", "torch.min(pg_loss1, pg_loss2)"), ("maximum-for-minimum",)
    ),
    "no clipping": choice("torch.max(pg_loss1, pg_loss2).mean()", "pg_loss1.mean()"),
    "entropy with the wrong sign": Fault(
        ("loss = pg_loss - args.ent_coef", "loss = pg_loss + args.ent_coef"), ("entropy-sign",)
    ),
    "critic's loss with the wrong sign": Fault(
        ("+ v_loss * args.vf_coef", "- v_loss * args.vf_coef"), ("value-sign",)
    ),
    "actor's loss with the wrong sign": Fault(
        ("loss = pg_loss - args", "loss = -pg_loss - args"), ("policy-sign",)
    ),
    "loss with the wrong sign": Fault(
        ("loss.backward()", "(-loss).backward()"),
        ("loss-sign", "policy-sign", "value-sign", "entropy-sign"),
    ),
    "time and lane of returns swapped": Fault(
        ("b_returns = returns.reshape", "b_returns = returns.T.reshape"), ("lanes-mixed",)
    ),
    "time and lane of actions swapped": Fault(
        ("b_actions = actions.reshape", "b_actions = actions.T.reshape"), ("lanes-mixed",)
    ),
    "time and lane of log-probabilities swapped": Fault(
        ("b_logprobs = logprobs.reshape", "b_logprobs = logprobs.T.reshape"), ("lanes-mixed",)
    ),
    "time and lane of advantages swapped": Fault(
        ("b_advantages = advantages.reshape", "b_advantages = advantages.T.reshape"),
        ("lanes-mixed",),
    ),
    "gradients never set to zero": Fault(
        ("                optimizer.zero_grad()\n", ""), ("gradients-not-cleared",)
    ),
    "no step": Fault(("                optimizer.step()\n", ""), ("step-missing",)),
    "learning rate zero": Fault(
        ("lrnow = frac * args.learning_rate", "lrnow = 0.0"), ("learning-rate-zero",)
    ),
    "an optimizer of the actor alone": Fault(
        ("agent.parameters(), lr", "agent.actor.parameters(), lr"), ("parameters-left-out",)
    ),
    "values of shape (move, 1)": Fault(
        ("newvalue = newvalue.view(-1)", "newvalue = newvalue"), ("values-broadcast",)
    ),
    "log-probabilities computed anew": Fault(
        ("newlogprob - b_logprobs[mb_inds]", "newlogprob - newlogprob.detach()"),
        ("ratio-always-one", "log-probs-recomputed"),
    ),
    "dropout in the actor": Fault(
        (
            "layer_init(nn.Linear(64, envs.single_action_space.n), std=0.01)",
            "nn.Dropout(0.2), layer_init(nn.Linear(64, envs.single_action_space.n), std=0.01)",
        ),
        ("dropout-or-batch-norm",),
    ),
    "softmax in front of logits": Fault(
        ("Categorical(logits=logits)", "Categorical(logits=torch.softmax(logits, 1))"),
        ("softmax-twice",),
    ),
    "all lanes with one seed": Fault(
        ("envs.reset(seed=args.seed)", "envs.reset(seed=[args.seed] * args.num_envs)"),
        ("lanes-alike",),
    ),
    "another gamma": choice("args = tyro.cli(Args)", "args = tyro.cli(Args); args.gamma = 0.93"),
}
ADD = "rb.add(obs, real_next_obs, actions, rewards, terminations, infos)"
NEXT = "target_network(data.next_observations)"
GATHER = ".gather(1, data.actions).squeeze()"
SAMPLE = "data = rb.sample(args.batch_size)"
BEST = f"target_max, _ = {NEXT}.max(dim=1)"
OLD = "envs.kept, {0} = {0}, getattr(envs, 'kept', {0}); " + ADD
CLEANRL_DQN = {
    "next-step autoreset": Fault(
        ("AutoresetMode.SAME_STEP", "AutoresetMode.NEXT_STEP"), ("autoreset",)
    ),
    "rewards of the step before": Fault(
        (ADD, OLD.format("rewards")), ("rewards-of-the-row-before", "shifted-rewards"), DRAWN
    ),
    "actions of the step before": Fault(
        (ADD, OLD.format("actions")), ("actions-of-the-row-before", "shifted-actions")
    ),
    "ends of the step before": Fault(
        (ADD, OLD.format("terminations")), ("shifted-ends", "terminated-of-the-row-before")
    ),
    "the observation after the move": Fault(
        (ADD, ADD.replace("obs, real", "real_next_obs, real")), ("stale-observation",)
    ),
    "the observation before the move as the next one": Fault(
        (ADD, ADD.replace("real_next_obs", "obs")), ("stale-next-observation",)
    ),
    "the observation is never renewed": Fault(
        ("        obs = next_obs\n", ""), ("stale-observation",)
    ),
    "a target network that is never updated": Fault(
        ("if global_step % args.target_network_frequency == 0:", "if False:"),
        ("target-never-updated",),
    ),
    "values of the online network": choice(NEXT, "q_network(data.next_observations)"),
    "no ends in targets": Fault((" * (1 - data.dones.flatten())", ""), ("target-ignores-ends",)),
    "ends inverted": Fault(
        ("(1 - data.dones.flatten())", "data.dones.flatten()"), ("terminated-inverted",)
    ),
    "the value of the best action": Fault(
        (GATHER, ".max(dim=1).values"), ("value-of-best-action",)
    ),
    "gamma twice": Fault(
        ("args.gamma * target_max", "args.gamma**2 * target_max"), ("gamma-wrong",)
    ),
    "gamma left out": Fault(("args.gamma * target_max", "target_max"), ("gamma-wrong",)),
    "no rewards in targets": Fault(("data.rewards.flatten() + ", ""), ("rewards-left-out",)),
    "the mean over actions": Fault(
        (BEST, f"target_max = {NEXT}.mean(dim=1)"), ("the-mean-in-place-of-the-maximum",)
    ),
    "the minimum over actions": Fault(
        (BEST, BEST.replace("max(dim", "min(dim")), ("the-minimum-in-place-of-the-maximum",)
    ),
    "this observation for the next in targets": Fault(
        (NEXT, "target_network(data.observations)"),
        ("observations-for-next-observations", "stale-next-observation"),
    ),
    "cut games count as ended": Fault(
        (ADD, ADD.replace("terminations", "terminations | truncations")),
        ("truncation-as-end",),
        CUT,
    ),
    "the next game's observation after a cut": Fault(
        ("            if trunc:\n", "            if False:\n"), world=CUT
    ),
    "rewards of other rows": Fault(
        (SAMPLE, f"{SAMPLE}; data = data._replace(rewards=data.rewards.roll(1, 0))"),
        ("rewards-of-the-row-before",),
        DRAWN,
    ),
    "actions of other rows": Fault(
        (SAMPLE, f"{SAMPLE}; data = data._replace(actions=data.actions.roll(1, 0))")
    ),
    "next observations of other rows": Fault(
        (
            SAMPLE,
            f"{SAMPLE}; data = data._replace(next_observations=data.next_observations.roll(1, 0))",
        )
    ),
    "ends of other rows": Fault(
        (SAMPLE, f"{SAMPLE}; data = data._replace(dones=data.dones.roll(1, 0))"),
        ("terminated-of-the-row-before",),
    ),
    "values of shape (move, 1)": Fault(
        (GATHER, GATHER.replace(".squeeze()", "")), ("values-broadcast",)
    ),
    "targets with a gradient": Fault(
        (
            "with torch.no_grad():\n                    target_max, _ = target_network(",
            "if True:\n                    target_max, _ = q_network(",
        ),
        ("targets-not-detached",),
    ),
    "gradients never set to zero": Fault(
        ("                optimizer.zero_grad()\n", ""), ("gradients-not-cleared",)
    ),
    "no step": Fault(("                optimizer.step()\n", ""), ("step-missing",)),
    "learning rate zero": Fault(("lr=args.learning_rate)", "lr=0.0)"), ("learning-rate-zero",)),
    "an optimizer of another network": Fault(
        ("optim.Adam(q_network.parameters()", "optim.Adam(QNetwork(envs).parameters()"),
        ("parameters-left-out",),
    ),
    "loss with the wrong sign": Fault(
        ("loss = F.mse_loss(td_target, old_val)", "loss = -F.mse_loss(td_target, old_val)"),
        ("loss-sign",),
    ),
    "Huber errors": choice("F.mse_loss(td", "F.smooth_l1_loss(td"),
    "dropout": Fault(
        ("nn.Linear(120, 84),", "nn.Linear(120, 84), nn.Dropout(0.2),"), ("dropout-or-batch-norm",)
    ),
    "another gamma": choice("args = tyro.cli(Args)", "args = tyro.cli(Args); args.gamma = 0.93"),
}


# ------------------------------------------------------------------------------- one examination


def examined(script: str, options: list[str], file: Path, folder: str) -> None:
    """Examine a script in this process, which is one of its own."""
    torch.set_num_threads(1)
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    os.chdir(file.parent)
    sys.path.append(folder)  # of the learner, for modules that it imports
    sys.argv = ["doctor", str(file), json.dumps({"budget": 0.5}), script, *options]
    main_of_doctor()


@dataclass
class Found:
    """The findings of the doctor in a learner with an edit."""

    learner: str
    planted: str
    fault: Fault
    checks: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    line: int | None = None
    seconds: float = 0.0
    raw: dict[str, Any] = field(default_factory=dict)

    @property
    def wrong(self) -> list[str]:
        """The names that are none of the mistake."""
        return [name for name in self.names if name not in self.fault.names]

    @property
    def named(self) -> bool:
        """Whether a name of the mistake was given."""
        return any(name in self.fault.names for name in [*self.names, *self.notes])

    @property
    def noticed(self) -> bool:
        """Whether anything was found."""
        return bool(self.checks) or bool(self.notes)

    @property
    def row(self) -> list[str]:
        """A row of the file."""
        checks = ", ".join(self.checks) or ("note" if self.notes else "")
        if self.fault.choice and not self.checks:
            checks = "(a choice)"
        if self.raw.get("ended"):
            checks += f" (ended: {self.raw['ended']})"
        names = [name + " wrong" * (name in self.wrong) for name in [*self.names, *self.notes]]
        line = "" if self.line is None else str(self.line)
        return [self.learner, self.planted, checks, ", ".join(names), line, f"{self.seconds:.1f}"]


def examine(learner: str, path: Path, planted: str, fault: Fault, options: list[str]) -> Found:
    """Plant a mistake and return what the doctor says."""
    source = path.read_text(encoding="utf-8")
    for old, new in (*fault.world, fault.edit):
        assert source.count(old) == 1, (learner, planted, old, source.count(old))
        if (old, new) == fault.edit:
            edited = source[: source.index(old)].count("\n") + 1
        source = source.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        script, file = Path(folder) / "program.py", Path(folder) / "found.json"
        script.write_text(source, encoding="utf-8")
        began = time.perf_counter()
        arguments = str(script), [*options, *fault.options], file, str(path.parent)
        process = multiprocessing.get_context("fork").Process(target=examined, args=arguments)
        process.start()
        process.join(LONGEST)
        if process.is_alive():
            process.kill()
        seconds = time.perf_counter() - began
        raw = (
            json.loads(file.read_text(encoding="utf-8"))
            if file.exists()
            else {"ended": "no result"}
        )
    symptoms = raw.get("symptoms", [])
    found = Found(learner, planted, fault, seconds=seconds, raw=raw)
    found.checks = list(dict.fromkeys(each["check"] for each in symptoms))
    found.names = list(dict.fromkeys(each["mistake"] for each in symptoms if each["mistake"]))
    found.notes = [
        name for name in fault.names if any(name in note for note in raw.get("notes", ()))
    ]
    lines = [each["where"].rpartition(":")[2] for each in symptoms if "program.py" in each["where"]]
    found.line = min((abs(int(line) - edited) for line in lines), default=None)
    return found


@dataclass(frozen=True)
class Args:
    """Plant mistakes in learners, and print what the doctor finds."""

    cleanrl_ppo: Path | None = None  # CleanRL's ppo.py
    cleanrl_dqn: Path | None = None  # CleanRL's dqn.py
    csv: Path = Path("doctor.csv")  # the file of all mistakes
    json: Path | None = None  # a file for all that the doctor says
    only: str = ""  # a part of the names of learners and mistakes that are examined


def learners(args: Args) -> dict[str, tuple[Path, dict[str, Fault], list[str]]]:
    """Return file, mistakes and options of each learner."""
    found = {
        f"examples/{name}.py": (ROOT / f"examples/{name}.py", of_examples(name), OWN[name])
        for name in OWN
    }
    if args.cleanrl_ppo:
        found["CleanRL ppo.py"] = args.cleanrl_ppo.resolve(), CLEANRL_PPO, PPO_OPTIONS
    if args.cleanrl_dqn:
        found["CleanRL dqn.py"] = args.cleanrl_dqn.resolve(), CLEANRL_DQN, DQN_OPTIONS
    return found


def main(args: Args) -> None:
    """Write the file, and print the counts."""
    every = []
    with args.csv.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["learner", "planted", "noticed by", "name", "line", "seconds"])
        for learner, (path, faults, options) in learners(args).items():
            for planted, fault in faults.items():
                if args.only in f"{learner}: {planted}":
                    every.append(examine(learner, path, planted, fault, options))
                    writer.writerow(every[-1].row)
                    file.flush()
    if args.json:
        kept = [vars(each) | {"fault": vars(each.fault)} for each in every]
        args.json.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    print("| learner | mistakes | noticed | named | wrongly named | choices | accused |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for learner in [*dict.fromkeys(each.learner for each in every), "all"]:
        own = [each for each in every if learner in (each.learner, "all")]
        faults = [each for each in own if not each.fault.choice]
        choices = [each for each in own if each.fault.choice]
        count = max(len(faults), 1)
        noticed, named = (sum(getattr(f, key) for f in faults) for key in ("noticed", "named"))
        wrong = sum(bool(each.wrong) for each in faults)
        accused = sum(bool(each.checks) for each in choices)
        shares = f"{noticed} ({noticed / count:.0%}) | {named} ({named / count:.0%})"
        print(f"| {learner} | {len(faults)} | {shares} | {wrong} | {len(choices)} | {accused} |")


if __name__ == "__main__":
    main(tyro.cli(Args))
