# Generated from redisson_dq/_async/__init__.py by .ci/unasync.py. Do not edit: edit that file and run it.

