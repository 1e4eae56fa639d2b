"""Tests of selection.cluster."""
