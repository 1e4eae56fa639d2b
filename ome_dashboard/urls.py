"""All addresses: the pages, and signing in and out."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import include, path

from selection.faces.pages.gallery import gallery
from selection.faces.pages.sign_in import sign_in

__all__ = ["urlpatterns"]

urlpatterns = [
    path("login/", sign_in, name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("gallery/", gallery, name="gallery"),
    path("api/v1/", include("selection.faces.api.urls")),
    path("", include("selection.faces.urls")),
]
