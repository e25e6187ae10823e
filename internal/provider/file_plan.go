package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// contentDigest is what a plan knows of a file's content.
type contentDigest struct {
	sha256 string
	size   int64

	known  bool // false while the content is still to be computed
	secret bool // content_wo: nothing of it may show in plan or state
}

// digest computes what the configuration says the file will hold. Only a local
// source is read for it; the bridge is not asked.
func (m *fileModel) digest(diags *diag.Diagnostics) contentDigest {
	switch {
	case m.secret():
		return contentDigest{secret: true}
	case m.Content.IsUnknown(), m.ContentBase64.IsUnknown(), m.Source.IsUnknown():
		return contentDigest{}
	}

	content := m.open(diags)
	if content == nil {
		return contentDigest{}
	}
	defer content.Close()

	sum, err := content.sum()
	if err != nil {
		diags.AddAttributeError(path.Root("source"), "Local file cannot be read", sentence(err))
		return contentDigest{}
	}

	return contentDigest{sha256: sum, size: content.size, known: true}
}

// plannedFile is the computed part of a plan.
type plannedFile struct {
	sha256   types.String
	size     types.Int64
	revision types.String
}

// planFile decides whether the file is going to be written: then the revision
// is unknown. Otherwise the plan keeps what the state says.
func planFile(prior *fileModel, plan fileModel, digest contentDigest) plannedFile {
	if prior != nil && !needsWrite(*prior, plan, digest) {
		return plannedFile{sha256: prior.SHA256, size: prior.Size, revision: prior.Revision}
	}

	planned := plannedFile{
		sha256:   types.StringUnknown(),
		size:     types.Int64Unknown(),
		revision: types.StringUnknown(),
	}

	switch {
	case digest.secret:
		planned.sha256, planned.size = types.StringNull(), types.Int64Null()
	case digest.known:
		planned.sha256, planned.size = types.StringValue(digest.sha256), types.Int64Value(digest.size)
	}

	return planned
}

// needsWrite compares the file, as the last refresh saw it, with the plan.
func needsWrite(prior, plan fileModel, digest contentDigest) bool {
	moved := !prior.SandboxID.Equal(plan.SandboxID) || !prior.Path.Equal(plan.Path)
	chmod := !prior.Mode.Equal(plan.Mode)

	// A refresh takes the revision away when something else is at the path, and
	// when a secret is no longer the one that was written.
	if moved || chmod || prior.Revision.IsNull() {
		return true
	}

	if digest.secret {
		return !prior.ContentWOVersion.Equal(plan.ContentWOVersion)
	}

	return !digest.known || prior.SHA256.ValueString() != digest.sha256
}
