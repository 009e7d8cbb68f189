"""What an installed littlestone must be able to do, with nothing of the repository in reach.

Run by ``make test-wheel`` and ``make test-versions`` as ``python -I tests/installed.py``. With the
argument ``wheel`` the package must lie in the environment, not in a checkout.
"""

import subprocess
import sys
import sysconfig
from pathlib import Path

import littlestone as ls


def everything_public_can_be_imported() -> None:
    missing = [name for name in ls.__all__ if not hasattr(ls, name)]
    assert not missing, missing


def it_is_the_installed_one() -> None:
    here = Path(ls.__file__).parent
    assert here.is_relative_to(Path(sysconfig.get_path("purelib"))), here
    assert (here / "py.typed").exists(), "types are shipped"
    assert (here / "privacy" / "mechanisms" / "count_above_threshold.md").exists(), (
        "proofs are shipped"
    )


def a_private_learner_learns() -> None:
    concepts = ls.Thresholds(16)
    learner = ls.PrivateMajority(concepts=concepts, rounds=2000, epsilon=1.0)
    game = ls.play(learner, ls.MistakeForcing(concepts), rounds=2000, rng=ls.secure())
    assert 0 < game.mistakes < 2000 and game.private


def the_command_answers() -> None:
    command = [str(Path(sysconfig.get_path("scripts")) / "littlestone")]
    package = [sys.executable, "-I", "-m", "littlestone"]
    for call in (
        [*command, "--version"],
        [*package, "--version"],
        [*command, "dimension", "thresholds:16"],
        [*command, "learners"],
    ):
        done = subprocess.run(call, capture_output=True, text=True, check=True)
        assert done.stdout.strip(), call


def main() -> None:
    everything_public_can_be_imported()
    if "wheel" in sys.argv[1:]:
        it_is_the_installed_one()
    a_private_learner_learns()
    the_command_answers()
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"littlestone {ls.__version__} on Python {version}: {len(ls.__all__)} public names")


if __name__ == "__main__":
    main()
