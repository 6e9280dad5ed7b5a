"""The package of the book's pages: measured claims, figures, records of experiments,
exercises and explorers.

It builds on the library `rankone`, which imports nothing from this package. A notebook
of the book installs both packages. A program that uses the models needs only the
library.
"""
