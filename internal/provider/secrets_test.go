package provider_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// secretRow is a row of the table in templates/guides/secrets.md.tmpl.
type secretRow struct {
	value string
	// kept: it is in the plan and in the state.
	kept bool
	// planned: it is in the plan, and not in the state.
	planned bool
	// listed: it is in the sandbox's list of processes.
	listed bool
	// logged: it is in the container's log.
	logged bool
	// left: it is in a result, which stays in the sandbox for an hour or until
	// the provider's next request.
	left bool
	// shown: Terraform shows it on the screen, since it is not sensitive.
	shown bool
}

// secretRows are what the guide says. Each value has characters that look
// different in a URL and in base64.
var secretRows = map[string]secretRow{
	"api_key":                        {value: "Key-of/the+bridge=4711"},
	"headers":                        {value: "Header/secret+value=4712"},
	"provider environment":           {value: "Provider/environment+value=4713"},
	"exec data environment":          {value: "Exec/data+environment=4714", kept: true},
	"exec data stdin":                {value: "Exec/data+stdin=4715", kept: true},
	"exec resource environment":      {value: "Exec/resource+environment=4716", kept: true},
	"exec resource stdin":            {value: "Exec/resource+stdin=4717", kept: true},
	"python environment":             {value: "Python/data+environment=4718", kept: true},
	"python stdin":                   {value: "Python/data+stdin=4719", kept: true},
	"on_destroy environment":         {value: "Destroy/with+environment=4739", kept: true},
	"on_destroy stdin":               {value: "Destroy/with+stdin=4740", kept: true},
	"on_destroy script":              {value: "Destroy/with+script=4741", kept: true, shown: true},
	"environment_wo":                 {value: "Write-only/environment+value=4720"},
	"command":                        {value: "Word/of+the+command=4721", kept: true, listed: true, left: true, shown: true},
	"command without environment":    {value: "Word/of+a+logged+command=4738", kept: true, listed: true, logged: true, left: true, shown: true},
	"output":                         {value: "Printed/by+command=4722", kept: true, left: true, shown: true},
	"script":                         {value: "Text/of+script=4723", kept: true, shown: true},
	"code":                           {value: "Text/of+code=4724", kept: true, shown: true},
	"content":                        {value: "Content/of+file=4725", kept: true, shown: true},
	"source of a file":               {value: "Source/of+file=4726"},
	"source of a directory":          {value: "Source/of+directory=4727"},
	"content_wo":                     {value: "Content/write-only+value=4728"},
	"access_key_id_wo":               {value: "Bucket/access+key=4729"},
	"secret_access_key_wo":           {value: "Bucket/secret+key=4730"},
	"ephemeral exec environment":     {value: "Ephemeral/exec+environment=4731"},
	"ephemeral exec stdin":           {value: "Ephemeral/exec+stdin=4732"},
	"ephemeral exec script":          {value: "Ephemeral/exec+script=4733"},
	"ephemeral exec command":         {value: "Ephemeral/exec+command=4734", listed: true},
	"ephemeral exec output":          {value: "Ephemeral/exec+output=4735", left: true},
	"ephemeral python environment":   {value: "Ephemeral/python+environment=4736", left: true},
	"ephemeral python code and repr": {value: "Ephemeral/python+code=4737", left: true},
	"action environment":             {value: "Action/with+environment=4742", planned: true, shown: true},
	"action stdin":                   {value: "Action/with+stdin=4743", planned: true, shown: true},
	"action script":                  {value: "Action/with+script=4744", planned: true, shown: true},
	"action command":                 {value: "Action/with+command=4745", planned: true, listed: true, logged: true, left: true, shown: true},
	"action output":                  {value: "Printed/by+action=4746", left: true, shown: true},
}

// variable is the name of the variable that a row's value comes from.
func (row secretRow) variable() string { return "v" + row.value[len(row.value)-4:] }

// forms are a secret as it is, in a URL, and in base64 wherever it stands in
// what is encoded.
func forms(secret string) []string {
	found := []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
	for before := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
		// What the neighbours have a part in is left out.
		start, end := []int{0, 2, 3}[before], len(encoded)
		if (before+len(secret))%3 != 0 {
			end--
		}
		found = append(found, encoded[start:end], strings.NewReplacer("+", "-", "/", "_").Replace(encoded[start:end]))
	}
	slices.Sort(found)

	return slices.Compact(found)
}

// holds names the form in which a text has the secret, "" if in none.
func holds(text, secret string) string {
	for _, form := range forms(secret) {
		if strings.Contains(text, form) {
			return form
		}
	}

	return ""
}

// captured is what was caught at one place.
type captured struct {
	place, text string
	// may tells which rows may be seen there.
	may func(secretRow) bool
}

func never(secretRow) bool { return false }

// secretsConfig uses every argument that can hold a secret.
func (b *testBridge) secretsConfig(dir string) string {
	value := func(row string) string { return "var." + secretRows[row].variable() }
	literal := func(row string) string { return hcl(secretRows[row].value) }

	var text strings.Builder
	fmt.Fprintf(&text, `
		provider "cloudflaresandbox" {
		  headers     = { X-Secret = %s }
		  environment = { SHARED = %s }
		}
		provider "cloudflaresandbox" {
		  alias = "plain"
		}
		resource "cloudflaresandbox_sandbox" "test" {}
		locals {
		  id = cloudflaresandbox_sandbox.test.id
		  # Who can see it in a list of processes, while it runs? Many of them have
		  # the same long script among their arguments.
		  list = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | sort -u >>/workspace/ps"
		  look = "${local.list}; test -n \"$SHARED\""
		}
		data "cloudflaresandbox_exec" "test" {
		  sandbox_id  = local.id
		  command     = ["bash", "-c", "${local.look} && test -n \"$OWN\" && test -n \"$(cat)\" && printf %%s \"$0\"", %s]
		  environment = { OWN = %s }
		  stdin       = %s
		}
		data "cloudflaresandbox_exec" "logged" {
		  provider   = cloudflaresandbox.plain
		  sandbox_id = local.id
		  command    = ["bash", "-c", "${local.list}; printf %%s \"$0\"", %s]
		}
		`, value("headers"), value("provider environment"), literal("command"), value("exec data environment"), value("exec data stdin"),
		literal("command without environment"))
	fmt.Fprintf(&text, `
		resource "cloudflaresandbox_exec" "test" {
		  sandbox_id             = local.id
		  script                 = "# %s\n${local.look} && test -n \"$OWN\" && test -n \"$WO\" && test -n \"$(cat)\" && cat %s"
		  environment            = { OWN = %s }
		  environment_wo         = { WO = %s }
		  environment_wo_version = 1
		  stdin                  = %s
		  depends_on             = [cloudflaresandbox_directory.test]

		  on_destroy = {
		    script      = "# %s\n${local.look} && test -n \"$OWN\" && test -n \"$(cat)\""
		    environment = { OWN = %s }
		    stdin       = %s
		  }
		}
		data "cloudflaresandbox_python" "test" {
		  sandbox_id  = local.id
		  code        = "# %s\nimport os, subprocess, sys\nsubprocess.run([\"bash\", \"-c\", ${jsonencode(local.look)}], check=True)\nlen(os.environ[\"OWN\"] + sys.stdin.read())"
		  environment = { OWN = %s }
		  stdin       = %s
		}
		`, secretRows["script"].value, "dir/printed", value("exec resource environment"), value("environment_wo"), value("exec resource stdin"),
		secretRows["on_destroy script"].value, value("on_destroy environment"), value("on_destroy stdin"), secretRows["code"].value, value("python environment"), value("python stdin"))
	fmt.Fprintf(&text, `
		resource "cloudflaresandbox_file" "content" {
		  sandbox_id = local.id
		  path       = "content"
		  content    = %s
		}
		resource "cloudflaresandbox_file" "source" {
		  sandbox_id = local.id
		  path       = "source"
		  source     = %s
		}
		resource "cloudflaresandbox_file" "content_wo" {
		  sandbox_id         = local.id
		  path               = "content_wo"
		  content_wo         = %s
		  content_wo_version = 1
		}
		resource "cloudflaresandbox_directory" "test" {
		  sandbox_id = local.id
		  path       = "dir"
		  source     = %s
		}
		resource "cloudflaresandbox_bucket_mount" "test" {
		  sandbox_id             = local.id
		  mount_path             = "/workspace/bucket"
		  bucket                 = "bucket"
		  endpoint               = "https://s3.example"
		  access_key_id_wo       = %s
		  secret_access_key_wo   = %s
		  credentials_wo_version = 1
		}
		`, literal("content"), hcl(filepath.Join(dir, "source")), value("content_wo"), hcl(filepath.Join(dir, "directory")),
		value("access_key_id_wo"), value("secret_access_key_wo"))
	fmt.Fprintf(&text, `
		ephemeral "cloudflaresandbox_exec" "script" {
		  sandbox_id  = local.id
		  script      = "# ${%s}\n${local.look} && test -n \"$OWN\" && test -n \"$(cat)\" && echo ${%s}"
		  environment = { OWN = %s }
		  stdin       = %s
		}
		ephemeral "cloudflaresandbox_exec" "command" {
		  sandbox_id = local.id
		  command    = ["bash", "-c", local.look, %s]
		}
		ephemeral "cloudflaresandbox_python" "test" {
		  sandbox_id  = local.id
		  code        = "import os\n\"${%s}\" + os.environ[\"OWN\"]"
		  environment = { OWN = %s }
		}
		`, value("ephemeral exec script"), value("ephemeral exec output"), value("ephemeral exec environment"), value("ephemeral exec stdin"),
		value("ephemeral exec command"), value("ephemeral python code and repr"), value("ephemeral python environment"))

	return text.String()
}

// secretsCLI has that configuration, and all that it needs.
func (b *testBridge) secretsCLI() *cli {
	b.t.Helper()

	local := b.t.TempDir()
	writeAll(b.t, local, map[string]string{
		"source": secretRows["source of a file"].value, "directory/secret": secretRows["source of a directory"].value,
		"directory/printed": secretRows["output"].value, "directory/told": secretRows["action output"].value,
	})
	c := b.cli(b.secretsConfig(local))
	// A saved plan has every variable that is not ephemeral, used or not.
	rows := maps.Clone(secretRows)
	maps.DeleteFunc(rows, func(_ string, row secretRow) bool { return row.planned })
	c.declareSecrets(slices.Sorted(maps.Keys(rows))...)

	return c
}

// declareSecrets writes a variable for each of these rows, and gives it its value.
func (c *cli) declareSecrets(rows ...string) {
	c.t.Helper()

	var text strings.Builder
	for _, name := range rows {
		row := secretRows[name]
		kind := "ephemeral"
		if row.kept {
			kind = "sensitive"
		}
		fmt.Fprintf(&text, "variable %q {\n  type = string\n  %s = true\n}\n", row.variable(), kind)
		c.env = append(c.env, "TF_VAR_"+row.variable()+"="+row.value)
	}
	c.write("variables.tf", text.String())
}

// secretActions are the actions that can hold a secret, for a Terraform that
// knows actions.
func secretActions() string {
	return fmt.Sprintf(`
		resource "cloudflaresandbox_file" "trigger" {
		  sandbox_id = local.id
		  path       = "trigger"
		  content    = "x"
		  depends_on = [cloudflaresandbox_directory.test]

		  lifecycle {
		    action_trigger {
		      events  = [after_create]
		      actions = [action.cloudflaresandbox_exec.script, action.cloudflaresandbox_exec.command]
		    }
		  }
		}
		action "cloudflaresandbox_exec" "script" {
		  config {
		    sandbox_id  = local.id
		    script      = "# %s\n${local.look} && test -n \"$OWN\" && test -n \"$(cat)\" && cat dir/told"
		    environment = { OWN = %s }
		    stdin       = %s
		  }
		}
		action "cloudflaresandbox_exec" "command" {
		  provider = cloudflaresandbox.plain
		  config {
		    sandbox_id = local.id
		    command    = ["bash", "-c", local.list, %s]
		  }
		}
		`, secretRows["action script"].value, hcl(secretRows["action environment"].value), hcl(secretRows["action stdin"].value),
		hcl(secretRows["action command"].value))
}

// knowsActions tells whether it is Terraform 1.14 or later. OpenTofu has none.
func (c *cli) knowsActions() bool {
	var major, minor int
	_, err := fmt.Sscanf(c.must("version"), "Terraform v%d.%d", &major, &minor)

	return err == nil && (major > 1 || minor >= 14)
}

// Every way on which a value could get out is watched, and has what the guide
// says it has, row by row: not more, and not less.
func TestSecretsAreWhereTheGuideSaysAndNowhereElse(t *testing.T) {
	b := localBridge(t, localbridge.Config{Key: secretRows["api_key"].value})
	watched := watch(t, b.url)
	b.url = watched.URL

	c := b.secretsCLI()
	actions := c.knowsActions()
	if actions {
		c.write("actions.tf", secretActions())
	}
	trace := filepath.Join(c.dir, "trace.log")
	c.env = append(c.env, "TF_LOG=TRACE", "TF_LOG_PATH="+trace)

	kept := func(row secretRow) bool { return row.kept }
	planned := func(row secretRow) bool { return row.kept || row.planned }
	shown := func(row secretRow) bool { return row.shown }
	listed := func(row secretRow) bool { return row.listed }
	var all []captured
	// The configuration as it was written; a literal in it is no secret.
	const asWritten = "tfconfig/"

	all = append(all,
		captured{"what plan prints", c.must("plan", "-out=plan"), shown},
		captured{"what show prints", c.must("show", "plan"), shown},
		captured{"the plan in JSON", c.must("show", "-json", "plan"), planned},
		captured{"the plan's file", planMembers(t, filepath.Join(c.dir, "plan"), asWritten), planned},
		captured{"what apply prints", c.must("apply", "plan"), shown},
		captured{"what a second plan prints", c.must("plan", "-out=plan"), shown},
		captured{"the second plan's file", planMembers(t, filepath.Join(c.dir, "plan"), asWritten), kept},
		captured{"the state", readFile(t, filepath.Join(c.dir, "terraform.tfstate")), kept},
	)
	id := b.local.Running()[0]
	// Not by runs of the provider's, whose own output is a file there, and would be
	// found among what is left.
	processes, err := b.local.Inside(id, "cat ps")
	if err != nil {
		t.Fatal(err)
	}
	left, err := b.local.Inside(id, "rm -r ps source content content_wo dir; "+
		"find /workspace /tmp /home -xdev -type f -exec cat {} +")
	if err != nil {
		t.Fatal(err)
	}
	all = append(all,
		captured{"the list of processes", processes, listed},
		captured{"what is left on the sandbox's disk", left, func(row secretRow) bool { return row.left }},
	)
	c.failWithSecrets(t, &all)
	all = append(all,
		captured{"what destroy prints", c.must("destroy", "-auto-approve"), shown},
		captured{"the state's backup", readFile(t, filepath.Join(c.dir, "terraform.tfstate.backup")), kept},
		captured{"the log of the container", strings.Join(b.local.CommandLog(), "\n"), func(row secretRow) bool { return row.logged }},
		captured{"Terraform's log", readFile(t, trace), shown},
		captured{"requests, but for the key and headers", watched.seen(), never},
	)

	for _, caught := range all {
		caught.check(t)
	}
	for name, row := range secretRows {
		if actions || !strings.HasPrefix(name, "action ") {
			row.checkWarnings(t, name, all)
		}
	}
	t.Logf("%d values in %d forms each, searched for at %d places", len(secretRows), len(forms(secretRows["content"].value)), len(all))
}

// check looks for each value in what was caught.
func (c captured) check(t *testing.T) {
	t.Helper()

	if c.text == "" {
		t.Errorf("nothing was caught of %s", c.place)
	}
	for name, row := range secretRows {
		if form := holds(c.text, row.value); form != "" && !c.may(row) {
			t.Errorf("%s is in %s, as %q", name, c.place, form)
		}
	}
}

// checkWarnings finds a value where the guide warns of it.
func (row secretRow) checkWarnings(t *testing.T, name string, all []captured) {
	t.Helper()

	warned := map[string]bool{
		"the state": row.kept, "the plan's file": row.planned, "the list of processes": row.listed, "the log of the container": row.logged,
	}
	for _, caught := range all {
		if warned[caught.place] && holds(caught.text, row.value) == "" {
			t.Errorf("the guide says that %s is in %s, and it is not", name, caught.place)
		}
	}
}

// failWithSecrets has commands fail that print what they were told.
func (c *cli) failWithSecrets(t *testing.T, all *[]captured) {
	t.Helper()

	own, input := secretRows["ephemeral exec environment"], secretRows["ephemeral exec stdin"]
	for name, block := range map[string]string{
		"data exec": fmt.Sprintf(`data "cloudflaresandbox_exec" "fails" {
			sandbox_id  = cloudflaresandbox_sandbox.test.id
			command     = ["bash", "-c", "echo \"$OWN $SHARED\" >&2; cat >&2; exit 3"]
			environment = { OWN = var.%s }
			stdin       = var.%s
		}`, secretRows["exec data environment"].variable(), secretRows["exec data stdin"].variable()),
		"ephemeral exec": fmt.Sprintf(`ephemeral "cloudflaresandbox_exec" "fails" {
			sandbox_id  = cloudflaresandbox_sandbox.test.id
			command     = ["bash", "-c", "echo \"$OWN $SHARED\" >&2; cat >&2; exit 3"]
			environment = { OWN = var.%s }
			stdin       = var.%s
		}`, own.variable(), input.variable()),
		"ephemeral python": fmt.Sprintf(`ephemeral "cloudflaresandbox_python" "fails" {
			sandbox_id  = cloudflaresandbox_sandbox.test.id
			code        = "import os, sys\nraise ValueError(os.environ[\"OWN\"] + os.environ[\"SHARED\"] + sys.stdin.read())"
			environment = { OWN = var.%s }
			stdin       = var.%s
		}`, own.variable(), input.variable()),
	} {
		c.write("fails.tf", block)
		output, err := c.try("plan")
		if err == nil || !strings.Contains(output, "(sensitive value)") {
			t.Errorf("%s: %v, %s", name, err, output)
		}
		*all = append(*all, captured{"the failure of " + name, output, func(row secretRow) bool { return row.shown }})
	}
	if err := os.Remove(filepath.Join(c.dir, "fails.tf")); err != nil {
		t.Fatal(err)
	}

	wrong := *c
	wrong.env = append(slices.Clone(c.env), apiKeyVariable+"=wrong"+secretRows["api_key"].value)
	output, err := wrong.try("plan")
	if err == nil || !strings.Contains(output, "did not accept") {
		t.Errorf("a wrong key: %v, %s", err, output)
	}
	*all = append(*all, captured{"the refusal of a wrong key", output, func(row secretRow) bool { return row.shown }})
}

// A value that is no key is refused in words that do not show it.
func TestKeyThatIsNoneIsNotShown(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	c := b.cli(oneSandbox)

	const secret = "recognisable-4799"
	for name, key := range map[string]string{
		"a trailing newline": secret + "\n", "a carriage return": secret + "\r\n", "not ASCII": "schlüssel-" + secret, "a quote": "“" + secret + "”",
		"a control character": secret + "\x1b[31m", "a NUL's neighbour": secret + "\x01",
	} {
		wrong := *c
		wrong.env = append(slices.Clone(c.env), "TF_LOG=TRACE", apiKeyVariable+"="+key)
		output, err := wrong.try("plan")
		if err == nil || !strings.Contains(output, "Invalid api_key") {
			t.Errorf("%s: %v, %s", name, err, output)
		}
		if form := holds(output, secret); form != "" {
			t.Errorf("%s: the key is in the output as %q", name, form)
		}
	}
	if sent := b.sent(); sent != "" {
		t.Errorf("requests: %s", sent)
	}
}

// planMembers is all that is in the file of a plan, but for members whose names
// start with one of these.
func planMembers(t *testing.T, path string, without ...string) string {
	t.Helper()

	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()

	var all bytes.Buffer
	for _, member := range archive.File {
		if slices.ContainsFunc(without, func(prefix string) bool { return strings.HasPrefix(member.Name, prefix) }) {
			continue
		}
		content, err := member.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(&all, content); err != nil {
			t.Fatal(err)
		}
		_ = content.Close()
	}

	return all.String()
}

func writeAll(t *testing.T, dir string, files map[string]string) {
	t.Helper()

	if err := writeTree(dir, files); err != nil {
		t.Fatal(err)
	}
}

// watcher is a proxy that keeps what of requests may not be secret.
type watcher struct {
	*httptest.Server

	mu   sync.Mutex
	text strings.Builder
}

func watch(t *testing.T, target string) *watcher {
	t.Helper()

	parsed, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(parsed) }, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0)}
	w := &watcher{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		w.keep(r)
		proxy.ServeHTTP(answer, r)
	}))
	t.Cleanup(w.Close)

	return w
}

func (w *watcher) keep(r *http.Request) {
	header := r.Header.Clone()
	header.Del("Authorization")
	header.Del("X-Secret")

	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintln(&w.text, r.Method, r.URL, r.RequestURI, r.Host, header)
}

func (w *watcher) seen() string {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.text.String()
}
