# What agent.py, merchant.py and passer_by.py share: their variables, calling the service, checking a settlement.
import base64, hashlib, json, os, sys, urllib.request
from escrow_terms import terms
from solders import transaction

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

def named(instruction):
    """The first eight bytes of an instruction's data."""
    return hashlib.sha256(f"global:{instruction}".encode()).digest()[:8]

HELPERS = ("ComputeBudget1111", "Ed25519SigVerify1111", "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")

def settlement(prepared, payer, escrow, instruction):
    """
    The message of a prepared settlement. One signer, who pays the fee, below 0.03 SOL, and the rent of the payee's
    token account where there is none. Behind the instruction only what brings the agent's rest and the rent home.
    """
    message = transaction.VersionedTransaction.from_bytes(base64.b64decode(prepared["base64"])).message
    keys, settling = [str(key) for key in message.account_keys], []
    assert (message.header.num_required_signatures, keys[0]) == (1, str(payer)), "another payer or signer"
    for each in message.instructions:
        program, data = keys[each.program_id_index], bytes(each.data)
        if program == env("CUSTODY"):
            assert keys[each.accounts[0]] == escrow, "another escrow"
            settling.append(data[:8])
        else:
            assert program.startswith(HELPERS), "another program"
            assert not program.startswith(HELPERS[0]) or not any(data[4:]), "too high a fee"
    home = (named("claim_refund"), named("return_rent"))
    assert settling[0] == named(instruction) and all(each in home for each in settling[1:]), "another instruction"
    return message
