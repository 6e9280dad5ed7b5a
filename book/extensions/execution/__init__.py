"""Cells that are executed while the book is built."""
