"""The line of callers that wait for values, and the commands of their connection: decisions without I/O.

Here belong the line of callers, the tables of the ways to wait with their engines, and the debts of lost replies. The
pop table is for a source with a connection of its own, the watch table for sources that share one. The rounds table is
for a line whose sources have connections of their own. Time is an argument. The mutex, the inbox and the promises are
handed in. Commands, connections and background tasks belong in ``_async/receiving/``, which carries out the decisions.
"""
