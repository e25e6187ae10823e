package provider

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// fileContent is the content that a configuration gives a file. It can be read
// as often as needed, so that a file larger than memory is no special case.
type fileContent struct {
	io.ReaderAt

	size   int64
	closer io.Closer
}

// Close lets go of the local file, if there is one.
func (c *fileContent) Close() {
	if c.closer != nil {
		// Nothing was written to it, so nothing can be lost.
		_ = c.closer.Close()
	}
}

// open opens the configured content.
func (m *fileModel) open(diags *diag.Diagnostics) *fileContent {
	switch {
	case !m.Source.IsNull():
		content, err := openLocal(m.Source.ValueString())
		if err != nil {
			diags.AddAttributeError(path.Root("source"), "Local file cannot be read", sentence(err))
			return nil
		}
		return content

	case !m.ContentBase64.IsNull():
		decoded, err := base64.StdEncoding.Strict().DecodeString(m.ContentBase64.ValueString())
		if err != nil {
			diags.AddAttributeError(path.Root("content_base64"), "Invalid base64", sentence(err))
			return nil
		}
		return &fileContent{ReaderAt: bytes.NewReader(decoded), size: int64(len(decoded))}

	case !m.ContentWO.IsNull():
		return textContent(m.ContentWO.ValueString())

	default:
		return textContent(m.Content.ValueString())
	}
}

func textContent(text string) *fileContent {
	return &fileContent{ReaderAt: strings.NewReader(text), size: int64(len(text))}
}

// openLocal opens a local file. Anything but a regular file is refused: a pipe
// could be read only once, and a device has no end.
func openLocal(name string) (*fileContent, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no local file %q; a relative path starts at Terraform's working directory, "+
			"and a file that this configuration makes itself is there only at apply", name)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%q is a directory, and source names one file", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a regular file", name)
	}

	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}

	// The size of what was opened, should the name mean another file by now.
	info, err = file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, err
	}

	return &fileContent{ReaderAt: file, size: info.Size(), closer: file}, nil
}

// sum reads the content once and computes its SHA-256.
func (c *fileContent) sum() (string, error) {
	digest := sha256.New()

	n, err := io.Copy(digest, io.NewSectionReader(c, 0, c.size))
	if err != nil {
		return "", err
	}
	if n != c.size {
		return "", fmt.Errorf("the file changed while it was read: it had %d bytes and then %d", c.size, n)
	}

	return hex.EncodeToString(digest.Sum(nil)), nil
}
