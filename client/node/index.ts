/**
 * The entry of the client package for Node, Bun and Deno: keys, payments, attestations and sessions in files, signers in other
 * programs, and transactions explained in words.
 */

import { useNativeCrypto } from "./native-crypto.ts";

export { attestationFiles } from "./attestation-files.ts";
export { commandSigner } from "./command-signer.ts";
export { fileIdentity } from "./born-file.ts";
export { fileJournal } from "./file-journal.ts";
export { fileSession } from "./file-session.ts";
export { fileSessions, type FileSessionsOptions, type HeldSessions } from "./file-sessions.ts";
export { createKeyFile, readKeyFile } from "./key-file.ts";
export { type KeySigner, keySigner } from "./key-file.ts";
export { sessionClaimFiles } from "./session-claims.ts";
export { sshAgentSigner } from "./ssh-agent-signer.ts";
export { transactionWords } from "../signing/describe-transaction.ts";

useNativeCrypto();
