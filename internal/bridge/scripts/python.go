package scripts

import (
	_ "embed"
	"encoding/base64"
	"fmt"
)

//go:embed python.py
var python string

// Python is the text of a program that runs a snippet of Python and writes what became of it into the file that its
// argument names. No result may have more than limit bytes. The program's file says how the reply is written.
func Python(code string, limit int64) string {
	// In base64, in which nothing can end a string.
	return fmt.Sprintf("%s\n\nmain(\"%s\", %d)\n", python, base64.StdEncoding.EncodeToString([]byte(code)), limit)
}
