"""Reads Rust source as text.

Code without comments and strings, the modules of a crate, and what each imports.
"""
import os
import re

TEST_FILE = re.compile(r"(^|_)tests\.rs$|^(model|example|fixture)\.rs$|_model\.rs$")
TEST_ATTRIBUTE = re.compile(r"#\[cfg\((test|all\(test, [^\]]*\))\)\]\s*$")
PATH = re.compile(r"(?<![\w:$])(crate|super|self)((?:\s*::\s*\w+)+)")
USE = re.compile(r"(?:^|(?<=[\s;{}]))use\s+([^;]+);")


def blank(text):
    """The same text with comments and the contents of strings as spaces, so that places stay."""
    out, at, end = list(text), 0, len(text)

    def clear(begin, stop):
        for place in range(begin, stop):
            if out[place] != "\n":
                out[place] = " "

    while at < end:
        if text.startswith("//", at):
            stop = text.find("\n", at)
            stop = end if stop < 0 else stop
            clear(at, stop)
        elif text.startswith("/*", at):
            depth, stop = 1, at + 2
            while stop < end and depth:
                if text.startswith("/*", stop):
                    depth, stop = depth + 1, stop + 2
                elif text.startswith("*/", stop):
                    depth, stop = depth - 1, stop + 2
                else:
                    stop += 1
            clear(at, stop)
        elif raw := re.match(r'b?r(#*)"', text[at : at + 12]):
            if at and (text[at - 1].isalnum() or text[at - 1] == "_"):
                at += 1
                continue
            close = '"' + raw.group(1)
            stop = text.find(close, at + raw.end()) + len(close)
            clear(at + raw.end(), stop - len(close))
        elif text[at] == '"':
            stop = at + 1
            while text[stop] != '"':
                stop += 2 if text[stop] == "\\" else 1
            clear(at + 1, stop)
            stop += 1
        elif text[at] == "'":
            char = re.match(r"'(\\.[^']*|[^'\\])'", text[at : at + 14])
            stop = at + (char.end() if char else 1)
            if char:
                clear(at + 1, stop - 1)
        else:
            stop = at + 1
        at = stop
    return "".join(out)


def without_tests(code):
    """Blanked code with modules and items under `#[cfg(test)]` and the like as spaces."""
    lines, at = code.split("\n"), 0
    while at < len(lines):
        if not TEST_ATTRIBUTE.match(lines[at].strip()):
            at += 1
            continue
        depth = 0
        while True:
            line = lines[at]
            depth += line.count("{") + line.count("(") - line.count("}") - line.count(")")
            lines[at] = ""
            at += 1
            is_attribute = line.strip().startswith("#[")
            if at >= len(lines) or (depth <= 0 and not is_attribute and line.strip()):
                break
    return "\n".join(lines)


def code_lines(text):
    """Lines of code: not blank, no comment, no test."""
    return sum(1 for line in without_tests(blank(text)).split("\n") if line.strip())


def files(folder):
    """All files of Rust below a folder, but for tests, as paths relative to it."""
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ("target", "tests", "shuttle_tests", "model", "models"))
        for name in sorted(names):
            if name.endswith(".rs") and not TEST_FILE.search(name):
                yield os.path.relpath(os.path.join(at, name), folder)


def module(path):
    """The path of the module in a file: `idle.rs` is `("scheduler", "idle")`."""
    parts = path[: -len(".rs")].split("/")
    if parts[-1] in ("mod", "lib", "main"):
        parts.pop()
    return tuple(parts)


def leaves(tree):
    """The single paths of a `use`: `a::{b, c::D}` is `a::b` and `a::c::D`."""
    tree = re.sub(r"\s+", " ", tree).strip()
    if not tree:
        return
    open_at = tree.find("{")
    if open_at < 0:
        yield re.sub(r" as \w+$", "", tree).replace(" ", "")
        return
    head, depth, begin = tree[:open_at], 0, open_at + 1
    for at in range(open_at, len(tree)):
        depth += (tree[at] in "{") - (tree[at] in "}")
        if (tree[at] == "," and depth == 1) or depth == 0:
            for leaf in leaves(tree[begin:at]):
                yield (head + leaf).replace(" ", "")
            begin = at + 1
            if depth == 0:
                break


def inside(code, at):
    """The names of the modules within a file that a place lies in."""
    names, depth = [], 0
    for found in re.finditer(r"\bmod (\w+) \{|[{}]", code[:at]):
        if found.group(1):
            names.append((found.group(1), depth))
        depth += {"}": -1}.get(found.group(0), 1)
        while names and depth <= names[-1][1]:
            names.pop()
    return tuple(name for name, _ in names)


def absolute(path, here, modules):
    """A path of a file as a path from the crate's root, or None if it leads out of the crate."""
    parts = path.split("::")
    if parts[0] == "crate":
        return tuple(parts[1:])
    if parts[0] in ("self", "super"):
        base = list(here)
        while parts and parts[0] in ("self", "super"):
            if parts.pop(0) == "super":
                base and base.pop()
        return tuple(base) + tuple(parts)
    return here + tuple(parts) if here + (parts[0],) in modules else None


def imports(code, here, modules):
    """All absolute paths within the crate that a file's blanked code names, each with its line."""
    rest = code
    for use in USE.finditer(code):
        at = here + inside(code, use.start())
        for leaf in leaves(use.group(1)):
            if path := absolute(leaf, at, modules):
                yield path, code.count("\n", 0, use.start(1)) + 1
        rest = rest[: use.start()] + " " * len(use.group(0)) + rest[use.end() :]
    for path in PATH.finditer(rest):
        at = here + inside(code, path.start())
        words = path.group(1) + re.sub(r"\s", "", path.group(2))
        if found := absolute(words, at, modules):
            yield found, code.count("\n", 0, path.start()) + 1


def target(path, modules):
    """The module that a path leads into: its longest beginning that is a file."""
    while path and path not in modules:
        path = path[:-1]
    return path


def arrows(folder):
    """For each module of `src` those that it names, each with its first place: `(file, line)`."""
    paths = {module(path): path for path in files(folder)}
    found = {}
    for here, path in paths.items():
        with open(os.path.join(folder, path), encoding="utf-8") as file:
            code = without_tests(blank(file.read()))
        into = found.setdefault(here, {})
        for name, line in imports(code, here, paths):
            there = target(name, paths)
            if there != here:
                into.setdefault(there, (path, line))
    return found
