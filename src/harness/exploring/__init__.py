"""Stored runs photo by photo: what is wrong where, what has changed, and how it looks."""
