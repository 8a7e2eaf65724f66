"""What buyer.py and seller.py share: the service, the node, and transactions that are checked before they are signed.

After docs/protocol.md ("Signing a prepared transaction", "What a relay answers"). It signs with solders.
"""

import base64
import hashlib
import http.client
import json
import os
import struct
import time
import urllib.parse

from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction

ENV = os.environ
PASSING = {408, 425, 429, 502, 503, 504}
TRIES, TRY_SECONDS = 6, 45
#: A signature's fee of 5,000 lamports is not counted.
MOST_PRIORITY_LAMPORTS = 1_000_000
BUDGET = "ComputeBudget111111111111111111111111111111"
ED25519 = "Ed25519SigVerify111111111111111111111111111"
ASSOCIATED = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"
TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
CLOCK = "SysvarC1ock11111111111111111111111111111111"

with open(ENV["TRUST_FILE"], encoding="utf-8") as file:
    TRUST = json.load(file)
CUSTODY = Pubkey.from_string(TRUST["custody_program"])


class TryAgain(Exception):
    """It is not known, and the same again can succeed."""


class Refused(Exception):
    """A stable code, and what it says."""

    def __init__(self, code, detail="", status=None):
        super().__init__(f"{code}: {detail}")
        self.code, self.status = code, status


def now():
    return time.time() + int(ENV.get("CLOCK_AHEAD", "0"))


def request(url, method="GET", body=None, headers=None):
    """One request. No redirect is followed, and nothing is sent twice."""
    parts = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=TRY_SECONDS)
    try:
        target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        connection.request(method, target, body, {"accept-encoding": "identity", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def asked(url, body=None):
    """An answer's status and JSON. What is lost or passing is asked again: what is sent so is safe to repeat."""
    data = None if body is None else json.dumps(body).encode()
    method = "GET" if body is None else "POST"
    for tried in range(TRIES):
        try:
            status, headers, text = request(url, method, data, {"content-type": "application/json"})
            if status not in PASSING:
                return status, json.loads(text)
        except (OSError, http.client.HTTPException, ValueError):
            pass
        time.sleep(min(5, 0.2 * 2**tried))
    raise TryAgain(f"{url} was not answered in {TRIES} tries")


def service(path, body=None):
    return asked(ENV["SERVICE_URL"] + path, body)


def accounts(addresses, commitment="finalized"):
    """What the node shows of accounts at one moment: owner and bytes of each, None where there is none."""
    asking = {"encoding": "base64", "commitment": commitment}
    call = {"jsonrpc": "2.0", "id": 1, "method": "getMultipleAccounts", "params": [addresses, asking]}
    status, answer = asked(ENV["RPC_URL"], call)
    if status != 200 or "result" not in answer:
        raise TryAgain(f"the node answers {status}")
    shown = answer["result"]["value"]
    return [each and (each["owner"], base64.b64decode(each["data"][0])) for each in shown]


def derived(program, *seeds):
    return Pubkey.find_program_address(list(seeds), program)[0]


def token_account(owner, mint):
    seeds = bytes(owner), bytes(Pubkey.from_string(TOKEN)), bytes(mint)
    return derived(Pubkey.from_string(ASSOCIATED), *seeds)


def anchor(kind, name):
    """The first eight bytes of an instruction's or an account's data."""
    return hashlib.sha256(f"{kind}:{name}".encode()).digest()[:8]


def checked(prepared, payer, expected):
    """The message of a prepared transaction, once its signer, fee and every instruction are what was asked for."""
    message = VersionedTransaction.from_bytes(base64.b64decode(prepared["base64"])).message
    keys, units, price = message.account_keys, 1_400_000, 0
    if message.header.num_required_signatures != 1 or keys[0] != payer or getattr(message, "address_table_lookups", ()):
        raise Refused("prepared_otherwise", "another payer or signer")
    for each in message.instructions:
        program, data = str(keys[each.program_id_index]), bytes(each.data)
        if program == BUDGET:
            units = struct.unpack("<I", data[1:])[0] if data[:1] == b"\2" else units
            price = struct.unpack("<Q", data[1:])[0] if data[:1] == b"\3" else price
        elif not expected(program, data, [keys[place] for place in each.accounts]):
            raise Refused("prepared_otherwise", f"another instruction of {program}")
    if units * price > MOST_PRIORITY_LAMPORTS * 1_000_000:
        raise Refused("prepared_otherwise", "too high a fee")
    return message


def landed(message, key):
    """Signs and sends a message that was checked. It has landed without an error afterwards."""
    signed = VersionedTransaction(message, [key])
    body = {"signed_transaction": base64.b64encode(bytes(signed)).decode(), "confirm": True}
    status, answer = service("/v1/relay", body)
    while status < 300 or answer.get("code") == "idempotency_key_in_flight":
        told, answer = service(f"/v1/relay/{signed.signatures[0]}")
        if told == 200 and answer["data"]["status"] == "landed":
            if answer["data"].get("error") is None:
                return
            raise Refused("transaction_failed", str(answer["data"]["error"]))
        if told == 200 and answer["data"]["status"] == "expired":
            raise TryAgain("the transaction expired")
        status = 200
        time.sleep(0.3)
    if answer.get("code") == "blockhash_expired":
        raise TryAgain("its blockhash expired")
    raise Refused(answer.get("code", "relay"), str(answer), status)


def keypair(name):
    return Keypair.from_seed(bytes.fromhex(ENV[name]))
