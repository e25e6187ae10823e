package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// pythonDescription is what both faces have to say.
const pythonDescription = "\n\nEach time, the code runs in a fresh interpreter and a process of its own, as a main program (`__name__` is " +
	"`\"__main__\"`) in the file `<code>`; modules are looked for in the working directory first, as with `python3 -c`. " +
	"What it and its child processes print is returned exactly, and in order. Python ends when the code has come to its end, its threads " +
	"have ended and its `atexit` functions have run; processes that the code leaves in the background are not waited for.\n\n" +
	"`sys.exit()` and `sys.exit(0)` end the code well, without a result; any other exit is an error named `SystemExit`. " +
	"At the top level `await` is not allowed, as in any program: use `asyncio.run`.\n\n" +
	"The sandbox's image has to have Python 3.8 or later. Cloudflare's default image has none; the one whose tag ends in `-python` has."

// pythonAttributes are the arguments and the results of a snippet.
func pythonAttributes(kept string) map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{
		"sandbox_id": sandboxIDArgument(),
		"code": schema.StringAttribute{
			MarkdownDescription: "Python code. If it ends with an expression, the value of that is the result. It may have 6000000 bytes, " +
				"less where `environment` and `stdin` are large. None of it is in a command line or a log" + kept,
			Required:   true,
			Validators: []validator.String{longText(bridge.MaxPythonCodeBytes)},
		},
		"python_executable": schema.StringAttribute{
			MarkdownDescription: "Python interpreter in the sandbox, a name or a path, for example that of a virtual environment. " +
				"Default: the provider's `python_executable`, which is `python3` unless set.",
			Optional:   true,
			Validators: []validator.String{argument()},
		},
		"max_output_bytes": schema.Int64Attribute{
			MarkdownDescription: "How many bytes each of `stdout`, `stderr`, `result` and `result_json` may have. More is an error; nothing is ever " +
				"cut off silently. From 1 to 4194304 (4 MiB). Default: 1048576 (1 MiB).",
			Optional:   true,
			Validators: []validator.Int64{int64validator.Between(1, bridge.MaxPythonOutputBytes)},
		},
		"allow_error": schema.BoolAttribute{
			MarkdownDescription: "Whether an exception that the code does not catch is a result, to be found in `error`, rather than an error. " +
				"Default: `false`.",
			Optional: true,
		},
		"result": schema.StringAttribute{
			MarkdownDescription: "The value of the expression at the end of the code, as Python's `repr` writes it. Null when the code does not end " +
				"with an expression, or its value is `None`.",
			Computed: true,
		},
		"result_json": schema.StringAttribute{
			MarkdownDescription: "The same value in JSON, for `jsondecode`. Null when it has no such form: sets, bytes, `NaN`, objects of most " +
				"classes, keys that would be the same in JSON.",
			Computed: true,
		},
		"error": pythonErrorAttribute(),
	}

	arguments, results := commandArguments(kept), commandResults()
	for _, name := range []string{"working_dir", "environment", "stdin", "timeout"} {
		attributes[name] = arguments[name]
	}
	for _, name := range []string{"stdout", "stderr", "stdout_base64", "stderr_base64"} {
		attributes[name] = results[name]
	}

	return attributes
}

func pythonErrorAttribute() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "What the code ended with, if `allow_error` is `true`. Null when it ended well.",
		Computed:            true,
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				MarkdownDescription: "Name of the exception's class, for example `ValueError`. `ProcessEnded` when the process ended without coming " +
					"to the end of the code: it was killed, or left by `os._exit`.",
				Computed: true,
			},
			"value": schema.StringAttribute{
				MarkdownDescription: "The exception as text; for `ProcessEnded`, how the process ended. Of more than 16,384 characters the middle " +
					"is left out, and in its place is said how much.",
				Computed: true,
			},
			"traceback": schema.StringAttribute{
				MarkdownDescription: "The traceback, as Python shows it, with the lines of the code. Of more than 49,152 characters the middle is left " +
					"out, and in its place is said how much. Empty for `ProcessEnded`.",
				Computed: true,
			},
		},
	}
}
