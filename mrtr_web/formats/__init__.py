"""How dates and times are written, where it is not as Django writes them: one style, with times as in 14:30."""
