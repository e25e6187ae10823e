package bridge

import (
	"fmt"
	"strconv"
)

// ParseMode reads a file mode in octal, like "644", "0644" or "4755".
func ParseMode(mode string) (uint32, error) {
	value, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || len(mode) < 3 || len(mode) > 4 {
		return 0, fmt.Errorf(`%q is not a file mode: it takes 3 or 4 octal digits, like "0644" or "0755"`, mode)
	}
	return uint32(value), nil
}

// FormatMode writes a file mode as four octal digits, like "0644".
func FormatMode(mode uint32) string { return fmt.Sprintf("%04o", mode) }
