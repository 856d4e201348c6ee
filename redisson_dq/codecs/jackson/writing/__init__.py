"""From values to nodes, as Redisson's Jackson writes them, with the names of the classes.

A bare number is an Integer or a Double, a bare string a String. Any other value has the name of its class. As
the whole value, Jackson writes a value of a final class without its name, and cannot read most of them back. This codec
writes it as inside a list, which every Redisson reads right. Only Short, Byte, Character and Float are bare, as in
Jackson. They come back as Integer, String and Double.

===========  ===========================================================================================
dispatch     the writer of one value: its class's name, scalars, objects, exceptions
containers   lists, sets, maps, arrays, the collections of an enum, classes that extend a collection
keys         the names of a map's entries
protocol     the writer as the rooms see it
===========  ===========================================================================================
"""
