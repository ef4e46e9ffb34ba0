"""Gives the tests of this directory the fixture `share_groups`."""

pytest_plugins = ["share_state.testing.plugin"]
