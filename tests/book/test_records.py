"""A record that is missing or damaged is refused by the name of its file."""

import shutil

import pytest

from rankone.book import records


@pytest.fixture
def place(tmp_path, monkeypatch):
    for name in ("figure1.json", "figure1.npz"):
        shutil.copy(records.folder() / name, tmp_path)
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "load"), [("json", records.load_record), ("npz", records.load_pictures)])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_a_damaged_record_is_named(place, name, load, share):
    assert load("figure1")
    path = place / f"figure1.{name}"
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ValueError, match=rf"record: got '.*figure1\.{name}', which cannot be read"):
        load("figure1")


@pytest.mark.parametrize("text", ["[]", "{}", "\udcff"])
def test_what_is_no_record_is_named(place, text):
    (place / "figure1.json").write_text(text, errors="surrogateescape")
    with pytest.raises(ValueError, match=r"record: got '.*figure1\.json'"):
        records.load_record("figure1")


def test_an_unknown_record_is_refused_with_the_names_of_those_there_are(place):
    for load in (records.load_record, records.load_pictures):
        with pytest.raises(ValueError, match="name: got 'figure9'; it must be one of the records figure1"):
            load("figure9")


def test_a_run_does_not_go_on_from_a_damaged_record(place, experiment):
    (place / "figure6.json").write_text('{"name": "figure6", "runs": [')
    module, record = experiment("figure6"), experiment("record")
    argv = ["--out", str(place), "--budget", "0"]
    with pytest.raises(ValueError, match=r"record: got '.*figure6\.json'"):
        record.main("figure6", module.__doc__, module.PAPER, module.measure, options=module.OPTIONS, argv=argv)
    assert (place / "figure6.json").read_text() == '{"name": "figure6", "runs": ['
