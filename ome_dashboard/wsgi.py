"""The WSGI application, for a server of your choice; ``python -m ome_dashboard.serve`` has one."""

from __future__ import annotations

import os

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

from ome_dashboard.collecting import collect_seldom

__all__ = ["application"]

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ome_dashboard.settings")
application = get_wsgi_application()
collect_seldom()

# Not every server runs Django's checks first. Wrong settings must not serve.
if settings.ENVIRONMENT.problems:
    raise ImproperlyConfigured(" ".join(problem.message for problem in settings.ENVIRONMENT.problems))
