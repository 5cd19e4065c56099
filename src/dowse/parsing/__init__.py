"""Parsing of untrusted bytes in processes of their own, with limits on processor time, memory and output."""
