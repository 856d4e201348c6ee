"""What the fields of a generated class begin as: the simple values that a Java constructor without arguments gives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from redisson_dq.cli import main
from tests.conftest import by_night, environment
from tests.peer import JAVAC

SOURCE = r"""
package start;

import java.math.BigDecimal;
import java.util.*;
import java.util.concurrent.*;

public class Initial implements java.io.Serializable {
    public enum Status { NEW, DONE { @Override public int x() { return 1; } }; public int x() { return 0; } }
    enum A { ONE }
    private List<String> list = new ArrayList<>();
    private List<String> sized = new ArrayList<>(100);
    private Set<Integer> set = new HashSet<>();
    private Set<Integer> ordered = new LinkedHashSet<>();
    private Map<String, Long> map = new ConcurrentHashMap<>();
    private SortedMap<String, Long> sorted = new TreeMap<>();
    private SortedSet<String> sortedSet = new TreeSet<>();
    private LinkedList<String> linked = new LinkedList<>();
    private Deque<String> deque = new ArrayDeque<>();
    private Collection<String> collection = new HashSet<>();
    private List<String> of = List.of();
    private Set<String> none = Collections.emptySet();
    private int small = 42, large = 1_000_000, below = -7, short_ = 300;
    private long wide = 5_000_000_000L;
    private Long box = 7L;
    private boolean flag = true;
    private Boolean boxedFlag = Boolean.TRUE;
    private Boolean valueOf = false;
    private char letter = 'x';
    private Character euro = '\u20ac';
    private char zero = 0;
    private float tenth = 0.1f;
    private Float half = 0.5f;
    private double twoAndAHalf = 2.5;
    private String text = "he\"l'lo\n\u20ac";
    private String quoted = "\"";
    private A early = A.ONE;
    private Status status = Status.NEW;
    private String twice = "a";
    // Not known, or not simple.
    private Object object = new ArrayList<>();
    private List<String> filled = List.of("a");
    private UUID id = UUID.randomUUID();
    private BigDecimal decimal = new BigDecimal("1.5");
    private int[] array = {1, 2};
    private Date now = new Date(5);
    private TreeSet<String> reversed = new TreeSet<>(Comparator.reverseOrder());
    private List<String> anonymous = new ArrayList<>() {{ add("x"); }};
    private float nan = Float.NaN;
    private Initial self;
    private String chosen = System.nanoTime() > 0 ? "yes" : "no";
    private String behind = "behind a branch";

    public Initial() {
        twice = "b";
        if (System.nanoTime() > 0) {
            small = 43;
        }
    }

    public static class Straight {
        private UUID unknown = UUID.randomUUID();
        private String after = "after";
        private List<String> list = new ArrayList<>();

        public Straight() {
            list = null;
        }
    }

    public static class WithArgument {
        private int x = 5;

        public WithArgument(int x) {
            this.x = x;
        }
    }

    public static class Delegating {
        private int x = 5;

        public Delegating() {
            this(6);
        }

        public Delegating(int x) {
            this.x = x;
        }
    }

    public static class Below extends Straight {
        private String own = "own";
    }

    public static class AnyArgument extends WithArgument {
        private int y = 5;

        public AnyArgument() {
            super(1);
        }
    }

    public static class Other {
        private int x = 5;
        private String set;

        public Other(Other other) {
            other.set = "not this";
        }

        public Other() {
            Other made = new Other(this);
            made.x = 7;
        }
    }
}
"""

EXPECTED = r"""
    list_: list[str] | None = attrs.field(factory=list)
    sized: list[str] | None = attrs.field(factory=list)
    set_: set[int] | None = attrs.field(factory=set)
    ordered: set[int] | None = attrs.field(factory=set)
    map: dict[str, java.long] | None = attrs.field(factory=dict)
    sorted: SortedMap[str, java.long] | None = attrs.field(factory=dict)
    sortedSet: SortedSet[str] | None = attrs.field(factory=java.TreeSet)
    linked: java.LinkedList[str] | None = attrs.field(factory=java.LinkedList)
    deque: Deque[str] | None = attrs.field(factory=list)
    collection: Collection[str] | None = attrs.field(factory=set)
    of: list[str] | None = attrs.field(factory=list)
    none: set[str] | None = attrs.field(factory=set)
    small: int = 0
    large: int = 1000000
    below: int = -7
    short_: int = 300
    wide: java.long = 5000000000
    box: java.long | None = 7
    flag: bool = True
    boxedFlag: bool | None = True
    valueOf: bool | None = False
    letter: java.char = "x"
    euro: java.char | None = "€"
    zero: java.char = "\0"
    tenth: java.float = java.Float(0.1)
    half: java.float | None = 0.5
    twoAndAHalf: float = 2.5
    text: str | None = "he\"l'lo\n€"
    quoted: str | None = '"'
    early: A | None = attrs.field(factory=lambda: A.ONE)
    status: Status | None = attrs.field(factory=lambda: Status.NEW)
    twice: str | None = None
    object: Any = None
    filled: list[str] | None = None
    id: UUID | None = None
    decimal: Decimal | None = None
    array: java.IntArray | None = None
    now: java.JavaDate | None = None
    reversed: java.TreeSet[str] | None = None
    anonymous: list[str] | None = None
    nan: java.float = 0.0
    self_: Initial | None = None
    chosen: str | None = None
    behind: str | None = None
"""

#: By nested class: its fields.
NESTED = {
    "Straight": [
        "    unknown: UUID | None = None",
        '    after: str | None = "after"',
        "    list_: list[str] | None = None",
    ],
    "WithArgument": ["    x: int = 0"],
    "Delegating": ["    x: int = 6"],
    "Below(Straight)": ['    own: str | None = "own"'],
    "AnyArgument(WithArgument)": ["    y: int = 5", "    x: int = 1"],
    "Other": ["    x: int = 0", "    set_: str | None = None"],
}


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("start")
    (place / "Initial.java").write_text(SOURCE, "utf-8")
    command = [*JAVAC, "-encoding", "UTF-8", "-nowarn", "-d", str(place / "classes"), str(place / "Initial.java")]
    subprocess.run(command, check=True)
    return place / "classes"


@pytest.mark.parametrize("style", ["", by_night("--dataclasses"), "--pydantic"])
def test_fields_begin_as_in_java(classes: Path, tmp_path: Path, mypy_strict: list[str], style: str) -> None:
    made = tmp_path / "made.py"
    assert main(["generate-classes", str(classes), "start.*", *style.split(), "-o", str(made)]) == 0
    text = made.read_text("utf-8")
    lines = EXPECTED.strip("\n").splitlines()
    factory = {"": "attrs.field(factory=", "--dataclasses": "field(default_factory="}
    expected = [line.replace("attrs.field(factory=", factory.get(style, "Field(default_factory=")) for line in lines]
    base = "(BaseModel)" if style == "--pydantic" else ""
    assert text.split(f"\nclass Initial{base}:\n")[1].split("\n\n")[0].splitlines() == expected
    for head, fields in NESTED.items():
        here = head if "(" in head else head + base
        assert text.split(f"\nclass {here}:\n")[1].split("\n\n")[0].rstrip().splitlines() == fields
    code = (
        "import made; one, other = made.Initial(), made.Initial(); assert one.map is not other.map; print(one.status)"
    )
    for command in (
        [*mypy_strict, str(made)],
        ["-m", "ruff", "format", "--isolated", "--check", str(made)],
        ["-W", "error", "-c", code],
    ):
        environ = {**environment(), "PYTHONPATH": os.pathsep.join((str(tmp_path), environment().get("PYTHONPATH", "")))}
        run = subprocess.run([sys.executable, *command], capture_output=True, encoding="utf-8", env=environ)
        assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout == "Status.NEW\n"
