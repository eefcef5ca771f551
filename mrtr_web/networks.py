"""Which addresses may be connected to: public ones, and private ones in networks that an admin listed for a server.

Link-local addresses and those of a cloud's metadata are refused whatever is listed.
"""

import functools
import ipaddress
from collections.abc import Iterable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

PRIVATE = ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
"""Loopback, RFC 1918 and ULA: what a server's private networks may be parts of."""
_PRIVATE = tuple(ipaddress.ip_network(text) for text in PRIVATE)
# What clouds tell machines about themselves, credentials too, at addresses that look public (Azure, Oracle) or private:
# all of Amazon's network, which also has the credentials of pods (fd00:ec2::23), and Google's address.
_METADATA = tuple(
    ipaddress.ip_network(text) for text in ("168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::/32", "fd20:ce::254/128")
)
# Relays of 6to4, long withdrawn, and documentation: newer than what Python knows of.
_RESERVED = tuple(ipaddress.ip_network(text) for text in ("192.88.99.0/24", "3fff::/20"))
_UNICAST_V6 = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def normalised(text: str) -> str:
    """A private network as it is stored; a single address is one of /32 or /128. Raises ValueError."""
    network = ipaddress.ip_network(text.strip())
    if not any(_holds(whole, network) for whole in _PRIVATE):
        raise ValueError("not private")
    return str(network)


@functools.lru_cache(maxsize=1_000)
def read(private: tuple[str | Network, ...]) -> frozenset[Network]:
    """The networks of a list: equal for lists that mean the same."""
    return frozenset(map(ipaddress.ip_network, private))


def permitted(address: Address, private: Iterable[Network] = ()) -> bool:
    """Whether this address may be connected to."""
    address = _plain(address)
    if _in_one_of(address, _METADATA):
        return False
    if _in_one_of(address, _PRIVATE):
        return _in_one_of(address, private)
    return all(_is_public(inner) for inner in _unwrapped(address))


def is_listed(address: Address, private: Iterable[Network]) -> bool:
    """Whether this address may be connected to because its network is listed."""
    return _in_one_of(_plain(address), _PRIVATE) and permitted(address, private)


def _holds(whole: Network, part: Network) -> bool:
    if isinstance(whole, ipaddress.IPv4Network):
        return isinstance(part, ipaddress.IPv4Network) and part.subnet_of(whole)
    return isinstance(part, ipaddress.IPv6Network) and part.subnet_of(whole)


def _in_one_of(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _plain(address: Address) -> Address:
    """IPv4 where it is written as IPv6."""
    return (address.ipv4_mapped or address) if isinstance(address, ipaddress.IPv6Address) else address


def _unwrapped(address: Address) -> tuple[Address, ...]:
    """The IPv4 addresses that NAT64, 6to4 and Teredo addresses lead to, or the address itself."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return (ipaddress.IPv4Address(int(address) & 0xFFFFFFFF),)
        if address.sixtofour is not None:
            return (address.sixtofour,)
        if address.teredo is not None:
            return address.teredo
    return (address,)


def _is_public(address: Address) -> bool:
    if _in_one_of(address, (*_METADATA, *_RESERVED)) or address.is_multicast or not address.is_global:
        return False
    return isinstance(address, ipaddress.IPv4Address) or address in _UNICAST_V6
