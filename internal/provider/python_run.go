package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// pythonModel is a snippet of Python and what became of it.
type pythonModel struct {
	SandboxID        types.String `tfsdk:"sandbox_id"`
	Code             types.String `tfsdk:"code"`
	PythonExecutable types.String `tfsdk:"python_executable"`
	WorkingDir       types.String `tfsdk:"working_dir"`
	Environment      types.Map    `tfsdk:"environment"`
	Stdin            types.String `tfsdk:"stdin"`
	Timeout          types.String `tfsdk:"timeout"`
	MaxOutputBytes   types.Int64  `tfsdk:"max_output_bytes"`
	AllowError       types.Bool   `tfsdk:"allow_error"`

	Result       types.String      `tfsdk:"result"`
	ResultJSON   types.String      `tfsdk:"result_json"`
	Error        *pythonErrorModel `tfsdk:"error"`
	Stdout       types.String      `tfsdk:"stdout"`
	Stderr       types.String      `tfsdk:"stderr"`
	StdoutBase64 types.String      `tfsdk:"stdout_base64"`
	StderrBase64 types.String      `tfsdk:"stderr_base64"`
}

// pythonErrorModel is an exception that nobody caught.
type pythonErrorModel struct {
	Name      types.String `tfsdk:"name"`
	Value     types.String `tfsdk:"value"`
	Traceback types.String `tfsdk:"traceback"`
}

// run runs the snippet and takes what became of it into the model.
func (m *pythonModel) run(ctx context.Context, conn *connection) diag.Diagnostics {
	var diags diag.Diagnostics

	conn.requireKnown(&diags, m.needs()...)
	if diags.HasError() {
		return diags
	}

	sandbox := conn.sandbox(m.SandboxID, path.Root("sandbox_id"), &diags)
	command := m.bridgeCommand(ctx, conn.settings, &diags)
	if diags.HasError() {
		return diags
	}
	shown := redactor(command)

	result, err := sandbox.RunPython(conn.mask(ctx), m.Code.ValueString(), command)
	if err != nil {
		m.addRunFailure(&diags, shown, err)
		return diags
	}

	m.setResult(result)
	if result.Exception != nil && !m.AllowError.ValueBool() {
		addException(&diags, shown, result)
	}

	return diags
}

// needs names the provider's attributes that have to be known.
func (m *pythonModel) needs() []string {
	names := []string{"working_dir", "environment", "timeout"}
	if m.PythonExecutable.ValueString() == "" {
		names = append(names, "python_executable")
	}

	return names
}

// bridgeCommand is the interpreter as a command, with the same defaults as any
// other.
func (m *pythonModel) bridgeCommand(ctx context.Context, s settings, diags *diag.Diagnostics) bridge.Command {
	interpreter := types.StringValue(firstSet(m.PythonExecutable, s.pythonExecutable))
	command := commandModel{
		Command:        types.ListValueMust(types.StringType, []attr.Value{interpreter}),
		WorkingDir:     m.WorkingDir,
		Environment:    m.Environment,
		Stdin:          m.Stdin,
		Timeout:        m.Timeout,
		MaxOutputBytes: m.MaxOutputBytes,
	}

	return command.bridgeCommand(ctx, s, path.Empty(), diags)
}

// setResult takes a result into the model.
func (m *pythonModel) setResult(result *bridge.PythonResult) {
	m.Result, m.ResultJSON = types.StringPointerValue(result.Repr), types.StringPointerValue(result.JSON)
	m.Stdout, m.StdoutBase64 = text(result.Stdout), encoded(result.Stdout)
	m.Stderr, m.StderrBase64 = text(result.Stderr), encoded(result.Stderr)

	if e := result.Exception; e != nil {
		m.Error = &pythonErrorModel{
			Name: types.StringValue(e.Name), Value: types.StringValue(e.Value), Traceback: types.StringValue(e.Traceback),
		}
	}
}

// addException reports an exception that is not allowed.
func addException(diags *diag.Diagnostics, shown redaction, result *bridge.PythonResult) {
	summary := "Python code ended with " + visibleName(result.Exception.Name)
	// A whole traceback says itself what it is.
	told := strings.TrimPrefix(shown.stream("traceback", []byte(result.Exception.Traceback)), "traceback:\n")
	if result.Exception.Name == bridge.ProcessEnded {
		summary = "Python process ended early"
		told = sentence(errors.New(result.Exception.Value)) + "\n\n"
	}

	diags.AddAttributeError(path.Root("code"), summary,
		told+shown.stream("stderr", result.Stderr)+shown.stream("stdout", result.Stdout)+
			"Set allow_error = true if this is a result rather than a failure.")
}

// addRunFailure reports a snippet of which there is no complete result.
func (m *pythonModel) addRunFailure(diags *diag.Diagnostics, shown redaction, err error) {
	var (
		interpreter *bridge.InterpreterError
		timeout     *bridge.TimeoutError
		output      *bridge.OutputLimitError
		start       *bridge.StartError
	)
	code := path.Root("code")

	switch {
	case errors.As(err, &interpreter):
		at := code
		if m.PythonExecutable.ValueString() != "" {
			at = path.Root("python_executable")
		}
		diags.AddAttributeError(at, "No Python to run the code",
			sentence(err)+"\n\n"+shown.output(interpreter.Result)+
				"The code needs Python 3.8 or later in the sandbox's image. Cloudflare's default image has none; the one whose tag ends in "+
				"-python has. Where Python has another name or is not on PATH, set python_executable, here or in the provider block.")

	case errors.As(err, &timeout):
		diags.AddAttributeError(path.Root("timeout"), fmt.Sprintf("Python code ran longer than %s", timeout.Timeout),
			"It was ended, together with everything it had started.\n\n"+shown.everything(timeout.Result)+
				"Set a longer timeout if the code needs it.")

	case errors.As(err, &output):
		diags.AddAttributeError(path.Root("max_output_bytes"), "Too much output of the Python code",
			fmt.Sprintf("Its %s has %d bytes, and max_output_bytes allows %d. Nothing was cut off, so there is no result. "+
				"Raise max_output_bytes, which goes up to %d, or have the code write to a file.",
				output.Stream, output.Size, output.Limit, bridge.MaxPythonOutputBytes))

	case errors.As(err, &start):
		diags.AddAttributeError(code, "Python code could not be started", sentence(err))

	default:
		addFailure(diags, code, "run the code in sandbox "+m.SandboxID.ValueString(), err)
	}
}
