"""Writes a wheel whose only content is an executable, with Python's standard library: wheel.py EXECUTABLE PLATFORM_TAG FOLDER.

The format: https://packaging.python.org/specifications/binary-distribution-format/
"""

import base64
import hashlib
import json
import pathlib
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The earliest that a zip file can say, so that the same files give the same bytes.
TIME = (1980, 1, 1, 0, 0, 0)


def entry(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # Unix, whose permissions follow
    info.external_attr = (0o100000 | mode) << 16
    return info


def main(executable: str, tag: str, folder: str) -> None:
    manifest = json.loads((ROOT / "package.json").read_text("utf-8"))
    version = manifest["version"]
    program = pathlib.Path(executable)
    suffix = ".exe" if program.suffix == ".exe" else ""
    info = f"farwharf-{version}.dist-info"
    metadata = (
        "Metadata-Version: 2.1\n"
        "Name: farwharf\n"
        f"Version: {version}\n"
        f"Summary: {manifest['description']}\n"
        f"License: {manifest['license']}\n"
    )
    wheel = f"Wheel-Version: 1.0\nGenerator: farwharf\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
    files = [
        (f"farwharf-{version}.data/scripts/farwharf{suffix}", program.read_bytes(), 0o755),
        (f"{info}/METADATA", metadata.encode(), 0o644),
        (f"{info}/WHEEL", wheel.encode(), 0o644),
        (f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644),
    ]
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}\n"
        for name, data, _ in files
    )
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
    path = pathlib.Path(folder) / f"farwharf-{version}-py3-none-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, mode in files:
            archive.writestr(entry(name, mode), data)
    print(path)


main(*sys.argv[1:])
