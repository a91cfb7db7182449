"""What a task is: data and the one transition function. No gevent, no I/O, no clock."""
