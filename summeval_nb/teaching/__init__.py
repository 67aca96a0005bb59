"""Exercises that check themselves, pictures to move."""
