"""The line of callers that wait for values, and the commands of their connection: decisions without I/O.

Here belong the line of callers, the table of the blocking pop with its engine, and the debts of lost replies. Time is
an argument. The mutex, the inbox and the promises are handed in. Commands, connections and background tasks belong in
``_async/receiving/``, which carries out the decisions.
"""
