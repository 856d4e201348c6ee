package com.acme.kt

import java.io.Serializable

data class Geo(val lat: Double, val lon: Double) : Serializable

enum class Level { LOW, HIGH }

/** Two constants have bodies: each is of a class of its own, `Lvl$HIGH`. */
enum class Lvl {
    HIGH {
        override fun weight() = 2
    },
    LOW {
        override fun weight() = 1
    },
    NONE;

    open fun weight() = 0
}

enum class Sign : Comparator<Int> {
    PLUS {
        override fun compare(one: Int, other: Int) = one.compareTo(other)
    },
    MINUS {
        override fun compare(one: Int, other: Int) = other.compareTo(one)
    };

    val half = 0.5
}

data class Line(val sku: String, val count: Int = 1, val note: String? = null) : Serializable

data class Order(
    val id: Long,
    val lines: List<Line> = emptyList(),
    val tags: Set<String> = emptySet(),
    val prices: Map<String, Double> = emptyMap(),
    val level: Level = Level.LOW,
    val lvl: Lvl = Lvl.NONE,
    val parent: Int? = null,
) : Serializable {
    val size get() = lines.size
    var state: String = "new"

    @Transient
    var cache: Any? = null

    companion object {
        const val MAX = 10
    }
}

sealed class Event : Serializable {
    abstract val at: Long

    data class Placed(override val at: Long, val order: Order) : Event()

    data class Cancelled(override val at: Long, val reason: String?) : Event()

    data object Never : Event() {
        override val at get() = 0L
    }

    object Reset : Event() {
        override val at get() = 1L

        private fun readResolve(): Any = Reset
    }

    /** Java's serialization makes another one of it. */
    object Doubled : Event() {
        override val at get() = 2L
    }
}

sealed interface Shape : Serializable

data class Circle(val radius: Double) : Shape

open class Square(val side: Int) : Shape {
    override fun equals(other: Any?) = other is Square && side == other.side

    override fun hashCode() = side
}

data class Drawing(val main: Shape, val all: List<Shape>, val byName: Map<String, Shape>, val best: Circle?) :
    Serializable

sealed class Outcome<out T> : Serializable {
    data class Ok<out T>(val value: T, val more: List<T>) : Outcome<T>()

    data class Err(val error: String) : Outcome<Nothing>()
}

data class Report(
    val geo: Outcome<Geo>,
    val level: Outcome<Level>,
    val pair: Pair<Geo, Level>,
    val triple: Triple<String, Long, Geo>?,
    val outcomes: List<Outcome<Level>>,
) : Serializable

@JvmInline
value class Id(val value: String) : Serializable

data class Account(
    val id: Id,
    val balance: UInt,
    val total: ULong,
    val small: UByte,
    val maybe: Id?,
    val left: UInt?,
    val ids: List<Id>,
    val counts: List<UInt>,
) : Serializable

class Lazily(val seed: Int) : Serializable {
    val known: String by lazy { "seed $seed" }

    override fun equals(other: Any?) = other is Lazily && seed == other.seed && known == other.known

    override fun hashCode() = seed
}

data class Attempt(val result: Result<Geo>) : Serializable

data class Ranges(val range: IntRange, val chars: CharRange, val duration: kotlin.time.Duration, val unit: Unit) :
    Serializable

data class Feed(val posts: ArrayDeque<String>, val any: Any?)

class Late {
    lateinit var name: String
    var any: Any? = null
    val list = mutableListOf<String>()

    override fun equals(other: Any?) = other is Late && name == other.name && any == other.any && list == other.list

    override fun hashCode() = 1
}
