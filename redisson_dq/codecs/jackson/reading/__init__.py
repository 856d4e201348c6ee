"""From nodes to values: the parsed tree of a format, with the names of classes that Redisson's Jackson writes.

===========  ===========================================================================================
dispatch     the reader of one value: which class a node is of, and which room reads it
containers   lists, sets, maps, arrays, views, collections of an enum
objects      objects of declared classes, exceptions
undeclared   objects of other classes, which ``unknown="generic"`` keeps
plans        how the ordinary nodes of a declared type are read, found once for each type
doubts       why a value may be written to other bytes than it was read from
protocol     the reader as the rooms see it
===========  ===========================================================================================

No class is looked up by its name beyond the tables and the declared classes. Any other class is refused, and named.
"""
