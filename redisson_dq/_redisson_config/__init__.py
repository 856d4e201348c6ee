"""Redisson's own files of settings: read as data, and taken over where they mean something here.

``reading`` makes plain values of a YAML or JSON file. ``known`` lists all of Redisson's settings. ``taking`` makes a
URL, options of redis-py and a codec. Nothing here makes a client. No object that a file names is made, but a codec of
this library.
"""

from redisson_dq._redisson_config.reading import RedissonConfig
from redisson_dq._redisson_config.taking import FileSettings, taken_from

__all__ = ["RedissonConfig", "FileSettings", "taken_from"]
