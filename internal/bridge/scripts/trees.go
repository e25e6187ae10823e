package scripts

import _ "embed"

// More statuses, of the scripts for trees.
const (
	// StatusNotDirectory: the path is something else than a directory, or a link.
	StatusNotDirectory = 98
	// StatusNoList: the list of a tree is not known in the container, and was not sent.
	StatusNoList = 99
	// StatusIncomplete: the file system refused in the middle, so that a part has been done; the answer has the reason.
	StatusIncomplete = 100
)

var (
	//go:embed batch.sh
	batch string
	//go:embed unpack.sh
	unpack string
	//go:embed look.sh
	look string
	//go:embed walk.sh
	walk string
	//go:embed pack.sh
	pack string
)

// The programs for trees, ready for "bash -c".
var (
	Unpack = program(batch, unpack)
	Look   = program(batch, look)
	Walk   = program(walk)
	Pack   = program(pack)
)
