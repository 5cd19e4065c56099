"""Secrets that open nothing: made of dice, so that no scanner of repositories finds one in these files."""

import random
import string

UPPER, LETTERS, DIGITS, HEX = string.ascii_uppercase, string.ascii_letters, string.digits, "0123456789abcdef"


def rolled(length: int, alphabet: str = LETTERS + DIGITS, seed: int = 1) -> str:
    """Letters by chance, the same each time."""
    return "".join(random.Random(f"{seed} {length} {alphabet}").choices(alphabet, k=length))


def private_key(lines: int = 12) -> str:
    """What looks like a key in PEM, of so many lines."""
    body = [rolled(64, LETTERS + DIGITS + "+/", seed) for seed in range(lines)]
    return "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"])


AWS = "AKIA" + rolled(16, UPPER + "234567")
GITHUB = "ghp_" + rolled(36)
SLACK = f"xoxb-{rolled(12, DIGITS)}-{rolled(12, DIGITS, 2)}-{rolled(24)}"
STRIPE = "sk_live_" + rolled(24)
ANTHROPIC = f"sk-ant-api03-{rolled(93)}AA"
GITLAB = "glpat-" + rolled(20)
GOOGLE = "AIza" + rolled(35)
GENERIC = rolled(32, HEX)

BY_KIND = {
    "aws-access-token": f'aws_key = "{AWS}"',
    "github-pat": f"push with {GITHUB} as password",
    "github-fine-grained-pat": "GITHUB=github_pat_" + rolled(82),
    "slack-bot-token": f"token: {SLACK}",
    "stripe-access-token": f"stripe.api_key = '{STRIPE}'",
    "anthropic-api-key": f'key="{ANTHROPIC}"',
    "gitlab-pat": f"CI uses {GITLAB} for that",
    "gcp-api-key": f'"{GOOGLE}"',
    "npm-access-token": "//registry/:_authToken=npm_" + rolled(36).lower(),
    "sendgrid-api-token": f"SG.{rolled(22)}.{rolled(43)} is sent",
    "generic-api-key": f'client_secret = "{GENERIC}"',
    "curl-auth-user": "curl -u admin:" + rolled(12) + " https://example.org",
    "private-key": private_key(),
}
"""A line with a secret of each kind."""
