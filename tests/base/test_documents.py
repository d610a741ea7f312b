"""XML from outside."""

from pathlib import Path

import pytest

from harness.base.documents import read_xml
from harness.base.errors import GradingError

LAUGHS = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]><a>&c;</a>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
class TestDocumentTypes:
    def test_one_is_refused_in_every_encoding(self, tmp_path: Path, encoding: str) -> None:
        file = tmp_path / "a.xml"
        file.write_bytes(LAUGHS.encode(encoding))
        with pytest.raises(GradingError, match=r"a\.xml: declares a document type"):
            read_xml(file, GradingError)

    def test_a_file_that_only_speaks_of_one_is_read(self, tmp_path: Path, encoding: str) -> None:
        file = tmp_path / "a.xml"
        file.write_bytes("<a>café <![CDATA[<!DOCTYPE a>]]></a>".encode(encoding))
        assert read_xml(file, GradingError).text == "café <!DOCTYPE a>"
