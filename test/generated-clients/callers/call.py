"""Prepares an escrow, reads one and meets a problem, with the generated package `evidence_api`."""

import json
import sys

from evidence_api import Client
from evidence_api.api.escrows import prepare_escrow, read_escrow
from evidence_api.models import LiveEscrowRead, PreparedEscrowAnswer, PrepareEscrowRequest, Problem

url, request_file, escrow, missing = sys.argv[1:]
client = Client(base_url=url)
with open(request_file, encoding="utf-8") as file:
    request = PrepareEscrowRequest.from_dict(json.load(file))

prepared = prepare_escrow.sync(client=client, body=request)
assert isinstance(prepared, PreparedEscrowAnswer), prepared
read = read_escrow.sync(escrow, client=client)
assert isinstance(read, LiveEscrowRead), read
problem = read_escrow.sync(missing, client=client)
assert isinstance(problem, Problem), problem
print(
    json.dumps(
        {
            "prepared": prepared.data.escrow_pda,
            "state": str(read.data.state),
            "code": str(problem.code),
        }
    )
)
