# Anybody releases an escrow with its attestation, or refunds it, and pays the fee; solders signs. PAYER_KEY: 32 bytes in hex; CLAIM: JSON, {} to refund.
import base64, json, os, urllib.request
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction

def post(path, body):
    request = urllib.request.Request(os.environ["SERVICE"] + path, json.dumps(body).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))["data"]

payer, escrow, claim = Keypair.from_seed(bytes.fromhex(os.environ["PAYER_KEY"])), os.environ["ESCROW"], json.loads(os.environ["CLAIM"])
what = "release" if claim else "refund"
prepared = post(f"/v1/escrows/{escrow}/{what}/prepare?transaction=true", {**claim, "payer": str(payer.pubkey())})
message = VersionedTransaction.from_bytes(base64.b64decode(prepared["transaction"]["base64"])).message
programs = [str(message.account_keys[each.program_id_index]) for each in message.instructions]
custody = "EvidenceCustody1111111111111111111111111111"
allowed = {custody, "ComputeBudget111111111111111111111111111111", "Ed25519SigVerify111111111111111111111111111", "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"}
settlement = message.instructions[programs.index(custody)]
# One signer, who pays; known programs; one settlement, of this escrow. Only fee and rent of missing accounts can leave the payer.
assert message.header.num_required_signatures == 1 and message.account_keys[0] == payer.pubkey(), "another payer or signer"
assert set(programs) <= allowed and programs.count(custody) == 1, "another program"
assert message.account_keys[settlement.accounts[0]] == Pubkey.from_string(escrow), "another escrow"
signed = VersionedTransaction(message, [payer])
print(what, post("/v1/relay", {"signed_transaction": base64.b64encode(bytes(signed)).decode(), "confirm": True})["status"])
