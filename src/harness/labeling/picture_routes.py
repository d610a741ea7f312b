"""Photos by content hash. What a hash names never changes, so it is cached for good."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, Response

from harness.labeling.context import Hash, Shared
from harness.references.renditions import Size, rendition

_FOR_GOOD = "private, max-age=31536000, immutable"

router = APIRouter(prefix="/photos", tags=["pictures"])


@router.get("/{sha256}/{size}", response_class=FileResponse)
def read_picture(context: Shared, sha256: Hash, size: Size, request: Request) -> Response:
    """A photo of the set, upright."""
    context.row(sha256)  # only photos of the set, whatever else lies in the folder
    headers = {"Cache-Control": _FOR_GOOD, "ETag": f'"{sha256}.{size}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    path, media_type = rendition(context.source.root, sha256, size)
    return FileResponse(path, media_type=media_type, headers=headers)
