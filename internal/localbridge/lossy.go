package localbridge

import (
	"bytes"
	"unicode/utf8"
)

// A lossyDecoder passes bytes through the UTF-8 decoding that the published
// bridge puts command output and text files through: what is not UTF-8 becomes
// U+FFFD, one for each maximal piece of a broken character, a byte order mark
// at the very start disappears, and a character may be split across writes
// (OBSERVED.md, c and d).
type lossyDecoder struct {
	pending []byte // the start of a character whose rest has not come yet
	started bool   // the place for a byte order mark is behind us
}

var (
	replacement   = []byte(string(utf8.RuneError))
	byteOrderMark = []byte("\ufeff")
)

// decode returns what can be decided now.
func (d *lossyDecoder) decode(data []byte) []byte {
	return d.run(data, false)
}

// finish returns what is left at the end of the stream.
func (d *lossyDecoder) finish() []byte {
	return d.run(nil, true)
}

func (d *lossyDecoder) run(data []byte, end bool) []byte {
	data = append(d.pending, data...)
	d.pending = nil
	if !d.started {
		if !end && len(data) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, data) {
			d.pending = data
			return nil
		}
		d.started = true
		data = bytes.TrimPrefix(data, byteOrderMark)
	}
	if utf8.Valid(data) {
		return data
	}
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		if r, size := utf8.DecodeRune(data); r != utf8.RuneError || size > 1 {
			out = append(out, data[:size]...)
			data = data[size:]
			continue
		}
		size := brokenPrefix(data)
		if size == len(data) && !end && !utf8.FullRune(data) {
			d.pending = bytes.Clone(data)
			return out
		}
		out = append(out, replacement...)
		data = data[size:]
	}
	return out
}

// brokenPrefix is the length of the longest start of data that could begin a
// character, at least 1: one U+FFFD stands for it.
func brokenPrefix(data []byte) int {
	for size := min(3, len(data)); size > 1; size-- {
		if !utf8.FullRune(data[:size]) {
			return size
		}
	}
	return 1
}
