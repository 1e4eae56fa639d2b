"""What people have and write, a module for each subject.

Nothing here hangs on the primary key of a row that a sync or an evaluation may delete: only on identities that outlast
both, such as a cluster's name, a kind, a namespace and a name.
"""

from __future__ import annotations

from .acts import ActRecord
from .comments import Comment, Mention
from .grants import Grant, Role
from .handling import Handling
from .reviews import Participant, Review, ReviewInput, ReviewItem, ReviewPlace, Signature
from .tokens import Token

__all__ = [
    "ActRecord",
    "Comment",
    "Grant",
    "Handling",
    "Mention",
    "Participant",
    "Review",
    "ReviewInput",
    "ReviewItem",
    "ReviewPlace",
    "Role",
    "Signature",
    "Token",
]
