"""From values to nodes, as Redisson's Jackson writes them, with the names of the classes.

A bare number is an Integer or a Double, a bare string a String. Any other value has the name of its class. If the whole
value is of a final class, Jackson writes no class name, and cannot read most of these values back. This codec writes
them as inside a list, which every Redisson reads correctly. Only Short, Byte, Character and Float are bare, as in
Jackson. They come back as Integer, String and Double.

===========  ===========================================================================================
dispatch     the writer of one value: its class's name, scalars, objects, exceptions
containers   lists, sets, maps, arrays, the collections of an enum, classes that extend a collection
keys         the names of a map's entries
protocol     the writer as the other modules see it
===========  ===========================================================================================
"""
