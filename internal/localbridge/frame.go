package localbridge

import (
	"encoding/binary"
	"fmt"
	"io"
)

// A frame carries a piece of a command's output from the container to the
// bridge: a kind, a length of four bytes, the data. A stream that ends without
// an exit frame was cut.
type frameKind byte

const (
	frameStdout frameKind = 1
	frameStderr frameKind = 2
	frameExit   frameKind = 3
)

// maxFrame bounds what a frame may claim to hold.
const maxFrame = 1 << 20

func appendFrame(to []byte, kind frameKind, data []byte) []byte {
	to = append(to, byte(kind))
	to = binary.BigEndian.AppendUint32(to, uint32(len(data)))
	return append(to, data...)
}

func readFrame(from io.Reader) (frameKind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxFrame {
		return 0, nil, fmt.Errorf("frame of %d bytes", size)
	}
	data := make([]byte, size)
	_, err := io.ReadFull(from, data)
	return frameKind(head[0]), data, err
}
