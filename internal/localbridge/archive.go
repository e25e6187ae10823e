package localbridge

import (
	"fmt"
	"net/http"
	"strings"
)

// persist answers POST /v1/sandbox/:id/persist: a tar of /workspace made in the
// container's /tmp, then read like a file (OBSERVED.md, k).
func (b *Bridge) persist(w http.ResponseWriter, r *request) {
	temporary := "/tmp/sandbox-persist-" + randomHex(8) + ".tar"
	command := []string{"tar", "cf", temporary}
	for exclude := range strings.SplitSeq(r.URL.Query().Get("excludes"), ",") {
		if strings.Contains(exclude, "..") {
			sendInvalid(w, `exclude paths must not contain ".."`)
			return
		}
		if exclude != "" {
			command = append(command, "--exclude", "./"+strings.TrimPrefix(exclude, "./"))
		}
	}
	if r.broken {
		sendError(w, http.StatusBadGateway, codeArchiveRead, "persist failed: "+interrupted("commands.execute"))
		return
	}
	result, err := r.container.run(r.operation(), joinCommand(append(command, "-C", workspace, ".")))
	if err != nil {
		sendError(w, http.StatusBadGateway, codeArchiveRead, "persist failed: "+interrupted("commands.execute"))
		return
	}
	if result.code != 0 {
		sendError(w, http.StatusBadGateway, codeArchiveRead, fmt.Sprintf("tar failed (exit %d): %s", result.code, result.stderr))
		return
	}
	defer func() { _, _ = r.container.run(r.operation(), joinCommand([]string{"rm", "-f", temporary})) }()
	b.sendFile(w, r, temporary, "persist failed: ", codeArchiveRead)
}

// hydrate answers POST /v1/sandbox/:id/hydrate: an upload, then tar. What tar
// extracted before it failed stays, and so does the upload.
func (b *Bridge) hydrate(w http.ResponseWriter, r *request) {
	body, size, err := readBody(r, maxUpload)
	if err != nil {
		abort()
	}
	if size == 0 {
		sendInvalid(w, "Empty tar payload")
		return
	}
	if size > maxUpload {
		sendInvalid(w, fmt.Sprintf("tar payload too large: %d bytes exceeds the %d-byte limit", size, maxUpload))
		return
	}
	temporary := "/tmp/sandbox-hydrate-" + randomHex(7)[:13] + ".tar" // as long as the published name
	if err := r.writeFile(temporary, body); err != nil {
		sendError(w, http.StatusBadGateway, codeArchiveWrite, "hydrate failed: "+err.Error())
		return
	}
	result, err := r.container.run(r.operation(),
		joinCommand([]string{"tar", "xf", temporary, "-C", workspace})+" && "+joinCommand([]string{"rm", "-f", temporary}))
	if err != nil {
		sendError(w, http.StatusBadGateway, codeArchiveWrite, "hydrate failed: "+interrupted("commands.execute"))
		return
	}
	if result.code != 0 {
		sendError(w, http.StatusBadGateway, codeArchiveWrite,
			fmt.Sprintf("tar extract failed (exit %d): %s", result.code, result.stderr))
		return
	}
	sendOK(w)
}
