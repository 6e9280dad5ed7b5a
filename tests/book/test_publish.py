"""Published releases and their wheels stay, whatever is published later."""

import json
import subprocess
from pathlib import Path

import publish
import pytest
from refusals import refused


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--bare", "remote.git")
    return tmp_path / "remote.git"


def site(tmp_path: Path, name: str, **files: str) -> Path:
    """A built site: an index with its name, a wheel of its own, and the given files."""
    folder = tmp_path / name
    for path, text in {
        "index.html": name,
        f"wheels/{name}/rankone.whl": f"\0{name}",
        **files,
    }.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def listed(remote: Path, path: str = "") -> dict[str, str]:
    """Files of the branch below a path: file -> hash of its content."""
    lines = git(
        remote, "ls-tree", "-r", "gh-pages", *([path] if path else [])
    ).splitlines()
    return {line.split("\t")[1]: line.split()[2] for line in lines}


def content(remote: Path, path: str) -> str:
    return git(remote, "show", f"gh-pages:{path}")


def test_releases_stay_bit_for_bit_and_the_root_is_replaced(
    tmp_path: Path, remote: Path
) -> None:
    publish.publish(site(tmp_path, "early", **{"gone.html": "gone"}), str(remote))
    publish.publish(site(tmp_path, "first"), str(remote), "v0.1.0")
    first = listed(remote, "v0.1.0/")
    publish.publish(site(tmp_path, "second"), str(remote), "v0.10.0")
    publish.publish(site(tmp_path, "third"), str(remote), "v0.9.0")
    publish.publish(site(tmp_path, "late"), str(remote))
    assert set(first) == {"v0.1.0/index.html", "v0.1.0/wheels/first/rankone.whl"}
    assert listed(remote, "v0.1.0/") == first
    assert content(remote, "v0.10.0/index.html") == "second"
    assert content(remote, "index.html") == "late"
    assert "gone.html" not in listed(remote)
    assert ".nojekyll" in listed(remote)
    assert json.loads(content(remote, "versions.json")) == {
        "releases": ["0.10.0", "0.9.0", "0.1.0"]
    }
    assert 'href="../v0.9.0/"' in content(remote, "versions/index.html")


def test_wheels_of_earlier_builds_stay_as_they_are(
    tmp_path: Path, remote: Path
) -> None:
    publish.publish(site(tmp_path, "early"), str(remote))
    before = listed(remote, "wheels/")
    publish.publish(
        site(tmp_path, "late", **{"wheels/early/rankone.whl": "built anew"}),
        str(remote),
    )
    after = listed(remote, "wheels/")
    assert set(after) == {"wheels/early/rankone.whl", "wheels/late/rankone.whl"}
    assert before.items() <= after.items()


def test_a_release_is_never_overwritten(tmp_path: Path, remote: Path) -> None:
    publish.publish(site(tmp_path, "first"), str(remote), "v0.1.0")
    tip = git(remote, "rev-parse", "gh-pages")
    with refused(ValueError, match=r"v0\.1\.0 is published already"):
        publish.publish(site(tmp_path, "second"), str(remote), "v0.1.0")
    assert git(remote, "rev-parse", "gh-pages") == tip


@pytest.mark.parametrize("tag", ["0.1.0", "latest", "v0.1.0/x", "../v1"])
def test_what_does_not_name_a_release_is_refused(
    tmp_path: Path, remote: Path, tag: str
) -> None:
    with refused(ValueError, match="tag: got"):
        publish.publish(site(tmp_path, "first"), str(remote), tag)


def test_a_push_in_between_is_not_lost(
    tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another job publishes after the branch was read and before the push. The push is
    refused, and publishing is repeated.
    """
    arrange = publish.arrange
    times = []

    def interrupted(*arguments: object) -> None:
        times.append(arguments)
        if len(times) == 1:
            publish.publish(site(tmp_path, "other"), str(remote), "v0.1.0")
        arrange(*arguments)

    monkeypatch.setattr(publish, "arrange", interrupted)
    publish.publish(site(tmp_path, "late"), str(remote))
    assert len(times) == 3
    assert (content(remote, "index.html"), content(remote, "v0.1.0/index.html")) == (
        "late",
        "other",
    )


def test_the_branch_does_not_keep_what_was_replaced(
    tmp_path: Path, remote: Path
) -> None:
    for name in ("early", "late"):
        publish.publish(site(tmp_path, name), str(remote))
    assert git(remote, "rev-list", "--count", "gh-pages").strip() == "1"


def test_a_push_that_git_refuses_says_why(tmp_path: Path) -> None:
    with refused(publish.Refused, match="not"):
        publish.publish(site(tmp_path, "first"), str(tmp_path / "nowhere"))


def test_a_release_whose_tag_is_not_the_packages_version_is_refused(
    tmp_path: Path,
    remote: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        "sys.argv", ["publish", str(site(tmp_path, "first")), str(remote), "v99.0"]
    )
    assert publish.main() == 1
    assert "does not name the version" in capsys.readouterr().err
    assert git(remote, "branch", "--list") == ""
