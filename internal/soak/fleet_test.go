package soak_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// fleet is what is declared: sandboxes with the same things in each.
type fleet struct {
	sandboxes, files int
	// round is told to what changes from one to the next.
	round int
}

// commands is how many exec resources a sandbox has.
const commands = 3

// objects is how many resources that makes.
func (f fleet) objects() int { return f.sandboxes*(1+f.files+1+commands) + f.reachable() }

func sandboxName(s int) string { return fmt.Sprintf("s%02d", s) }

// file is a file as it has to be.
type file struct {
	content []byte
	mode    string
	// local is the file it comes from; "" if the configuration itself has it.
	local string
}

// file is the n-th file of a sandbox. Some change with every round, some with
// every second or third; one comes from a local file, and one of those is so
// large that it travels in several parts.
func (f fleet) file(s, n int) (path string, d file) {
	version := f.round / (n%3 + 1)
	d.content = fmt.Appendf(nil, "file %d of sandbox %d, version %d\r\n", n, s, version)
	d.mode = []string{"0644", "0600", "0755", "4711"}[(n+version)%4]
	if n == 0 {
		size := 100 << 10
		if s == 0 {
			size = 9 << 20
		}
		d.content = noise(uint64(s), uint64(version), size)
		d.local = fmt.Sprintf("%s-%d.bin", sandboxName(s), n)
	}

	return fmt.Sprintf("/workspace/data/%d/file %d", n%3, n), d
}

// noise is content that is hard to compress and easy to make again.
func noise(a, b uint64, size int) []byte {
	line := make([]byte, 1<<10)
	source := rand.New(rand.NewPCG(a, b))
	for i := range line {
		line[i] = byte(source.Uint32())
	}

	return bytes.Repeat(line, size/len(line))
}

// header is what is in the configuration beside the fleet. HOLD keeps every
// command busy for that many seconds, HOLD_READS those of data sources. They are
// the provider's, so that no object changes with them.
const header = `
variable "hold" {
  default = "0"
}

variable "hold_reads" {
  default = "0"
}

provider "cloudflaresandbox" {
  environment = { HOLD = var.hold, HOLD_READS = var.hold_reads }
}
`

// leave is what a command does: it leaves a line in a file of its own name, and
// may be held up after that, together with a process in the background.
func leave(directory, name string) string {
	return fmt.Sprintf(`mkdir -p /tmp/%s; echo x >>/tmp/%s/%s; [ "$HOLD" = 0 ] || { sleep "$HOLD" & sleep "$HOLD"; }`, directory, directory, name)
}

// write puts the configuration and its local files into a directory.
func (f fleet) write(dir string) error {
	var text strings.Builder
	text.WriteString(header)
	for s := range f.sandboxes {
		name := sandboxName(s)
		fmt.Fprintf(&text, "\nresource \"cloudflaresandbox_sandbox\" %q {}\n", name)
		for n := range f.files {
			if err := f.writeFile(&text, dir, s, n); err != nil {
				return err
			}
		}
		if err := f.writeDirectory(&text, dir, s); err != nil {
			return err
		}
		f.writeCommands(&text, name)
		f.writeReach(&text, s)
	}

	return os.WriteFile(filepath.Join(dir, "main.tf"), []byte(text.String()), 0o600)
}

func (f fleet) writeFile(text *strings.Builder, dir string, s, n int) error {
	path, d := f.file(s, n)
	content := fmt.Sprintf("content = %q", d.content)
	if d.local != "" {
		if err := os.WriteFile(filepath.Join(dir, d.local), d.content, 0o600); err != nil {
			return err
		}
		content = fmt.Sprintf("source = %q", d.local)
	}
	fmt.Fprintf(text, `
resource "cloudflaresandbox_file" "%[1]s_%[2]d" {
  sandbox_id = cloudflaresandbox_sandbox.%[1]s.id
  path = %[3]q
  mode = %[4]q
  %[5]s
}
`, sandboxName(s), n, path, d.mode, content)

	return nil
}

// writeCommands declares one that waits for a file, one with another for its end,
// one with input that waits for the directory, and, as a data source, one that
// every plan runs.
func (f fleet) writeCommands(text *strings.Builder, name string) {
	fmt.Fprintf(text, `
resource "cloudflaresandbox_exec" "%[1]s_0" {
  sandbox_id = cloudflaresandbox_sandbox.%[1]s.id
  command = ["bash", "-c", %[3]q]
  triggers = { round = "%[2]d", file = cloudflaresandbox_file.%[1]s_0.revision }
}

resource "cloudflaresandbox_exec" "%[1]s_1" {
  sandbox_id = cloudflaresandbox_sandbox.%[1]s.id
  script = %[4]q
  triggers = { round = "%[2]d" }
  on_destroy = { script = %[6]q }
}

resource "cloudflaresandbox_exec" "%[1]s_2" {
  sandbox_id = cloudflaresandbox_sandbox.%[1]s.id
  command = ["bash", "-c", %[5]q]
  stdin = "input"
  triggers = { round = "%[2]d", directory = cloudflaresandbox_directory.%[1]s.revision }
}

data "cloudflaresandbox_exec" "%[1]s" {
  sandbox_id = cloudflaresandbox_sandbox.%[1]s.id
  command = ["bash", "-c", "[ \"$HOLD_READS\" = 0 ] || sleep \"$HOLD_READS\""]
}
`, name, f.round, leave("ran", f.line(0)), leave("ran", f.line(1)), leave("ran", f.line(2)), leave("ended", f.line(1)))
}

// line is the name under which a command leaves its line in this round.
func (f fleet) line(command int) string { return fmt.Sprintf("%d.%d", command, f.round) }
