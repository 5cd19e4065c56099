"""Fake secrets, generated at random so that repository scanners find none in these files."""

import random
import string

UPPER, LETTERS, DIGITS, HEX = string.ascii_uppercase, string.ascii_letters, string.digits, "0123456789abcdef"


def random_text(length: int, alphabet: str = LETTERS + DIGITS, seed: int = 1) -> str:
    """Return random characters, the same in every run."""
    return "".join(random.Random(f"{seed} {length} {alphabet}").choices(alphabet, k=length))


def private_key(lines: int = 12) -> str:
    """Return a fake PEM key with this number of lines."""
    body = [random_text(64, LETTERS + DIGITS + "+/", seed) for seed in range(lines)]
    return "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"])


AWS = "AKIA" + random_text(16, UPPER + "234567")
GITHUB = "ghp_" + random_text(36)
SLACK = f"xoxb-{random_text(12, DIGITS)}-{random_text(12, DIGITS, 2)}-{random_text(24)}"
STRIPE = "sk_live_" + random_text(24)
ANTHROPIC = f"sk-ant-api03-{random_text(93)}AA"
GITLAB = "glpat-" + random_text(20)
GOOGLE = "AIza" + random_text(35)
GENERIC = random_text(32, HEX)

BY_KIND = {
    "aws-access-token": f'aws_key = "{AWS}"',
    "github-pat": f"push with {GITHUB} as password",
    "github-fine-grained-pat": "GITHUB=github_pat_" + random_text(82),
    "slack-bot-token": f"token: {SLACK}",
    "stripe-access-token": f"stripe.api_key = '{STRIPE}'",
    "anthropic-api-key": f'key="{ANTHROPIC}"',
    "gitlab-pat": f"CI uses {GITLAB} for that",
    "gcp-api-key": f'"{GOOGLE}"',
    "npm-access-token": "//registry/:_authToken=npm_" + random_text(36).lower(),
    "sendgrid-api-token": f"SG.{random_text(22)}.{random_text(43)} is sent",
    "generic-api-key": f'client_secret = "{GENERIC}"',
    "curl-auth-user": "curl -u admin:" + random_text(12) + " https://example.org",
    "private-key": private_key(),
}
"""A line with a secret of each kind."""
