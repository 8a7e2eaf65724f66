# What signatures name of an escrow. Made from programs/custody.idl.json by `bun run test:more build-programs`.
import hashlib

# Offset and length of what captures, close_session and the settlement write in an escrow account.
CHANGED = ((10, 1), (12, 4), (184, 8), (208, 8), (216, 32), (280, 8), (288, 64), (360, 8), (400, 1), (408, 8))

def terms(account):
    """The SHA-256 of an escrow account's bytes right after its creation, from those it has in any state."""
    created = bytearray(account)
    for at, length in CHANGED:
        created[at:at + length] = bytes(length)
    return hashlib.sha256(created).digest()
