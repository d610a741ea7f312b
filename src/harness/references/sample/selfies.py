"""What the people of the sample search with: a selfie of each runner, and two pictures of a stranger.

The selfies are pictures of openpeople as they are, and no scene shows any of them. The stranger P010 is in no scene at
all: whatever is found for her is wrong.
"""

from __future__ import annotations

from harness.references.sample.people import read_picture
from harness.references.sample.runners import RUNNERS

SELFIE, PORTRAIT = "amateur_selfie", "studio_portrait"
#: Who is in no scene, by the person of openpeople.
STRANGERS = {"P010": "Zara"}
_PICTURES: tuple[tuple[str, str, str], ...] = (
    ("P001", SELFIE, "ba735d52e7d6e6747d1cd387846ca6a5506fbbe6abb7ce746b23fd72f5963d94"),
    ("P002", SELFIE, "0bb97e5194bfdbf82e7796b1360ebbdb72db6d647239d4de52770fbc4bb5f575"),
    ("P003", SELFIE, "afe1232d204c78d09a686e05cc3ce127a70af0298f5da3edd4a57df44f294ec6"),
    ("P004", SELFIE, "d53d407053a6685f420e565fdff6c1dac1891fe98e8e6696123a1ef627832b1f"),
    ("P005", SELFIE, "7ee3010da303fb530e23a49bec856eb3b8cbb033094051f404e89b809e2f101f"),
    ("P006", SELFIE, "a0c7159641d50448514fc43e8503dd76951c6f2c3a6e8f920dc5e48a9366b04f"),
    ("P007", SELFIE, "7092be65a59ceec2c31b444164bb88c01116e6795cddd89ec2fe5dc9623bac53"),
    ("P008", SELFIE, "492834fc36a2f43b98071311f36502409df5f3dab1a1bda67d59b452ff7dbccc"),
    ("P010", SELFIE, "aa898df81613d90ffdad6684f31dedc81d8d1b86934d78ad2917f6cdd27f7430"),
    ("P010", PORTRAIT, "57b7e6d21272a5f468ee176fd4acb5c89f5949a945e5174fe12c81483246cc99"),
)


def selfies() -> list[tuple[str, str, bytes]]:
    """Hash, owner and bytes of each selfie."""
    return [
        (sha256, STRANGERS.get(person) or RUNNERS[person].name, read_picture(person, name, sha256))
        for person, name, sha256 in _PICTURES
    ]
