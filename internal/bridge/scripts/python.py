# Runs a snippet of Python in a process of its own, and tells what became of it. Python 3.8 and its standard library.
#
# python.go ends this file with a call of main that has the snippet in it. The only argument is the path of the reply,
# since standard output and standard error belong to the snippet. The reply is made, empty, before the snippet starts.
# Once the snippet has ended it holds, for each field there is,
#   NAME SIZE
#   CONTENT
# with SIZE in bytes of UTF-8, and "end" on the last line. The fields are
#   result, result_json      the value of the last expression: its repr, and its JSON where it has one
#   name, value, traceback   the exception that the snippet ended with
#   oversize                 "NAME SIZE" of the result that is over the limit; then there is no other field
# What comes before the check of the version has to be readable for older ones, so that they can say what they are.

import sys

if sys.version_info < (3, 8):
    sys.exit("Python 3.8 or later is needed, and this is Python %d.%d" % sys.version_info[:2])

import __future__
import ast
import base64
import builtins
import io
import json
import linecache
import os
import select
import traceback

FILE = "<code>"
FUTURE_FLAGS = 0
for feature in __future__.all_feature_names:
    FUTURE_FLAGS |= getattr(__future__, feature).compiler_flag

# In characters, far above what anybody reads.
MAX_NAME, MAX_VALUE, MAX_TRACEBACK = 200, 16 << 10, 48 << 10


class Stream(io.FileIO):
    """A file that is written at once and wholly, as neither a raw nor a buffered one is.

    What is printed is then in order with the output of child processes, and is not lost when the process is killed. A
    raw file may take a part only: when a signal comes, or when a child process has made the pipe non-blocking.
    """

    def write(self, data):
        rest = memoryview(data)
        size = rest.nbytes
        if size == 0:
            return 0
        rest = rest.cast("B")
        while rest:
            written = super().write(rest)
            if written is None:
                select.select([], [self], [])
            else:
                rest = rest[written:]
        return size


def unbuffered(stream):
    raw = Stream(stream.fileno(), "w", closefd=False)
    raw.name = stream.name
    text = io.TextIOWrapper(raw, encoding=stream.encoding, errors=stream.errors, newline="\n", write_through=True)
    text.mode = "w"
    return text


def enter(code):
    """Makes the surroundings those of "python -c", and returns the namespace to run in."""
    main = type(sys)("__main__")
    main.__builtins__ = builtins
    # Not a name in the namespace of this file: pickle, dataclasses and others look into the module.
    sys.modules["__main__"] = main
    sys.argv = [FILE]
    # The directory of this file; not there in safe-path mode.
    if sys.path and sys.path[0] == os.path.dirname(os.path.realpath(__file__)):
        sys.path[0] = ""
    sys.stdout = sys.__stdout__ = unbuffered(sys.stdout)
    sys.stderr = sys.__stderr__ = unbuffered(sys.stderr)
    # Without a time of change, so that nobody looks for the file.
    linecache.cache[FILE] = (len(code), None, lines(code), FILE)
    return main.__dict__


def lines(code):
    """The lines as Python counts them: str.splitlines would also split at a form feed."""
    found = code.split("\n")
    return [line + "\n" for line in found]


def parse(code):
    """Compiles the snippet: what to execute, and the expression at its end whose value is the result, if there is one."""
    # Not ast.parse, which would be in the traceback.
    tree = compile(code, FILE, "exec", ast.PyCF_ONLY_AST, True)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body.pop()
    try:
        body = compile(tree, FILE, "exec", 0, True)
        if last is not None:
            last = compile(ast.Expression(last.value), FILE, "eval", body.co_flags & FUTURE_FLAGS, True)
    except SyntaxError as error:
        # Of what is compiled from a tree, Python does not know the text.
        if error.text is None and error.lineno:
            error.text = linecache.getline(FILE, error.lineno)
        raise
    return body, last


def describe(value, limit):
    """The fields for a value."""
    if value is None:
        return {}
    fields = {"result": encode(repr(value))}
    text = to_json(value)
    if text is not None:
        fields["result_json"] = text
    for name, content in fields.items():
        if len(content) > limit:
            return {"oversize": encode("%s %d" % (name, len(content)))}
    return fields


def to_json(value):
    """JSON that every reader understands and that has all of the value, or None."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        json.loads(text, object_pairs_hook=distinct)
        return text.encode("utf-8")
    except Exception:
        return None


def distinct(pairs):
    """1 and "1" are two keys in Python, and the same one in JSON."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def explain(error, trace):
    """The fields for an exception."""
    if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int) and error.code == 0):
        return {}
    fields = {"name": clip(type(error).__name__, MAX_NAME), "value": b"", "traceback": b""}
    # An exception may have methods of its own, which may fail.
    try:
        told = traceback.TracebackException(type(error), error, trace)
        fields["value"] = clip(str(told), MAX_VALUE)
        fields["traceback"] = clip("".join(told.format()), MAX_TRACEBACK)
    except Exception:
        fields["traceback"] = fields["name"] + b": its traceback cannot be shown\n"
    return fields


def clip(text, limit):
    if len(text) > limit:
        half = limit // 2
        text = "%s\n[... %d characters are left out here ...]\n%s" % (text[:half], len(text) - 2 * half, text[-half:])
    return encode(text)


def encode(text):
    # str.encode, since a repr may be of a class derived from str.
    return str.encode(text, "utf-8", "backslashreplace")


def snippets_own(trace):
    """The traceback without the frames of this file: those that start the snippet, and Stream.write."""
    while ours(trace):
        trace = trace.tb_next
    last = trace
    while last is not None:
        if ours(last.tb_next):
            last.tb_next = None
        last = last.tb_next
    return trace


def ours(trace):
    return trace is not None and trace.tb_frame.f_globals is globals()


def tell(path, fields):
    reply = Stream(path, "w")
    for name, content in fields.items():
        reply.write(b"%s %d\n%s\n" % (name.encode(), len(content), content))
    reply.write(b"end\n")
    reply.close()


def end_child(error, trace):
    """Ends a process that the snippet has forked off and let run to its end: the way Python would, without a reply."""
    if isinstance(error, SystemExit):
        raise error
    traceback.print_exception(type(error), error, trace)
    sys.exit(1)


def main(encoded, limit):
    path, process = sys.argv[1], os.getpid()
    Stream(path, "w").close()
    # A byte order mark is no part of a program, and of line ends there is one kind.
    code = base64.b64decode(encoded).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    namespace = enter(code)
    try:
        body, last = parse(code)
        exec(body, namespace)
        fields = describe(None if last is None else eval(last, namespace), limit)
    except BaseException as error:
        trace = snippets_own(error.__traceback__)
        if os.getpid() != process:
            end_child(error, trace)
        fields = explain(error, trace)
    # A process that the snippet has forked off comes here, too.
    if os.getpid() == process:
        tell(path, fields)
