# What agent.py, merchant.py and passer_by.py share: their variables, and calling the service.
import hashlib, json, os, sys, urllib.request
from escrow_terms import terms

def env(name):
    """A variable of the environment. Without it the process ends with 64 and a line that names it."""
    if not os.environ.get(name):
        print(f"{name} is missing. Set it as examples/README.md says.", file=sys.stderr)
        sys.exit(64)
    return os.environ[name]

def answer(path, body=None):
    data, kind = body and json.dumps(body).encode(), {"content-type": "application/json"}
    return json.load(urllib.request.urlopen(urllib.request.Request(env("SERVICE") + path, data, kind)))

def call(path, body=None):
    return answer(path, body)["data"]

def whole_claim(account, escrow, custody, genesis, proof, timestamp):
    """What an attestor signs for all of an escrow, its one delivery; the account's bytes must be the escrow's."""
    seeds = b"escrow" + account[16:48] + account[144:176] + account[9:10] + custody + b"ProgramDerivedAddress"
    assert hashlib.sha256(seeds).digest() == escrow, "the account of another escrow"
    domain = hashlib.sha256(b"settlement-evidence 3\0" + genesis + custody).digest()
    return b"attest 3" + domain + terms(account) + proof + account[176:184] + timestamp + b"\1\0\0\0\1\0\0\0"
