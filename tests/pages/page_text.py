"""What a page tells its reader to type, and what the page says comes out.

A `console` block is a session: lines after "$ " are commands, lines after "> " continue the command
above, all others are what the command prints to stdout, or to stderr if it prints nothing else. A command in the text stands in single backquotes and starts with
`./mrclab` or `build/mrc-...`, or with `sudo` and these; its output is not on the page, so only its exit code is known.

Comments that no reader sees change what is expected:

  <!-- varies: # ms; up in # s -->  page: numbers (#) at these places differ from run to run
  <!-- exit 1 -->                   next command in the text, or last command of the next block
  <!-- not run: why -->             next block, or next command in the text
  <!-- nightly: why -->             the same, but a nightly run includes it
  <!-- needs PROGRAM -->            the same: left out where PROGRAM is not installed

In output a line "..." stands for any number of lines, and "..." inside a line for any text. Where a line
has "..." or a number that varies, runs of spaces count as one: columns move with what stands in them.
"""

import dataclasses
import re

NUMBER = r"\d[\d,]*(?:\.\d+)?"
COMMENT = re.compile(r"<!--\s*(.*?)\s*-->")
SECOND_RUN = re.compile(r"(\bruns/\d{8}-\d{6}-[\w-]+)\.\d+\b")
INLINE = re.compile(r"`((?:sudo )?(?:\./mrclab|build/mrc-[a-z]+) [^`]+)`")


class PageError(Exception):
    """The page itself is wrong: line and reason."""


@dataclasses.dataclass
class Command:
    line: int
    text: str
    output: list | None  # lines; None: not on the page
    exit_code: int = 0
    needs_root: bool = False
    not_run: str = ""
    nightly: str = ""
    needs: str = ""


@dataclasses.dataclass
class Page:
    commands: list
    varying: list  # (regular expression, what stands for it)


def read_page(text):
    """The Page that a Markdown text is."""
    varying, commands, marks = [], [], {}
    block, block_line = None, 0
    for number, line in enumerate(text.splitlines(), 1):
        if block is not None:
            if line == "```":
                commands += marked(commands_of_block(block, block_line), marks)
                block, marks = None, {}
            else:
                block.append(line)
        elif line == "```console":
            block, block_line = [], number
        elif line == "```sh":
            raise PageError(f"line {number}: commands belong in a `console` block, with their output")
        else:
            marks = read_text_line(line, number, marks, commands, varying)
    if block is not None:
        raise PageError(f"line {block_line}: this block has no end")
    if marks:
        raise PageError(f"{marks} at the end belongs to no command")
    return Page(commands, varying)


def read_text_line(line, number, marks, commands, varying):
    """Takes the comments and commands of a line of text in their order; returns the marks left over."""
    for part in re.finditer(f"{COMMENT.pattern}|{INLINE.pattern}", line):
        if part[1] is None:
            command = Command(number, part[2], None, needs_root=part[2].startswith("sudo "))
            commands += marked([command], marks)
            marks = {}
        elif part[1].startswith("varies:"):
            varying += [varying_place(place.strip()) for place in part[1][7:].split(";")]
        else:
            marks = marks | mark_of(part[1], number)
    return marks


def mark_of(comment, number):
    if found := re.fullmatch(r"exit (\d+)", comment):
        return {"exit_code": int(found[1])}
    if found := re.fullmatch(r"(not run|nightly): (.+)", comment):
        return {found[1].replace(" ", "_"): found[2]}
    if found := re.fullmatch(r"needs (\S+)", comment):
        return {"needs": found[1]}
    raise PageError(f"line {number}: no such comment: {comment}")


def varying_place(place):
    """The regular expression of a place such as "time=# ms", and the place itself."""
    pattern = re.escape(place).replace(r"\#", NUMBER).replace(r"\ ", r"\s+")
    return re.compile(rf"(?<![\w.]){pattern}(?!\w)"), place


def marked(commands, marks):
    for command in commands:
        for name, value in marks.items():
            if name != "exit_code" or command is commands[-1]:
                setattr(command, name, value)
    return commands


def commands_of_block(lines, first):
    commands = []
    for number, line in enumerate(lines, first + 1):
        if line.startswith("$ "):
            commands.append(Command(number, line[2:], []))
        elif not commands:
            raise PageError(f"line {number}: output before any command")
        elif line.startswith("> ") and not commands[-1].output:
            commands[-1].text += "\n" + line[2:]
        else:
            commands[-1].output.append(line)
    needs_root = any(re.search(r"\bsudo ", command.text) for command in commands)
    for command in commands:
        command.needs_root = needs_root
        command.output = without_blank_ends(command.output)
    return commands


def without_blank_ends(lines):
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    return text.split("\n") if text else []


# ---- comparing -----------------------------------------------------------------------------------

def line_matches(expected, actual, varying):
    # Two runs may begin in the same second; then the folder of the later one ends in ".1".
    expected, actual = (SECOND_RUN.sub(r"\1", line.rstrip()) for line in (expected, actual))
    if expected == actual:
        return True
    for pattern, place in varying:
        expected = pattern.sub(lambda _: place, expected)
        actual = pattern.sub(lambda _: place, actual)
    expected, actual = " ".join(expected.split()), " ".join(actual.split())
    if "..." not in expected and not any(place in expected for _, place in varying):
        return False  # nothing varies here, and the lines differ
    parts = [re.escape(part.strip()) for part in expected.split("...")]
    return re.fullmatch(".*".join(parts), actual) is not None


def segments_of(expected):
    """Runs of lines between lines that are "..."."""
    segments = [[]]
    for line in expected:
        if line.strip() == "...":
            segments.append([])
        else:
            segments[-1].append(line)
    return segments


def first_place(segment, actual, start, end, varying):
    """Where in actual[start:end] a segment stands; None: nowhere."""
    for place in range(start, end - len(segment) + 1):
        if all(line_matches(e, a, varying) for e, a in zip(segment, actual[place:])):
            return place
    return None


def difference(expected, output, varying=()):
    """What of an output is not as expected, in words; empty if all is."""
    actual = without_blank_ends(output.split("\n"))
    segments = segments_of(expected)
    start, end = 0, len(actual)
    for index, segment in enumerate(segments):
        at_start, at_end = index == 0, index == len(segments) - 1
        if at_end and not at_start and segment:
            start = max(start, end - len(segment))
        last = start + len(segment) if at_start or at_end else end
        place = first_place(segment, actual, start, min(last, end), varying)
        if place is None:
            return unlike(segment, actual, start, at_start, varying)
        start = place + len(segment)
    if segments[-1] and start < end or len(segments) == 1 and start < end:
        return f'more output than the page has, from: "{actual[start]}"'
    return ""


def unlike(segment, actual, start, anchored, varying):
    for offset, line in enumerate(segment):
        there = actual[start + offset] if start + offset < len(actual) else None
        if anchored and (there is None or not line_matches(line, there, varying)):
            return f'expected "{line}", found ' + ("no more output" if there is None else f'"{there}"')
        if not anchored and not any(line_matches(line, a, varying) for a in actual[start:]):
            return f'expected "{line}", which is not in the rest of the output'
    return f'expected these lines one after the other, from "{segment[0]}"'
