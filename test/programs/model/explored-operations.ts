import { RATE } from "./account.ts";
import { PROOFS, START, STRANGER, TASKS } from "./cast.ts";
import {
  AGENT,
  AGENT_FALLBACK,
  AGENT_TOKENS,
  DECOY,
  KEY_A,
  KEY_B,
  MERCHANT,
  MERCHANT_FALLBACK,
  MERCHANT_TOKENS,
  SESSION,
  SESSION_KEY,
  SESSION_VAULT,
  SINGLE,
  SPONSOR,
  STRANGERS_KEY,
  tokenAccount,
  withFallbacks,
  withTheft,
} from "./explored.ts";
import {
  archive,
  cancel,
  capture,
  claim,
  close,
  create,
  emptied,
  EXPIRY,
  growth,
  type Operation,
  release,
  rentBack,
  rotate,
  send,
  status,
  tokens,
  WAITS,
  whole,
} from "./operations.ts";

const [PROOF] = PROOFS;
/** More than a transaction needs to load without growth, in bytes, and less than with it. */
const LOADED = 192 * 1024;
const GROWN = 256 * 1024;
const [SESSION_TASK = PROOF, SINGLE_TASK = PROOF] = TASKS;
/** The last second in which a session that was closed at once may be paid for. */
const JUST_CLOSING = START + 899n;

/** Two transactions' instructions in one. */
const together = (name: string, first: Operation, second: Operation): Operation => {
  if (first.kind !== "send" || second.kind !== "send") throw new Error(`${name} sends nothing`);
  return send(
    name,
    (world) => [
      ...first.sentIn(world),
      ...second.sentIn(world).filter(({ kind }) => kind !== "limit"),
    ],
    [...first.touches, ...second.touches],
  );
};

const CREATIONS = [
  create("open the session, the sponsor pays", SESSION, {
    task: SESSION_TASK,
    amount: 5n,
    sessionKey: SESSION_KEY.address,
    loaded: LOADED,
  }),
  create("open the session until a time", SESSION, {
    task: SESSION_TASK,
    amount: 4n,
    sessionKey: SESSION_KEY.address,
    expiresAt: START + 1000n,
  }),
  create("make the single payment for key A", SINGLE, {
    task: SINGLE_TASK,
    amount: 3n,
    attestor: KEY_A.address,
  }),
];

const CAPTURES = [
  capture("capture 2", withFallbacks(SESSION), 2n, 1),
  capture("capture 3, allowed 4", SESSION, 3n, 2, { voucher: { total: 4n, count: 3 } }),
  capture("capture all", SESSION, 5n, 3),
  capture("capture 3, just before the end of a closed one", SESSION, 3n, 2, {
    claim: { timestamp: JUST_CLOSING },
  }),
  capture("capture 4 for as few deliveries as 2 had", SESSION, 4n, 0),
  capture("capture 6, more than there is", SESSION, 6n, 3),
  capture("capture 3, allowed 2", SESSION, 3n, 2, { voucher: { total: 2n } }),
  capture("capture 3 of 2 deliveries, allowed 1", SESSION, 3n, 2, { voucher: { count: 1 } }),
  capture("capture 2, allowed by another key", SESSION, 2n, 1, { voucherBy: STRANGERS_KEY }),
  capture("capture 2, attested by B", SESSION, 2n, 1, { by: KEY_B }),
  capture("capture 2 with the last attestation", SESSION, 2n, 1, { claim: { final: 1 } }),
  capture("capture 2 for another ledger", SESSION, 2n, 1, { claim: { domain: PROOF } }),
  capture("capture 2, allowed for another escrow", SESSION, 2n, 1, { voucher: { terms: PROOF } }),
  capture("capture 2 without a voucher", SESSION, 2n, 1, { voucher: null }),
  capture("capture 2 from 31 s ahead", SESSION, 2n, 1, { claim: { timestamp: START + 31n } }),
  capture("capture 2 from before the creation", SESSION, 2n, 1, {
    claim: { timestamp: START - 1n },
  }),
  capture("capture 2 to the stranger's account", withTheft(SESSION), 2n, 1),
  capture("capture 1 of the single payment", SINGLE, 1n, 1),
  capture("capture 2 out of another account", { ...SESSION, vault: DECOY }, 2n, 1),
];

const RELEASES = [
  release("release 2 of the session", SESSION, [2n, 1]),
  release("release 3 of the session", withFallbacks(SESSION), [3n, 2]),
  release("release all of the session", SESSION, [5n, 3]),
  whole("release 3 with refund and rent", SESSION, [3n, 2]),
  release("release nothing", SESSION, [0n, 3]),
  release("release 4 of fewer deliveries", SESSION, [4n, 1]),
  release("release 3, the voucher not closing", SESSION, [3n, 2], { voucher: { closing: 0 } }),
  release("release 3, allowed 4", SESSION, [3n, 2], { voucher: { total: 4n } }),
  release("release 3 of 2, allowed 3", SESSION, [3n, 2], { voucher: { count: 3 } }),
  release("release 3 with an attestation that is not the last", SESSION, [3n, 2], {
    claim: { final: 0 },
    voucher: { closing: 1 },
  }),
  release("release 3 without a voucher", SESSION, [3n, 2], { voucher: null }),
  release("release the single payment by A", withFallbacks(SINGLE)),
  release("release it by B", SINGLE, undefined, { by: KEY_B }),
  release("release it to the stranger's account", withTheft(SINGLE)),
  release("release it, attested just before expiry", SINGLE, undefined, {
    claim: { timestamp: EXPIRY - 1n },
  }),
  release("release it for another ledger", SINGLE, undefined, { claim: { domain: PROOF } }),
  release("release it with what A signed for the session", SINGLE, undefined, {
    termsOf: SESSION,
  }),
  release("release 1 unit of it", SINGLE, undefined, { claim: { total: 1n } }),
  release("release 4 units of it", SINGLE, undefined, { claim: { total: 4n } }),
  release("release it for two deliveries", SINGLE, undefined, { claim: { deliveries: 2 } }),
];

const ENDS = [
  cancel("cancel the session", SESSION, MERCHANT),
  cancel("the stranger cancels the session", SESSION, STRANGER),
  cancel("cancel the single payment", SINGLE, MERCHANT),
  together("capture 3 and cancel", capture("", SESSION, 3n, 2), cancel("", SESSION, MERCHANT)),
  together("capture 2 and revoke", capture("", SESSION, 2n, 1), rotate("", KEY_B, 1)),
  close("close the session", SESSION, AGENT),
  close("the merchant closes the session", SESSION, MERCHANT),
  close("close the single payment", SINGLE, AGENT),
  claim("refund the session", withFallbacks(SESSION)),
  claim("refund the session, no account of the agent named", SESSION, { to: null }),
  claim("refund the session to the stranger's account", withTheft(SESSION)),
  claim("refund the session with another last byte", SESSION, { changes: true }),
  claim("refund the single payment", SINGLE),
  claim("refund the session out of another account", { ...SESSION, vault: DECOY }),
  rentBack("return the session's rent", SESSION),
  rentBack("return the session's rent to the stranger", { ...SESSION, rentPayer: STRANGER }),
  rentBack("return the single payment's rent", SINGLE),
  archive("archive the session", SESSION),
  archive("archive the session with another byte", SESSION, true),
  archive("archive the single payment", SINGLE),
];

const OTHERS: ReadonlyArray<Operation> = [
  rotate("rotate to B", KEY_B, 0),
  rotate("rotate to B and revoke", KEY_B, 1),
  rotate("rotate to A and revoke", KEY_A, 1),
  status("suspend", 1),
  status("reinstate", 0),
  {
    kind: "change",
    name: "a unit is sent into the session's vault",
    address: SESSION_VAULT,
    change: (account) =>
      account.content.kind === "token" && account.content.amount < 6n
        ? { ...account, content: { ...account.content, amount: account.content.amount + 1n } }
        : undefined,
  },
  {
    kind: "change",
    name: "lamports are sent into the session's account",
    address: SESSION.escrow,
    change: (account) =>
      account.lamports > 0n && account.lamports % 10n === 0n
        ? { ...account, lamports: account.lamports + 7n }
        : undefined,
  },
  {
    kind: "change",
    name: "the agent closes its account",
    address: AGENT_TOKENS,
    change: (account) =>
      account.content.kind === "token" && account.content.amount <= 3n
        ? { lamports: 0n, content: { kind: "wallet" } }
        : undefined,
  },
  {
    kind: "change",
    name: "the agent makes it again",
    address: AGENT_TOKENS,
    change: (account) => (account.content.kind === "wallet" ? tokenAccount(AGENT, 0n) : undefined),
  },
  tokens("the agent's account is frozen", AGENT_TOKENS, { frozen: true }),
  tokens("the agent gives the account away", AGENT_TOKENS, { holder: STRANGER }),
  tokens("the agent approves a delegate", AGENT_TOKENS, { delegate: STRANGER }),
  tokens("the agent's account is the agent's and thawed", AGENT_TOKENS, {
    holder: AGENT,
    frozen: false,
  }),
  tokens("the agent's fallback gets a delegate", AGENT_FALLBACK, { delegate: STRANGER }),
  tokens("the merchant's account is frozen", MERCHANT_TOKENS, { frozen: true }),
  tokens("the merchant gives the account away", MERCHANT_TOKENS, { holder: STRANGER }),
  tokens("the merchant's fallback gets a close authority", MERCHANT_FALLBACK, {
    closeAuthority: STRANGER,
  }),
  growth("the sponsor's account grows", SPONSOR, GROWN),
  growth("the agent's wallet grows", AGENT, GROWN),
  emptied("the sponsor spends all that it has", SPONSOR),
  { kind: "rate", name: "rent falls tenfold", rate: RATE / 10n },
];

/** Every operation of an explored world. */
export const OPERATIONS: ReadonlyArray<Operation> = [
  ...CREATIONS,
  ...CAPTURES,
  ...RELEASES,
  ...ENDS,
  ...WAITS,
  ...OTHERS,
];
