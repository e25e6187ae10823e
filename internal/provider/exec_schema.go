package provider

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// defaultMaxOutput is how much a command may print to each stream unless it is
// given more. Terraform keeps all of it in memory and in its state.
const defaultMaxOutput = 1 << 20

// What Terraform keeps of an object's arguments, as the end of a sentence.
const (
	keptInState = "; Terraform's state has it."
	keptInPlan  = "; a saved plan has it."
	keptNowhere = ", nor in Terraform's plan and state."
)

// execAttributes are the arguments and the results of a command in a sandbox.
func execAttributes(kept string) map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{"sandbox_id": sandboxIDArgument()}
	maps.Copy(attributes, commandArguments(kept))
	maps.Copy(attributes, commandResults())

	return attributes
}

// commandArguments are what a command is told, the same wherever one can be
// run.
func commandArguments(kept string) map[string]schema.Attribute {
	return nestedCommandArguments(kept, path.MatchRoot("script"))
}

// nestedCommandArguments are the same for a command in an object of its own,
// where the argument script has another path.
func nestedCommandArguments(kept string, script path.Expression) map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"command": schema.ListAttribute{
			MarkdownDescription: "Program and its arguments, for example `[\"python3\", \"main.py\"]`. They are passed on exactly as they are; " +
				"no shell reads them, so `*`, `$` and `;` mean nothing. Linux allows each 131071 bytes. Exactly one of `command` and `script` is needed.",
			ElementType: types.StringType,
			Optional:    true,
			Validators:  append(words(), listvalidator.ExactlyOneOf(script)),
		},
		"script": schema.StringAttribute{
			MarkdownDescription: "Text of a script. It is put into a private file in the sandbox, whose path the interpreter gets as its last " +
				"argument, and deleted afterwards. Interpreter, script, environment and `stdin` together may have 8388608 bytes (8 MiB); " +
				"put what is larger into a file.",
			Optional:   true,
			Validators: []validator.String{longText(bridge.MaxCommandBytes)},
		},
		"interpreter": schema.ListAttribute{
			MarkdownDescription: "Program that runs `script`, with its arguments; only with `script`. Default: `[\"bash\", \"-e\"]`, which ends " +
				"the script at the first command that fails.",
			ElementType: types.StringType,
			Optional:    true,
			Validators:  append(words(), listvalidator.AlsoRequires(script)),
		},
		"working_dir": schema.StringAttribute{
			MarkdownDescription: "Directory to run in: an absolute path, or one relative to `/workspace`. It has to exist. " +
				"Default: the provider's `working_dir`.",
			Optional:   true,
			Validators: []validator.String{anyDirectory()},
		},
		"environment": schema.MapAttribute{
			MarkdownDescription: "Environment variables, on top of the provider's `environment`. A `null` leaves one of the provider's out. " +
				"Linux allows each 131071 bytes, with its name. " +
				"None of it is in a command line or a log" + kept,
			ElementType: types.StringType,
			Optional:    true,
			Sensitive:   true,
			Validators:  environmentVariables(),
		},
		"stdin": schema.StringAttribute{
			MarkdownDescription: "Text for standard input. Without it standard input is empty. Together with what is to run and the environment it " +
				"may have 8388608 bytes (8 MiB); put what is larger into a file. None of it is in a command line or a log" + kept,
			Optional:   true,
			Sensitive:  true,
			Validators: []validator.String{longText(bridge.MaxCommandBytes)},
		},
		"timeout": schema.StringAttribute{
			MarkdownDescription: "Time limit, for example `90s`, of at most `24h`. When it is over, the command and all it started are ended, and the error shows " +
				"what was printed so far. Default: the provider's `timeout`, which is `5m` unless set.",
			Optional:   true,
			Validators: []validator.String{duration()},
		},
		"allow_non_zero_exit_code": schema.BoolAttribute{
			MarkdownDescription: "Whether an exit code other than 0 is a result rather than an error. Default: `false`.",
			Optional:            true,
		},
		"max_output_bytes": schema.Int64Attribute{
			MarkdownDescription: "How many bytes each of the two streams may have. More is an error; nothing is ever cut off silently. " +
				"From 1 to 8388608 (8 MiB). Default: 1048576 (1 MiB).",
			Optional:   true,
			Validators: []validator.Int64{int64validator.Between(1, bridge.MaxOutputBytes)},
		},
	}
}

// commandResults are what comes back from a command.
func commandResults() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"exit_code": schema.Int64Attribute{
			MarkdownDescription: "Exit code; 128 plus the number of the signal for a command ended by one, 127 for a program that was not found.",
			Computed:            true,
		},
		"stdout": schema.StringAttribute{
			MarkdownDescription: "What was printed to standard output, as text. Null when it is not UTF-8. Terraform brings all text into Unicode's " +
				"composed form (NFC); `stdout_base64` has the exact bytes in any case.",
			Computed: true,
		},
		"stderr": schema.StringAttribute{
			MarkdownDescription: "What was printed to standard error, as text. Null when it is not UTF-8.",
			Computed:            true,
		},
		"stdout_base64": schema.StringAttribute{
			MarkdownDescription: "The bytes of standard output, in base64.",
			Computed:            true,
		},
		"stderr_base64": schema.StringAttribute{
			MarkdownDescription: "The bytes of standard error, in base64.",
			Computed:            true,
		},
	}
}
