package com.acme.kt

import com.fasterxml.jackson.module.kotlin.jacksonObjectMapper
import io.netty.buffer.ByteBufUtil
import io.netty.buffer.Unpooled
import java.io.File
import org.redisson.client.codec.Codec
import org.redisson.client.handler.State
import org.redisson.codec.JsonJacksonCodec
import org.redisson.codec.TypedJsonJacksonCodec

private val CODECS = listOf(
    "Kryo5Codec", "JsonJacksonCodec", "JsonJackson3Codec", "SerializationCodec", "MsgPackJacksonCodec",
    "CborJacksonCodec", "SmileJacksonCodec", "IonJacksonCodec", "JsonJacksonCodec+KotlinModule",
)
private val GEO = Geo(52.5, 13.4)
private val ORDER = Order(5, listOf(Line("A", 2, "n"), Line("B")), setOf("x", "y"), mapOf("A" to 1.5, "B" to 2.0), Level.HIGH, Lvl.HIGH, 7)

/** By name: what Kotlin's own classes and functions make. */
private val SAMPLES: Map<String, Any?> = linkedMapOf(
    "empty-list" to emptyList<Any>(),
    "empty-set" to emptySet<Any>(),
    "empty-map" to emptyMap<Any, Any>(),
    "empties" to arrayListOf(emptyList<Any>(), emptySet<Any>(), emptyMap<Any, Any>(), emptyList<Any>()),
    "list-of-one" to listOf("a"),
    "list-of-two" to listOf("a", 1),
    "set-of-one" to setOf("a"),
    "set-of-two" to setOf("a", "b"),
    "map-of-one" to mapOf("a" to 1),
    "map-of-two" to mapOf("a" to 1, "b" to 2),
    "build-list" to buildList { add("a"); add(1) },
    "build-set" to buildSet { add("a"); add("b") },
    "build-map" to buildMap { put("a", 1); put("b", 2) },
    "array-deque" to ArrayDeque(listOf("a", "b")),
    "reversed" to mutableListOf("a", "b").asReversed(),
    "enum-entries" to Level.entries,
    "enum" to Level.HIGH,
    "enum-body" to Lvl.HIGH,
    "enum-no-body" to Lvl.NONE,
    "enum-bodies" to arrayListOf(Lvl.HIGH, Lvl.LOW, Lvl.HIGH, Lvl.NONE, Sign.MINUS),
    "enum-keys" to hashMapOf("a" to Lvl.LOW),
    "order" to ORDER,
    "order-defaults" to Order(1),
    "order-one" to Order(2, listOf(Line("A")), setOf("x"), mapOf("A" to 1.0), lvl = Lvl.LOW),
    "placed" to Event.Placed(9, Order(3)),
    "cancelled" to Event.Cancelled(8, null),
    "data-object" to Event.Never,
    "object" to Event.Reset,
    "object-doubled" to Event.Doubled,
    "events" to arrayListOf(Event.Cancelled(1, "late"), Event.Never, Event.Reset),
    "drawing" to Drawing(Circle(1.5), listOf(Circle(1.0), Square(2)), mapOf("s" to Square(3)), Circle(2.0)),
    "report" to Report(
        Outcome.Ok(GEO, arrayListOf(GEO)), Outcome.Ok(Level.HIGH, emptyList()), Pair(GEO, Level.LOW),
        Triple("a", 5L, GEO), arrayListOf(Outcome.Err("late"), Outcome.Ok(Level.LOW, arrayListOf(Level.HIGH))),
    ),
    "pair" to ("a" to 1),
    "triple" to Triple("a", 5L, GEO),
    "value-class" to Id("i"),
    "account" to Account(Id("i"), 4_000_000_000u, 5u, 200u, Id("m"), 6u, arrayListOf(Id("x")), arrayListOf(7u)),
    "account-nulls" to Account(Id("i"), 1u, 2u, 3u, null, null, arrayListOf(), arrayListOf()),
    "uint" to 4_000_000_000u,
    "lazily" to Lazily(3).also { it.known },
    "lazily-not-yet" to Lazily(4),
    "attempt" to Attempt(Result.success(GEO)),
    "result" to Result.success(GEO),
    "ranges" to Ranges(1..5, 'a'..'c', kotlin.time.Duration.parse("1.5s"), Unit),
    "late" to Late().also { it.name = "n"; it.any = GEO; it.list += "a" },
    "feed" to Feed(ArrayDeque(listOf("a", "b")), ArrayDeque(listOf(GEO))),
    "regex" to Regex("a+"),
)

private fun codec(name: String): Codec = when {
    name == "JsonJacksonCodec+KotlinModule" -> JsonJacksonCodec(jacksonObjectMapper())
    name == "TypedJsonJacksonCodec+KotlinModule" ->
        TypedJsonJacksonCodec(TYPES.getValue(typed), jacksonObjectMapper())
    else -> Class.forName("org.redisson.codec.$name").getConstructor().newInstance() as Codec
}

/** The sample that TypedJsonJacksonCodec is for. */
private var typed = ""
private val TYPES = mapOf(
    "order" to Order::class.java, "order-defaults" to Order::class.java, "account" to Account::class.java,
    "account-nulls" to Account::class.java, "attempt" to Attempt::class.java, "cancelled" to Event.Cancelled::class.java,
)

private fun text(value: String) = "\"" + value.replace("\\", "\\\\").replace("\"", "\\\"") + "\""

private fun row(name: String, sample: String, value: Any?): String {
    val fields = linkedMapOf("codec" to text(name), "name" to text(sample), "javaType" to text(value!!.javaClass.name))
    try {
        val bytes = codec(name).valueEncoder.encode(value)
        fields["hex"] = text(ByteBufUtil.hexDump(bytes))
        try {
            val back = codec(name).valueDecoder.decode(Unpooled.copiedBuffer(bytes), State())
            fields["sameBack"] = (back == value && back.javaClass == value.javaClass).toString()
            if (back != null && back.javaClass != value.javaClass) fields["decodedAs"] = text(back.javaClass.name)
        } catch (e: Throwable) {
            fields["decodeError"] = text(e.javaClass.name)
        }
    } catch (e: Throwable) {
        fields["encodeError"] = text(e.javaClass.name)
    }
    return fields.entries.joinToString(", ", "{", "}") { "\"${it.key}\": ${it.value}" }
}

/** Prints the vectors: values, or the class files that are in a directory. */
fun main(arguments: Array<String>) {
    if (arguments.size == 1) {
        File(arguments[0]).walk().filter { it.extension == "class" && !it.name.startsWith("Main") && it.parentFile.name != "live" }.sorted().forEach {
            println("{\"file\": ${text(it.relativeTo(File(arguments[0])).path)}, \"hex\": ${text(ByteBufUtil.hexDump(it.readBytes()))}}")
        }
        return
    }
    for (name in CODECS) SAMPLES.forEach { (sample, value) ->
        println(row(name, sample, value))
        // As the whole value, Jackson leaves out the name of a final class, and Kotlin's are final.
        if ("Json" in name || "Jackson" in name) println(row(name, "in-list/$sample", arrayListOf(value)))
    }
    TYPES.keys.forEach {
        typed = it
        println(row("TypedJsonJacksonCodec+KotlinModule", it, SAMPLES[it]))
    }
}
