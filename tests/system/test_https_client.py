"""The HTTPS client: which addresses are public. The tests of its two users test the rest."""

from dowse.system.https_client import is_public


def test_which_addresses_are_public() -> None:
    for ip, expected in (
        ("93.184.216.34", True), ("2606:4700::1111", True), ("127.0.0.1", False), ("10.1.2.3", False),
        ("172.16.0.1", False), ("192.168.1.1", False), ("169.254.169.254", False), ("100.64.0.1", False),
        ("0.0.0.0", False), ("224.0.0.1", False), ("255.255.255.255", False), ("::1", False), ("::", False),
        ("fe80::1%eth0", False), ("fd00::1", False), ("::ffff:127.0.0.1", False), ("::ffff:10.0.0.1", False),
        ("2002:7f00:1::", False), ("64:ff9b::a00:1", False),
    ):  # fmt: skip
        assert is_public(ip) == expected
