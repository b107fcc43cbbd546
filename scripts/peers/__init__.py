"""What scripts/peers.py is made of.

checks: how a check is named, run and counted. server: `votebench serve` as a process. votes: votes and their answers.
formats: messages as somebody else writes them. yamux, quic_client: clients. The rest: the checks, by family of stacks.
"""
