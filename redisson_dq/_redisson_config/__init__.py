"""Reads Redisson's own configuration files as data, and adopts the settings that have a meaning here.

``reading`` turns a YAML or JSON file into plain values. ``known`` lists all of Redisson's settings. ``taking`` turns
them into a URL, options of redis-py and a codec. Nothing here creates a client. Of the objects that a file names, only
codecs of this library are created.
"""

from redisson_dq._redisson_config.reading import RedissonConfig
from redisson_dq._redisson_config.taking import FileSettings, taken_from

__all__ = ["RedissonConfig", "FileSettings", "taken_from"]
