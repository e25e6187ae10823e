package scripts

import _ "embed"

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
