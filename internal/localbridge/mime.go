package localbridge

import (
	"bytes"
	"path"
	"strings"
)

// isText tells whether the container takes a file for text, which it then
// decodes: by its extension, in lower case only, else by its content
// (BRIDGE.md, Files).
func isText(name string, head []byte) bool {
	base := path.Base(name)
	dot := strings.LastIndexByte(base, '.')
	if dot > 0 { // ".gz" is a name, not an extension
		extension := " " + base[dot+1:] + " "
		if strings.Contains(binaryExtensions, extension) {
			return false
		}
		if strings.Contains(textExtensions, extension) {
			return true
		}
	}
	return looksLikeText(head)
}

// Extensions whose type the container's runtime (Bun 1.3) knows, as far as
// they are common; all others, .bin and .log2 among them, are judged by content.
const (
	binaryExtensions = " 7z aac ai aif aiff apk apng asf avi avif bat bmp bz bz2 cab cer chm class cpio crl crt csh deb der " +
		"djvu dll dmg doc docm docx dot dotx dvi dwg dxf emf eml eot eps epub exe fig flac flv gtar gz hdf heic heif hlp hqx " +
		"icc ico iso jar jpe jpeg jpg jp2 json5 jxr jxs kdbx key latex lha lnk m3u m3u8 m4a m4v mdb mid midi mime mj2 mkv mng " +
		"mobi mov mp2 mp3 mp4 mpeg mpg mpga msg msi nc odb odg odp ods odt oga ogg ogv opus otf p10 p12 p7b p7c p7m p7s p8 " +
		"pages pbm pcap pcx pdb pdf pem pfb pfx pgm pgp pl pm png pnm pot ppm pps ppt pptm pptx ps psd pub qt rar rm rpm run " +
		"sea sig sit spx sql src srt swf tar tcl tex texi texinfo tga tif tiff tk torrent ttc ttf udeb ustar vcd vdi vhd " +
		"vmdk war wasm wav weba webm webp wma wmf wmv woff woff2 xbm xls xlsb xlsm xlsx xpi xpm xz yang zip "
	textExtensions = " asm atom c cc cjs coffee conf cpp css csv cxx def dic dtd es f for geojson gltf gpx h hbs hh htc htm html " +
		"ics in ini jade java js json jsonld jsx kml less list log lua man map markdown md mdx mjs mkd mml mpd mts n3 opml org " +
		"owl p pas php pls rdf rng roff rs rss rtf rtx s sass scss sfv sgm sgml sh shex shtml slim slm smil styl stylus sub svg " +
		"svgz t text toml tr ts tsv tsx ttl ttml txt uri urls vcf vcs vtt webmanifest wsdl xhtml xml xsd xsl xslt xspf yaml yml "
)

// looksLikeText follows file(1), which ignores trailing NULs: empty, UTF-16
// with its mark, or no control character other than the usual ones, unless it
// is a single byte or starts like a well-known binary format.
func looksLikeText(head []byte) bool {
	if len(head) == 1 {
		return false
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return true
	}
	for _, magic := range []string{"%PDF-", "%!PS", "GIF8", "\xff\xd8\xff", "-----BEGIN PGP", "BZh"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return false
		}
	}
	for _, b := range bytes.TrimRight(head, "\x00") {
		switch {
		case b >= 0x20 && b != 0x7f:
		case b >= 0x07 && b <= 0x0d, b == 0x1b:
		default:
			return false
		}
	}
	return true
}
