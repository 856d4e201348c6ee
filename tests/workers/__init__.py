"""The supporting modules of the tests that take, receive or work.

Each but the first runs as a process of its own, or is loaded by the command ``redisson-dq worker``.

| module               | what it runs                                | which tests use it                              |
|----------------------|---------------------------------------------|-------------------------------------------------|
| ``handlers``         | workers and handlers in the test's process  | all of the worker                               |
| ``of_the_command``   | workers that ``redisson-dq worker`` loads   | worker_command, worker_shortages                |
| ``without_forks``    | such a worker, which cannot fork for a time | worker_shortages                                |
| ``refused_by_check`` | workers that ``--check`` refuses            | worker_command                                  |
| ``until_told``       | a worker that goes on until told to stop    | worker_stopping                                 |
| ``in_turns``         | a worker whose values have keys             | worker_keys                                     |
| ``of_leases``        | a consumer that ends its leases at random   | leases_under_faults, leases_of_killed_processes |
| ``racing``           | one of many processes on the same items     | racing_items                                    |
| ``taking``           | a consumer, or one that exchanges with Java | processes                                       |
| ``under_faults``     | a producer or a consumer of a load          | ``tests/faults/process_loads.py``               |
| ``measured``         | an operation that a measurement asks for    | ``tests/benchmarks/processes.py``               |
"""
