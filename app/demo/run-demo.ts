import { projectCommand } from "../../core/domain/project-command.ts";
import type { LiveEscrow, SettlementEvent } from "../../client/generated/contract.ts";
import { dataBy } from "../../client/service/operation.ts";
import type { DeliveryPayload, Settled } from "../../client/index.ts";
import { memoryAttestations } from "../../client/merchant.ts";
import { transactionSignerOf } from "../../client/signing/sign-transaction.ts";
import { formatUnits } from "../../core/domain/amount.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import { unprovenIn } from "../../core/domain/evidence/verdict-text.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { formatUnixTime } from "../../core/domain/unix-time.ts";
import { eventually, expectSame, within } from "./expected.ts";
import type { Narrator } from "./narrator.ts";
import { type DemoOptions, openStage, type Stage } from "./stage.ts";

/** A request that an agent might send to a data API. */
const TASK = "GET https://api.example.com/v1/quotes?symbol=SOL";
const ANSWER = '{"symbol":"SOL","price":"187.42"}';
const TEMPLATE = "api-delivered-v1";
const MERCHANT_NAME = "Demo Quotes";
/** What the two escrows hold, in base units. */
const RELEASED_UNITS = 1_500_000n;
const REFUNDED_UNITS = 2_500_000n;
const SHORT_TTL_SECONDS = 2;

/** The least that the agent needs in base units: the amounts of both escrows. */
export const DEMO_BASE_UNITS = RELEASED_UNITS + REFUNDED_UNITS;

/** Tolerance for a ledger clock that is a little behind. */
const GRACE_SECONDS = 20;
/** Time limit for the finalization of a settlement: 13 to 34 seconds were seen on clusters. */
const FINAL_SECONDS = 120;

/** How the demo ended. */
export type DemoResult = {
  /** The addresses of the two escrows that it settled. */
  readonly released: string;
  readonly refunded: string;
  /** The names of the checks that the offline verdicts on their packets leave unproven. */
  readonly unproven: ReadonlyArray<string>;
};

/** The demo's last line: what became of both escrows, and what a stranger with their packets cannot prove offline. */
export const demoVerdict = ({ released, refunded, unproven }: DemoResult): string =>
  `Verified: ${released} was released, ${refunded} was refunded; ${unproven.length === 0 ? "nothing" : unproven.join(", ")} unproven.`;

/** Base units as a person reads them. */
const shown = ({ mint }: Stage, units: string): string =>
  `${formatUnits(BigInt(units), mint.decimals)} ${mint.symbol}`;

const escrowAt = ({ requests }: Stage, escrow: string, signal?: AbortSignal): Promise<LiveEscrow> =>
  dataBy(requests, "GET /v1/escrows/{pda}", { pda: escrow }, { signal });

/**
 * Tells that the vault of a settled escrow is closed and its rent is home: nothing of both is left to do. @throws
 * SettlementError
 */
const tellRent = ({ narrator }: Stage, { next_actions, rent_payer }: LiveEscrow): void => {
  const left = next_actions.filter(
    ({ action }) => action === "claim_refund" || action === "return_rent",
  );
  expectSame("what is left to bring home", left.map(({ action }) => action).join(", "), "");
  narrator.result(`the vault is closed, and its rent is with ${rent_payer} again, who paid it`);
};

/** The merchant registers itself with its attestor's key. @throws SettlementError */
export const registerMerchant = async (stage: Stage): Promise<void> => {
  const { narrator, shop, requests, parties, signer } = stage;
  narrator.step(
    "The merchant registers",
    "It names the attestor key whose signature will stand for a delivery. Each transaction comes unsigned from the service;\nthe client builds the same one itself, and signs only if both are equal, byte for byte.",
  );
  const { merchant, signature } = await shop.register({
    wallet: signer("merchant", "register_merchant"),
    attestor: parties.attestor.address,
    name: MERCHANT_NAME,
  });
  narrator.result(`landed, signature ${signature}`);
  const record = await dataBy(requests, "GET /v1/merchants/{pubkey}", { pubkey: merchant });
  expectSame("the merchant's status", record.status, "Active");
  expectSame("the merchant's attestor", record.attestor, parties.attestor.address);
  narrator.result(`${record.name} is ${record.status}, account ${record.merchant_pda}`);
};

/**
 * The agent locks a payment of `units` base units in an escrow. Returns the escrow as read back. @throws
 * SettlementError
 */
export const buy = async (
  stage: Stage,
  {
    task = TASK,
    units,
    ttl,
  }: { readonly task?: string; readonly units: bigint; readonly ttl: number },
): Promise<LiveEscrow> => {
  const { narrator, client, parties, signer, mint } = stage;
  narrator.step(
    "The agent pays into an escrow",
    `"${task}", with ${ttl} s to deliver. Agent, task and a fresh nonce are the escrow's address, and the\nledger takes one escrow at an address, ever: the same payment can be sent again after any failure.`,
  );
  const { escrow, signature } = await client.pay({
    merchant: parties.merchant.address,
    amount: formatUnits(units, mint.decimals),
    mint: mint.address,
    task,
    ttl,
    signer: transactionSignerOf(
      signer("agent", "create_escrow, which moves the money into the vault"),
    ),
  });
  narrator.result(`landed, signature ${signature}`);
  const record = await escrowAt(stage, escrow);
  expectSame("the escrow's state", record.state, "Pending");
  expectSame("the escrow's amount", record.amount_stroops, units.toString());
  narrator.result(
    `escrow ${escrow}: ${record.state}, ${shown(stage, record.amount_stroops)} until ${record.expires_at}\ntask_hash ${record.task_hash}, sha256(task, 0x00, nonce)`,
  );
  return record;
};

/**
 * The merchant delivers, its attestor signs the proof, and the escrow is released. Returns the proof. @throws
 * SettlementError
 */
export const deliver = async (stage: Stage, escrow: LiveEscrow): Promise<DeliveryPayload> => {
  const { narrator, shop, signer } = stage;
  narrator.step(
    "The merchant delivers and says so",
    `The proof is a JSON object of the template ${TEMPLATE}; its hash, SHA-256 over RFC 8785, is what counts.\nIt is kept before it is signed: an attestor never stands by two proofs of one escrow.`,
  );
  const proof = {
    proof_template_id: TEMPLATE,
    task_hash: escrow.task_hash,
    request_url: "https://api.example.com/v1/quotes?symbol=SOL",
    status_code: 200,
    content_sha256: hash32FromBytes(sha256(new TextEncoder().encode(ANSWER))),
    delivered_at: formatUnixTime(BigInt(Math.floor(Date.now() / 1000))),
  };
  const attestation = await shop.attest({
    escrow: escrow.escrow_pda,
    payload: proof,
    template: TEMPLATE,
    attestor: signer("attestor", "escrow, proof hash and time"),
    journal: memoryAttestations(),
  });
  narrator.result(`proof_hash ${attestation.proof_hash}, good until ${attestation.until}`);

  narrator.step(
    "The merchant is paid",
    "One transaction: the attestation, checked by the ledger's own Ed25519 program, then the release, which names nothing of\nthe agent's, and behind it the vault's rent goes home. Anyone who holds the attestation could send it.",
  );
  const { signature } = await shop.release({
    attestation,
    payer: signer("merchant", "ed25519 + create_token_account + release_escrow + return_rent"),
  });
  narrator.result(`landed, signature ${signature}`);
  const settled = await escrowAt(stage, escrow.escrow_pda);
  expectSame("the escrow's state", settled.state, "Fulfilled");
  expectSame("the released amount", settled.released_stroops, escrow.amount_stroops);
  expectSame("the recorded proof hash", settled.proof_hash, attestation.proof_hash);
  narrator.result(`${settled.state}: ${shown(stage, settled.released_stroops)} are the merchant's`);
  tellRent(stage, settled);
  return proof;
};

/** Nobody delivers, the escrow expires, and a passer-by sends the refund. @throws SettlementError */
const refundExpired = async (stage: Stage, escrow: LiveEscrow, ttl: number): Promise<void> => {
  const { narrator, client, signer } = stage;
  narrator.step(
    "Nobody delivers",
    `At ${escrow.expires_at} the escrow expires, by the ledger's clock. From then on it can only be refunded.`,
  );
  const { next_actions } = await eventually(
    "the escrow becomes refundable",
    ttl + GRACE_SECONDS,
    (signal) => escrowAt(stage, escrow.escrow_pda, signal),
    ({ refundable }) => refundable,
  );
  const [next] = next_actions;
  expectSame("the next action", `${next?.action} by ${next?.by}`, "claim_refund by anyone");
  narrator.result(`refundable; next_actions: ${next?.action} by ${next?.by}`);

  narrator.step(
    "A passer-by refunds it",
    "Anyone can run refunds: the money goes to the agent and the rent to whoever paid it, whoever sends them and pays the fee.",
  );
  const { signature } = await client.refund(escrow.escrow_pda, {
    signer: transactionSignerOf(signer("passerBy", "claim_refund + return_rent")),
  });
  narrator.result(`landed, signature ${signature}`);
  const settled = await escrowAt(stage, escrow.escrow_pda);
  expectSame("the escrow's state", settled.state, "Refunded");
  expectSame("the refunded amount", settled.refunded_stroops, escrow.amount_stroops);
  narrator.result(
    `${settled.state}: ${shown(stage, settled.refunded_stroops)} are the agent's again`,
  );
  tellRent(stage, settled);
};

/**
 * Waits for the evidence of a settled escrow, verifies it, and finds escrow and events in the index. Returns the names
 * of the checks that the verdict leaves unproven. @throws SettlementError
 */
export const checkSettled = async (
  stage: Stage,
  { escrow_pda: escrow, agent_owner: agent }: LiveEscrow,
  expected: {
    readonly state: Settled["state"];
    readonly events: ReadonlyArray<SettlementEvent["kind"]>;
    /** What was delivered; left out where nothing was. */
    readonly delivery?: DeliveryPayload;
  },
): Promise<ReadonlyArray<string>> => {
  const { narrator, client, requests } = stage;
  narrator.step(
    "The evidence, checked by a stranger",
    `The packet is there once the settlement is final, and its log proof once the log's witnesses have cosigned. It is\nverified here, without the service and without the ledger, under what was pinned. Witnesses named own-… are the\nservice's own: they show how it works, and no independence. From a shell: ${projectCommand("cli verify packet.json --trust trust.json")}`,
  );
  const { delivery: payload } = expected;
  const { state, released, refunded, verdict, delivery } = await within(
    "the settlement is final",
    FINAL_SECONDS,
    (signal) =>
      client.settled(escrow, {
        signal,
        ...(payload === undefined ? {} : { delivery: payload, template: TEMPLATE }),
      }),
  );
  for (const { name, outcome, reason } of verdict.checks)
    narrator.result(`${outcome === "passed" ? "ok" : outcome}: ${name}, ${reason}`);
  expectSame("the verdict on the packet", verdict.verdict, "verified");
  expectSame("the settled state", state, expected.state);
  if (delivery !== null) {
    expectSame("what speaks against the delivery", delivery.reasons.join("; "), "");
    narrator.result("what was delivered is what the attestor signed, for this task");
  }
  narrator.result(
    `the packet of ${escrow} is ${verdict.verdict}: ${state}, ${shown(stage, released)} released, ${shown(stage, refunded)} refunded`,
  );

  narrator.step(
    "The index knows",
    "A sync reads both programs' accounts; then escrows and events can be listed and filtered.",
  );
  await dataBy(requests, "POST /v1/indexer/sync", {});
  const rows = await dataBy(requests, "GET /v1/indexer", { agent_owner: agent });
  const row = rows.find(({ escrow_pda }) => escrow_pda === escrow);
  expectSame("the state in the index", row?.state, expected.state);
  const all = await dataBy(requests, "GET /v1/indexer/events", { agent_owner: agent });
  const kinds = all.filter(({ escrow_pda }) => escrow_pda === escrow).map(({ kind }) => kind);
  expectSame("the events", kinds.join(", "), expected.events.join(", "));
  narrator.result(`${row?.state}; events, newest first: ${kinds.join(", ")}`);
  return unprovenIn(verdict);
};

/**
 * The whole life of two escrows at a running service, as its own client lives it. One is delivered and released, one
 * expires and is refunded, and the evidence of both is verified. @throws SettlementError at the first unexpected
 * result, and what `funds` rejects with
 */
export const runDemo = async (
  url: string,
  narrator: Narrator,
  options: DemoOptions = {},
): Promise<DemoResult> => {
  const stage = await openStage(url, narrator, options);
  await registerMerchant(stage);

  const first = await buy(stage, { units: RELEASED_UNITS, ttl: 3600 });
  const delivery = await deliver(stage, first);
  const ofReleased = await checkSettled(stage, first, {
    state: "Fulfilled",
    events: ["escrow_released", "escrow_created"],
    delivery,
  });

  const second = await buy(stage, { units: REFUNDED_UNITS, ttl: SHORT_TTL_SECONDS });
  await refundExpired(stage, second, SHORT_TTL_SECONDS);
  const ofRefunded = await checkSettled(stage, second, {
    state: "Refunded",
    events: ["escrow_refunded", "escrow_created"],
  });
  return {
    released: first.escrow_pda,
    refunded: second.escrow_pda,
    unproven: [...new Set([...ofReleased, ...ofRefunded])],
  };
};
