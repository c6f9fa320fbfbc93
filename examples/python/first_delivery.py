"""The first delivery: sends customers and transactions, then compares the totals."""

import json
import os
import sys
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path
from urllib import error, parse, request

BASE = os.environ["TRIBUTARY_BASE_URL"]
CLIENT = {k: os.environ[f"TRIBUTARY_{k.upper()}"] for k in ("client_id", "client_secret")}
INPUT = os.environ.get("EXAMPLE_INPUT") or Path(__file__).parents[1] / "first-delivery.json"
SESSION = {"Content-Type": "application/json"}


class NoRedirect(request.HTTPRedirectHandler):
    """Follows no redirect: it would send the token elsewhere and turn a POST into a GET."""

    def redirect_request(self, *_):
        return None


OPENER = request.build_opener(NoRedirect)


def call(path, body=None, headers=SESSION):
    """Sends a request, at most 5 times. Repeating a request is safe."""
    for left in range(4, -1, -1):
        try:
            with OPENER.open(request.Request(BASE + path, body, headers), timeout=60) as answer:
                return json.load(answer)
        except error.HTTPError as refusal:
            status, text = refusal.code, refusal.read().decode()
            if status in (429, 503) and left:
                time.sleep(int(refusal.headers["Retry-After"] or 1))
            elif status == 401 and left and headers is SESSION:
                sign_in()  # The token has expired or was revoked.
            elif status == 422:
                wrong = ({"index": "", "hint": "", **e} for e in json.loads(text)["errors"])
                line = "record {index} {pointer} {code}: {message} {hint}"
                sys.exit("\n".join(line.format(**e) for e in wrong))
            else:
                sys.exit(f"{path} answered {status}: {text}")


def sign_in():
    form = parse.urlencode({"grant_type": "client_credentials", **CLIENT}).encode()
    SESSION["Authorization"] = "Bearer " + call("/oauth/token", form, {})["access_token"]


sign_in()
# Sums of Decimal are exact. float writes up to 15 digits unchanged, the most an amount may have.
data = json.loads(Path(INPUT).read_text(), parse_float=Decimal)
sent, counted = Counter(), Counter()
for resource in ("customers", "transactions"):
    body = json.dumps(data[resource], default=float).encode()
    for result in call(f"/api/v1/forex/{resource}", body)["results"]:
        print(resource, *result["key"].values(), result["outcome"], *result.get("warnings", []))
    sent[resource] = len(data[resource])
for transaction in data["transactions"]:
    sent[transaction["currency"]] += transaction["amount_currency"]
for total in call(f"/api/v1/forex/totals?from={data['from']}&to={data['to']}")["data"]:
    counted[total["resource"]] += total["count"]
    counted[total.get("currency")] += Decimal(total["sums"].get("amount_currency", 0))
for name in sent:
    print(f"{name}: sent {sent[name]}, counted {counted[name]}")
matches = all(sent[name] == counted[name] for name in sent)
print("reconciled") if matches else sys.exit("not reconciled")
