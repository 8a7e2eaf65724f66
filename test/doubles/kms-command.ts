import { sshAgentSigner } from "../../client/node/ssh-agent-signer.ts";

// Run as a command of a key: has the KMS at the socket argv[2] sign standard input with the key argv[3].
const [socket = "", address = ""] = process.argv.slice(2);
const signer = await sshAgentSigner(address, socket);
process.stdout.write(await signer.sign(await Bun.stdin.bytes()));
