"""What must hold while things break: a real API server, real processes, and somebody who changes objects meanwhile.

``python -m tests.soak`` (``make soak``) plays the long forms and prints their numbers; ``test_*.py`` plays short ones.
"""
