import { type Idl, changedPlaces } from "./idl.ts";

/** The Python module of `examples/` that comes to an escrow's terms, with the places that the IDL gives. */
export const pythonOf = (idl: Idl): string => {
  const places = changedPlaces(idl, "Escrow").map(({ at, length }) => `(${at}, ${length})`);
  return [
    "# What signatures name of an escrow. Made from programs/custody.idl.json by `bun run test:more build-programs`.",
    "import hashlib",
    "",
    "# Offset and length of what captures, close_session and the settlement write in an escrow account.",
    `CHANGED = (${places.join(", ")})`,
    "",
    "def terms(account):",
    '    """The SHA-256 of an escrow account\'s bytes right after its creation, from those it has in any state."""',
    "    created = bytearray(account)",
    "    for at, length in CHANGED:",
    "        created[at:at + length] = bytes(length)",
    "    return hashlib.sha256(created).digest()",
    "",
  ].join("\n");
};
