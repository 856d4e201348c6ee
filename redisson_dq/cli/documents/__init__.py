"""The types of the JSON that ``--json`` prints, command by command.

A type is a TypedDict, or an attrs class of the library. The code that prints it is checked against it by mypy.
``cli/json_schemas.py`` derives the JSON Schemas from them, for ``redisson-dq schema`` and for the pages. No other
command imports these modules when it runs. ``docs/json.md`` says how times, spans, bytes and absent values are written.

``DOCUMENTS`` in ``table.py`` lists the commands. A field may be added to a type. Any other change needs the next
``SCHEMA`` in ``redisson_dq/cli/frame/_json.py``.
"""
