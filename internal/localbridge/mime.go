package localbridge

import (
	"bytes"
	"path"
	"strings"
)

// isText tells whether the container takes a file for text, which it then
// decodes: by extension, else by content (BRIDGE.md, Files).
func isText(name string, head []byte) bool {
	extension := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	if strings.Contains(binaryExtensions, " "+extension+" ") {
		return false
	}
	if strings.Contains(textExtensions, " "+extension+" ") {
		return true
	}
	return looksLikeText(head)
}

// Extensions whose type is known to be binary or text whatever is inside; all
// others, .bin and .log among them, are judged by content. Recorded are .gz,
// .png, .sql, .tar and .tex; the rest follows the common MIME table.
const (
	binaryExtensions = " 7z apk avi avif bmp bz bz2 class crt deb der dmg doc docx eot epub exe flac flv gif gz ico iso jar " +
		"jpeg jpg latex m4a mid mkv mov mp3 mp4 mpeg mpg odp ods odt ogg ogv otf p12 pdf pem pfx pl png ppt pptx ps psd " +
		"rar rpm sql sqlite srt swf tar tcl tex tgz tif tiff torrent ttf war wasm wav weba webm webp woff woff2 xls xlsx " +
		"xpi xz zip "
	textExtensions = " c cc cjs conf cpp css csv cxx h hh htm html ini java js json jsonld jsx log map markdown md mjs php " +
		"rtf sh svg text toml ts tsv tsx txt webmanifest xhtml xml yaml yml "
)

// looksLikeText follows file(1): empty, UTF-16 with its mark, or no control
// character other than the usual ones.
func looksLikeText(head []byte) bool {
	if bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		return true
	}
	for _, b := range head {
		switch {
		case b >= 0x20 && b != 0x7f:
		case b >= 0x07 && b <= 0x0a, b == 0x0c, b == 0x0d, b == 0x1b:
		default:
			return false
		}
	}
	return true
}
