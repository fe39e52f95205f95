"""A predictor of run times."""

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.tree import DecisionTreeRegressor

from schedfarm.learning import Retrained


class Tree(Retrained):
    """A regression tree for the logarithm of the run time."""

    every = 500
    regressor = TransformedTargetRegressor(
        DecisionTreeRegressor(min_samples_leaf=10, random_state=1),
        func=np.log1p,
        inverse_func=np.expm1,
    )
