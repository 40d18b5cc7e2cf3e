"""Tests of the Python package: `just python`. None of them looks at a real clock to decide."""
