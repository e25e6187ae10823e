package provider

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// maxShownOutput is how much of a stream's end an error shows.
const maxShownOutput = 4 << 10

// execModel is a command in a sandbox and its result.
type execModel struct {
	SandboxID types.String `tfsdk:"sandbox_id"`

	commandModel
	resultModel
}

// commandModel is what a command is told.
type commandModel struct {
	Command              types.List   `tfsdk:"command"`
	Script               types.String `tfsdk:"script"`
	Interpreter          types.List   `tfsdk:"interpreter"`
	WorkingDir           types.String `tfsdk:"working_dir"`
	Environment          types.Map    `tfsdk:"environment"`
	Stdin                types.String `tfsdk:"stdin"`
	Timeout              types.String `tfsdk:"timeout"`
	AllowNonZeroExitCode types.Bool   `tfsdk:"allow_non_zero_exit_code"`
	MaxOutputBytes       types.Int64  `tfsdk:"max_output_bytes"`
}

// resultModel is what comes back from it.
type resultModel struct {
	ExitCode     types.Int64  `tfsdk:"exit_code"`
	Stdout       types.String `tfsdk:"stdout"`
	Stderr       types.String `tfsdk:"stderr"`
	StdoutBase64 types.String `tfsdk:"stdout_base64"`
	StderrBase64 types.String `tfsdk:"stderr_base64"`
}

// execution is how one kind of object runs a command.
type execution struct {
	sandboxID types.String
	// instance is the container that the command is meant for; "" for the one
	// that this process works with.
	instance string
	// confidential keeps the command itself out of the container's log, too.
	confidential bool
	// heartbeat, if set, is called every 10 seconds while the command runs.
	heartbeat func()
	// at is where the command's attributes are; the zero path is the object.
	at path.Path
}

// outcome is what became of a command.
type outcome struct {
	// result is nil where there is no complete one.
	result *bridge.Result
	err    error
	shown  redaction
}

// started reports whether the command ran, or may have.
func (o outcome) started() bool {
	var (
		timeout *bridge.TimeoutError
		output  *bridge.OutputLimitError
		unknown *bridge.UnknownOutcomeError
	)

	return o.result != nil || errors.As(o.err, &timeout) || errors.As(o.err, &output) || errors.As(o.err, &unknown)
}

// run runs the command and takes its result into the model.
func (m *execModel) run(ctx context.Context, conn *connection, e execution) diag.Diagnostics {
	e.sandboxID = m.SandboxID

	o, diags := m.commandModel.run(ctx, conn, e)
	m.resultModel = newResultModel(o.result)

	return diags
}

// run runs the command.
func (m *commandModel) run(ctx context.Context, conn *connection, e execution) (outcome, diag.Diagnostics) {
	var diags diag.Diagnostics

	sandbox := conn.sandbox(e.sandboxID, path.Root("sandbox_id"), &diags)
	command := m.bridgeCommand(ctx, conn.settings, e.at, &diags)
	if diags.HasError() {
		return outcome{}, diags
	}
	command.Instance, command.Confidential, command.Heartbeat = e.instance, e.confidential, e.heartbeat

	o := outcome{shown: redactor(command)}
	o.result, o.err = sandbox.Run(ctx, command)
	switch {
	case o.err != nil:
		m.addRunFailure(&diags, e, o)
	case o.result.ExitCode != 0 && !m.AllowNonZeroExitCode.ValueBool():
		diags.AddAttributeError(m.commandPath(e.at), fmt.Sprintf("Command ended with exit code %d", o.result.ExitCode),
			o.shown.output(o.result)+"Set allow_non_zero_exit_code = true if this is a result rather than a failure.")
	}

	return o, diags
}

// bridgeCommand maps the configuration to what the bridge package runs.
func (m *commandModel) bridgeCommand(ctx context.Context, s settings, at path.Path, diags *diag.Diagnostics) bridge.Command {
	command := bridge.Command{
		Dir:            s.workingDir,
		Environment:    mergeEnvironment(ctx, s.environment, m.Environment, diags),
		Stdin:          m.Stdin.ValueStringPointer(),
		Timeout:        s.timeout,
		MaxOutputBytes: defaultMaxOutput,
	}

	switch {
	case m.Script.IsNull():
		diags.Append(m.Command.ElementsAs(ctx, &command.Argv, false)...)
	case m.Interpreter.IsNull():
		command.Argv, command.Script = []string{"bash", "-e"}, m.Script.ValueString()
	default:
		diags.Append(m.Interpreter.ElementsAs(ctx, &command.Argv, false)...)
		command.Script = m.Script.ValueString()
	}

	if !m.WorkingDir.IsNull() {
		directory, err := bridge.CleanDirectory(m.WorkingDir.ValueString())
		if err != nil {
			diags.AddAttributeError(at.AtName("working_dir"), "Invalid directory", sentence(err))
		}
		command.Dir = directory
	}

	if !m.Timeout.IsNull() {
		timeout, err := parseDuration(m.Timeout.ValueString())
		if err != nil {
			diags.AddAttributeError(at.AtName("timeout"), "Invalid duration", sentence(err))
		}
		command.Timeout = timeout
	}

	if !m.MaxOutputBytes.IsNull() {
		command.MaxOutputBytes = m.MaxOutputBytes.ValueInt64()
	}

	return command
}

// mergeEnvironment puts a command's own variables on top of the provider's. A
// null one takes the provider's away.
func mergeEnvironment(ctx context.Context, base map[string]string, own types.Map, diags *diag.Diagnostics) map[string]string {
	merged := make(map[string]string, len(base)+len(own.Elements()))
	maps.Copy(merged, base)

	elements := map[string]types.String{}
	if !own.IsNull() {
		diags.Append(own.ElementsAs(ctx, &elements, false)...)
	}

	for name, value := range elements {
		if value.IsNull() {
			delete(merged, name)
			continue
		}
		merged[name] = value.ValueString()
	}

	return merged
}

// newResultModel maps a result to the model; without one all is null.
func newResultModel(result *bridge.Result) resultModel {
	if result == nil {
		return resultModel{}
	}

	return resultModel{
		ExitCode:     types.Int64Value(int64(result.ExitCode)),
		Stdout:       text(result.Stdout),
		Stderr:       text(result.Stderr),
		StdoutBase64: encoded(result.Stdout),
		StderrBase64: encoded(result.Stderr),
	}
}

// text is output as a string, which in Terraform is always UTF-8.
func text(output []byte) types.String {
	if !utf8.Valid(output) {
		return types.StringNull()
	}

	return types.StringValue(string(output))
}

func encoded(output []byte) types.String {
	return types.StringValue(base64.StdEncoding.EncodeToString(output))
}

// commandPath is the attribute that says what to run.
func (m *commandModel) commandPath(at path.Path) path.Path {
	if m.Script.IsNull() {
		return at.AtName("command")
	}

	return at.AtName("script")
}

// addRunFailure reports a command that gave no complete result.
func (m *commandModel) addRunFailure(diags *diag.Diagnostics, e execution, o outcome) {
	var (
		timeout *bridge.TimeoutError
		output  *bridge.OutputLimitError
		start   *bridge.StartError
	)

	switch {
	case errors.As(o.err, &timeout):
		diags.AddAttributeError(e.at.AtName("timeout"), fmt.Sprintf("Command ran longer than %s", timeout.Timeout),
			"It was ended, together with everything it had started.\n\n"+o.shown.everything(timeout.Result)+
				"Set a longer timeout if the command needs it.")

	case errors.As(o.err, &output):
		diags.AddAttributeError(e.at.AtName("max_output_bytes"), "Command printed too much",
			fmt.Sprintf("It wrote at least %d bytes to %s, and max_output_bytes allows %d. Nothing was cut off, so there is no result. "+
				"Raise max_output_bytes, which goes up to %d, or have the command write to a file.",
				output.Size, output.Stream, output.Limit, bridge.MaxOutputBytes))

	case errors.As(o.err, &start):
		diags.AddAttributeError(m.commandPath(e.at), "Command could not be started", sentence(o.err))

	default:
		addFailure(diags, m.commandPath(e.at), "run the command in sandbox "+e.sandboxID.ValueString(), o.err)
	}
}

// redaction hides in an error what the command was told in confidence.
type redaction struct {
	secrets *strings.Replacer
}

func redactor(command bridge.Command) redaction {
	values := slices.Collect(maps.Values(command.Environment))
	if command.Stdin != nil {
		values = append(values, *command.Stdin)
	}
	secrets := maskable(values...)

	pairs := make([]string, 0, len(secrets)*2)
	for _, secret := range secrets {
		pairs = append(pairs, secret, "(sensitive value)")
	}

	return redaction{secrets: strings.NewReplacer(pairs...)}
}

// output shows the end of stderr, where programs say what is wrong, or of stdout
// where that is empty.
func (r redaction) output(result *bridge.Result) string {
	if shown := r.stream("stderr", result.Stderr); shown != "" {
		return shown
	}

	return r.everything(result)
}

// everything shows the ends of both streams, in paragraphs of their own.
func (r redaction) everything(result *bridge.Result) string {
	shown := r.stream("stderr", result.Stderr) + r.stream("stdout", result.Stdout)
	if shown == "" {
		return "It printed nothing.\n\n"
	}

	return shown
}

func (r redaction) stream(name string, output []byte) string {
	shown := strings.TrimSpace(visible(r.secrets.Replace(string(output))))
	if shown == "" {
		return ""
	}

	heading := name + ":"
	if len(shown) > maxShownOutput {
		heading = fmt.Sprintf("The last %d bytes of %s:", maxShownOutput, name)
		shown = strings.ToValidUTF8(shown[len(shown)-maxShownOutput:], "")
	}

	return heading + "\n" + shown + "\n\n"
}
