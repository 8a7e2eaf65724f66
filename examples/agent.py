# An agent locks a payment for one request, and signs nothing but what it asked for; solders signs. AGENT_KEY: 32 bytes in hex.
import base64, hashlib, json, os, urllib.request
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction

def post(path, body):
    request = urllib.request.Request(os.environ["SERVICE"] + path, json.dumps(body).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))["data"]

custody, budget = Pubkey.from_string("EvidenceCustody1111111111111111111111111111"), Pubkey.from_string("ComputeBudget111111111111111111111111111111")
agent = Keypair.from_seed(bytes.fromhex(os.environ["AGENT_KEY"]))
merchant, attestor, mint = (Pubkey.from_string(os.environ[name]) for name in ("MERCHANT", "ATTESTOR", "MINT"))
terms = {"agent_owner": str(agent.pubkey()), "merchant": str(merchant), "mint": str(mint), "attestor": str(attestor), "amount_stroops": "1000000", "ttl_seconds": 3600, "task_intent": "GET https://api.example.com", "nonce": os.environ["NONCE"]}
message = VersionedTransaction.from_bytes(base64.b64decode(post("/v1/escrows/prepare?transaction=true", terms)["transaction"]["base64"])).message
task = hashlib.sha256(f"{terms['task_intent']}\0{terms['nonce']}".encode()).digest()
escrow, _ = Pubkey.find_program_address([b"escrow", bytes(agent.pubkey()), task], custody)
data = hashlib.sha256(b"global:create_escrow").digest()[:8] + task + bytes(attestor) + (1_000_000).to_bytes(8, "little") + (3600).to_bytes(4, "little")
calls = [(message.account_keys[each.program_id_index], [message.account_keys[i] for i in each.accounts], bytes(each.data)) for each in message.instructions]
# One signer, the agent; no other program; one escrow: this merchant, mint, task, attestor, amount and time to live. More cannot leave the agent.
assert message.header.num_required_signatures == 1 and message.account_keys[0] == agent.pubkey(), "another payer or signer"
assert calls[-1][0] == custody and {call[0] for call in calls[:-1]} <= {budget}, "another program"
assert [calls[-1][1][i] for i in (2, 4, 5)] == [merchant, mint, escrow] and calls[-1][2] == data, "another escrow"
post("/v1/relay", {"signed_transaction": base64.b64encode(bytes(VersionedTransaction(message, [agent]))).decode(), "confirm": True})
print(escrow)
