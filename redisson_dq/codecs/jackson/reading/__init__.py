"""From nodes to values: the parsed tree of a format, with the names of classes that Redisson's Jackson writes.

===========  ===========================================================================================
dispatch     the reader of one value: finds the class of a node and the module that reads it
containers   lists, sets, maps, arrays, views, collections of an enum
objects      objects of declared classes, exceptions
undeclared   objects of other classes, which ``unknown="generic"`` keeps
plans        how the ordinary nodes of a declared type are read, worked out once for each type
doubts       reasons why a value may be written to other bytes than it was read from
protocol     the reader as the other modules see it
===========  ===========================================================================================

Classes are looked up only in the tables and among the declared classes. Any other class is refused; the error names it.
"""
