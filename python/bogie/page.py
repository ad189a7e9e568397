"""Pages: results as one HTML file with animation and plots, the one that `bogie report` writes."""
import os
import tempfile
from ctypes import byref, c_void_p
from html import escape
from pathlib import Path

from ._library import call, files, lib, need_path, need_text
from .result import Result

_here = Path(__file__).resolve().parent


def _read_template():
    places = [Path(os.environ["BOGIE_VIEWER"])] if os.environ.get("BOGIE_VIEWER") else \
        [_here.parents[1] / "build/viewer-template.html"] + \
        [folder / "share/bogie/viewer.html" for folder in _here.parents]
    for place in places:
        if place.is_file() and place.stat().st_size > 0:  # empty where npm failed
            return place.read_bytes()
    raise FileNotFoundError("the viewer of pages is not installed (Bogie was built without npm); name "
                            "viewer-template.html of another build in the environment variable "
                            "BOGIE_VIEWER")


def report(page, *results, title=None):
    """Writes one page of results, each a Result, a Study or the name of a result or study file."""
    page, title = need_path(page), need_text("title", title or None)
    template, handle = _read_template(), c_void_p()
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, result in enumerate(results):
            if isinstance(result, (str, os.PathLike)):
                paths.append(need_path(result))
            else:
                ending = "h5" if isinstance(result, Result) else "json"
                paths.append(os.path.join(folder, f"result{i + 1}.{ending}"))
                result.save(paths[-1])
        with files:
            call(lib.bg_report_create, byref(handle))
            try:
                for path in paths:
                    call(lib.bg_report_add, handle, os.fsencode(path))
                call(lib.bg_report_write, handle, template, title, os.fsencode(page))
            finally:
                lib.bg_report_destroy(handle)
    return page


def make_frame(result, title, height=600):
    """The page inside of a notebook."""
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.html")
        report(page, result, title=title)
        text = Path(page).read_text()
    return (f'<iframe srcdoc="{escape(text)}" width="100%" height="{height}" '
            'style="border:0"></iframe>')
