"""A selection of entries out of the admin as files like those of `fixtures/`, and files into it."""

import io
import re
import zipfile
import zlib
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from audits import second_pair
from sandboxicon.content.entries import KINDS
from sandboxicon.content.files import BadFile, dump
from sandboxicon.content.loading import bring_in

# What can go out and come in so. The frame (categories, platforms) is not a curator's to change.
FOLDERS = {"primitives": "primitives", "agents": "agents", "tiers": "rungs"}
PATH = re.compile(rf"({'|'.join(FOLDERS)})/[a-z0-9]+(-[a-z0-9]+)*\.yaml")
NEEDED = [
    *("primitives.add_primitive", "primitives.change_primitive", "audits.add_agent", "audits.change_agent"),
    *("ladder.change_tier", "evidence.add_claim", "evidence.change_claim", "evidence.delete_claim"),
]
LARGEST = 4_000_000  # bytes of all files together; the whole content has fewer
MOST = 1_000
CARRIED = "sandboxicon.exchange"
UNREADABLE = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, RuntimeError, EOFError, OSError, ValueError)


@admin.action(description="Export as YAML:", permissions=["view"])
def export_yaml(model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
    """These entries as an archive of files, with their drafts."""
    folder = next(folder for folder, kind in KINDS.items() if kind.model is queryset.model)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        for entry in KINDS[folder].queryset().filter(pk__in=queryset.order_by().values("pk")).order_by("slug"):
            # One date for all, so that the same entries make the same archive.
            files.writestr(zipfile.ZipInfo(f"{folder}/{entry.slug}.yaml"), dump(KINDS[folder].document(entry)))
    response = HttpResponse(archive.getvalue(), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{folder}.zip"'
    return response


class SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Files, of which at least one was sent."""

    widget = SeveralFiles(attrs={"accept": ".yaml,.zip"})

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        return [super(FilesField, self).clean(one, initial) for one in data or [None]]


class UploadForm(forms.Form):
    """Files as they are exported: an archive, or single files and what they are."""

    chosen = FilesField(
        label="Files", help_text="An archive as Export as YAML makes it, or single .yaml files, each named by its slug."
    )
    folder = forms.ChoiceField(choices=FOLDERS, label="Single files are", help_text="An archive says so itself.")

    def clean(self) -> dict[str, Any]:
        found: dict[str, bytes] = {}
        for file in self.cleaned_data.get("chosen", []):
            if file.size > LARGEST:
                raise forms.ValidationError(f"{file.name}: more than {LARGEST:,} bytes.")
            if (file.name or "").endswith(".zip"):
                found |= _unpacked(file)
            else:
                found[f"{self.cleaned_data.get('folder')}/{file.name}"] = file.read()
        for path in found:
            if not PATH.fullmatch(path):
                self.add_error("chosen", f"{path[:100]}: not a name like primitives/gvisor.yaml.")
        if len(found) > MOST or sum(map(len, found.values())) > LARGEST:
            raise forms.ValidationError(f"More than {MOST} files, or more than {LARGEST:,} bytes.")
        self.cleaned_data["found"] = found
        return self.cleaned_data


def _unpacked(file: UploadedFile) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(file) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) > MOST or sum(member.file_size for member in members) > LARGEST:
                raise forms.ValidationError(f"{file.name}: unpacked it is too much.")
            # What a member says of its size is checked by reading no more than that.
            return {member.filename: archive.open(member).read(LARGEST + 1) for member in members}
    except UNREADABLE as error:
        raise forms.ValidationError(f"{file.name}: not an archive that can be read ({error}).") from None


class ApplyForm(forms.Form):
    """What was shown, carried along signed, and why it is to be done."""

    carried = forms.CharField(widget=forms.HiddenInput)
    why = forms.CharField(
        max_length=500, help_text="Readers see it in the history.", widget=forms.TextInput({"class": "vTextField"})
    )

    def clean_carried(self) -> dict[str, bytes]:
        try:
            texts = signing.loads(self.cleaned_data["carried"], salt=CARRIED, max_age=24 * 60 * 60)
        except signing.BadSignature:
            raise forms.ValidationError("What was shown is too old. Choose the files again.") from None
        return {path: text.encode() for path, text in texts.items()}


def import_content(request: HttpRequest) -> HttpResponse:
    """First shows what files would change, judged by the database, and then does it."""
    if not request.user.has_perms(NEEDED):
        raise PermissionDenied
    context = {**admin.site.each_context(request), "title": "Import files", "upload": UploadForm()}
    files: dict[str, bytes] = {}
    if "carried" in request.POST:
        form: Any = ApplyForm(request.POST)
        context["apply"] = form
        form.is_valid()
        files = form.cleaned_data.get("carried", {})
    elif request.method == "POST":
        form = context["upload"] = UploadForm(request.POST, request.FILES)
        files = form.cleaned_data["found"] if form.is_valid() else {}
    if files:
        is_sure = "carried" in request.POST and form.is_valid()
        try:
            changes = bring_in(files, apply=is_sure, objections=second_pair.objections_to_new_defaults())
        except BadFile as error:
            context |= {"apply": None, "problems": error.problems}
            return render(request, "admin/import.html", context, status=422)
        if is_sure:
            messages.success(request, f"Created: {len(changes.created)}, updated: {len(changes.updated)}.")
            return redirect("admin:index")
        context["changes"] = changes
        if "apply" not in context:
            texts = {path: content.decode() for path, content in files.items()}
            carried = signing.dumps(texts, salt=CARRIED, compress=True)
            context["apply"] = ApplyForm(initial={"carried": carried})
    return render(request, "admin/import.html", context)
