package com.acme.kt.live

import java.io.Serializable
import java.math.BigDecimal
import java.util.EnumMap
import java.util.EnumSet
import java.util.UUID

typealias Names = Map<String, List<String?>>

enum class Kind(val code: Int) {
    PLAIN(1),
    LOUD(2) {
        override fun say(text: String) = text.uppercase()
    };

    open fun say(text: String) = text
}

/** Both classes have a field `name`. */
open class Base(open val name: String, val number: Long) : Serializable

class Derived(override val name: String, number: Long, var more: String?) : Base("base of $name", number)

data class Flags(val isActive: Boolean, val is_open: Boolean?, val aName: String, val URL: String, val `two words`: Int) :
    Serializable

data class Numbers(
    val byte: Byte,
    val short: Short?,
    val char: Char,
    val float: Float,
    val double: Double?,
    val long: Long?,
    val decimal: BigDecimal,
    val nullables: List<Int?>,
    val longs: LongArray,
    val boxes: Array<Long>,
    val grid: Array<IntArray>,
    val kinds: Array<Kind>,
) : Serializable

sealed interface Node<out T> : Serializable {
    data class Leaf<out T>(val value: T, val kind: Kind = Kind.LOUD) : Node<T>

    data class Fork<out T>(val left: Node<T>, val right: Node<T>, val at: Pair<Int, Long>) : Node<T>

    data object Nil : Node<Nothing>
}

@JvmInline
value class Cents(val cents: Long) : Serializable

@JvmInline
value class Labelled(val flags: Flags) : Serializable

data class Bill(
    val due: Cents,
    val paid: Cents?,
    val all: List<Cents>,
    val byKind: Map<Kind, Cents>,
    val label: Labelled,
    val labels: List<Labelled>,
) : Serializable

data class Spans(val long: LongRange, val step: IntProgression, val closed: ClosedRange<Int>, val regex: Regex?) : Serializable

data class Tables(
    val names: Names,
    val byKind: EnumMap<Kind, List<Pair<String, Int>>>,
    val kinds: EnumSet<Kind>,
    val sorted: java.util.SortedMap<String, Triple<Int, String?, Kind>>,
    val linked: LinkedHashSet<UUID>,
    val nested: Map<String, Map<Int, Set<Long>>>,
    val any: Any?,
) : Serializable

class Outer(val id: Int) : Serializable {
    inner class Inner(val part: String) : Serializable

    class Nested(val part: String) : Serializable

    val inner = Inner("part of $id")
    var nested: Nested? = null
    @JvmField var open: String = "field"
    internal val hidden: String = "hidden"
    private var secret = mutableListOf(1, 2)
    protected val guarded: Kind = Kind.PLAIN
}

abstract class Animal(val legs: Int) : Serializable {
    abstract val sound: String
}

class Dog(override val sound: String) : Animal(4)

object Cat : Animal(4) {
    override val sound = "meow"

    private fun readResolve(): Any = Cat
}

class Box<T : Comparable<T>>(val content: T, val many: List<T>, val maker: Array<T>?) : Serializable

data class Boxes(val number: Box<Int>, val text: Box<String>, val kind: Box<Kind>, val any: Box<*>) : Serializable

/** It has the list that it is a list by in a field of its own. */
class Tags(private val list: ArrayList<String>) : Serializable {
    val first get() = list.first()
}

private val FLAGS = Flags(true, null, "a", "https://x", 2)

/** By name. Each stands in a list, because Jackson gives an object of a final class no name otherwise. */
fun samples(): Map<String, Any> = linkedMapOf(
    "derived" to Derived("d", 5, null),
    "base" to Base("b", 5_000_000_000),
    "flags" to FLAGS,
    "numbers" to Numbers(
        1, 2, 'x', 1.5f, 2.5, 5, BigDecimal("1.50"), listOf(1, null, 3), longArrayOf(1, 2), arrayOf(3L, 4L),
        arrayOf(intArrayOf(1), intArrayOf()), arrayOf(Kind.LOUD, Kind.PLAIN),
    ),
    "nulls" to Numbers(1, null, 'x', 0f, null, null, BigDecimal.TEN, emptyList(), longArrayOf(), arrayOf(), arrayOf(), arrayOf()),
    "tree" to Node.Fork(Node.Leaf("a"), Node.Fork(Node.Nil, Node.Leaf("b", Kind.PLAIN), 1 to 2L), 3 to 4L),
    "tree-of-flags" to Node.Fork(Node.Leaf(FLAGS), Node.Nil, 3 to 4L),
    "tree-of-kinds" to Node.Leaf(Kind.LOUD),
    "nil" to Node.Nil,
    "cents" to Cents(5),
    "bill" to Bill(Cents(1), Cents(2), arrayListOf(Cents(3)), hashMapOf(Kind.LOUD to Cents(4)), Labelled(FLAGS), arrayListOf(Labelled(FLAGS))),
    "bill-nulls" to Bill(Cents(1), null, emptyList(), emptyMap(), Labelled(FLAGS), listOf()),
    "spans" to Spans(1L..5L, 1..9 step 2, 1..3, null),
    "spans-regex" to Spans(LongRange.EMPTY, 9 downTo 1, IntRange.EMPTY, Regex("a+", RegexOption.IGNORE_CASE)),
    "tables" to Tables(
        mapOf("a" to listOf("b", null), "c" to emptyList()),
        EnumMap(mapOf(Kind.LOUD to listOf("a" to 1), Kind.PLAIN to emptyList())),
        EnumSet.of(Kind.LOUD),
        sortedMapOf("b" to Triple(1, null, Kind.LOUD), "a" to Triple(2, "x", Kind.PLAIN)),
        linkedSetOf(UUID(1, 2), UUID(0, 1)),
        mapOf("a" to mapOf(1 to setOf(1L, 2L)), "b" to emptyMap()),
        listOf(1 to 'c', Kind.LOUD),
    ),
    "tables-empty" to Tables(emptyMap(), EnumMap(Kind::class.java), EnumSet.noneOf(Kind::class.java), sortedMapOf(), linkedSetOf(), emptyMap(), null),
    "outer" to Outer(5).also { it.nested = Outer.Nested("n") },
    "inner" to Outer(6).Inner("i"),
    "dog" to Dog("wow"),
    "cat" to Cat,
    "animals" to arrayListOf<Animal>(Dog("a"), Cat, Dog("b")),
    "box" to Box(5, listOf(1, 2), arrayOf(3)),
    "boxes" to Boxes(Box(1, listOf(2), null), Box("a", emptyList(), null), Box(Kind.LOUD, listOf(Kind.PLAIN), null), Box(5L, listOf(6L), null)),
    "tags" to Tags(arrayListOf("a", "b")),
    "indexed" to listOf("a", "b").withIndex().toList(),
    "grouped" to listOf("a", "bb", "cc").groupBy { it.length },
    "associated" to listOf("a", "bb").associateWith { it.length to Kind.LOUD },
    "partition" to listOf(1, 2, 3).partition { it > 1 },
    "zipped" to listOf("a", "b").zip(listOf(1L, 2L)),
    "chunked" to (1..5).toList().chunked(2),
    "windowed" to (1..4).toList().windowed(2),
    "sub-list" to arrayListOf(1, 2, 3).subList(0, 2).toList(),
    "sorted" to listOf(3, 1, 2).sortedDescending(),
    "to-set" to listOf(3, 1, 3).toSet(),
    "mutable" to mutableMapOf("a" to mutableSetOf(1, 2), "b" to mutableSetOf()),
    "exception" to IllegalStateException("late", NoSuchElementException("none")),
    "texts" to arrayListOf("LOUD", Kind.LOUD, "PLAIN", Kind.PLAIN, "LOUD"),
).mapValues { arrayListOf(it.value) }
