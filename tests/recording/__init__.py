"""A recording of the behaviour that users see: tools, replies, commands, files and HTTP, kept as golden files.

`python -m tests.recording` writes the golden files, `pytest tests/test_recording.py` compares with them.
Nothing here imports the package, it is only started; so its modules may be renamed freely.
"""
