"""The settings of the admin's door and its bell, read strictly. The texts of ValueError are for whoever sets them."""

import ipaddress
import re
from ipaddress import IPv4Network, IPv6Network


def path(text: str) -> str:
    """ADMIN_PATH as an address below the root, with a slash at its end."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*", text.strip("/")):
        raise ValueError(f"ADMIN_PATH is {text!r}, and should be words of letters, digits, - and _, with / between.")
    return text.strip("/") + "/"


def networks(texts: list[str]) -> list[IPv4Network | IPv6Network]:
    """ADMIN_ALLOW as networks."""
    try:
        return [ipaddress.ip_network(text.strip()) for text in texts if text.strip()]
    except ValueError as error:
        raise ValueError(f"ADMIN_ALLOW should be networks such as 192.0.2.0/24 with commas between: {error}") from None


def contact(text: str) -> str:
    """SECURITY_CONTACT as one address on one line."""
    if text and not re.fullmatch(r"(mailto:[^\s@]+@[^\s@]+|https://\S+)", text):
        raise ValueError(f"SECURITY_CONTACT is {text!r}, and should read mailto:name@host or https://...")
    return text
