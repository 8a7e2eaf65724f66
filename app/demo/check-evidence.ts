import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { parseTrustPolicy } from "../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import type { EscrowRecord } from "../../adapters/http/escrow/escrow-contract.ts";
import type { SettlementEventRecord } from "../../adapters/http/index/event-contract.ts";
import { DemoFailed, eventually, expectSame, expectValue } from "./demo-failed.ts";
import type { Stage } from "./stage.ts";

/** Time limit for the finalization of the escrow's settlement: 13 to 34 seconds were seen on clusters. */
const FINAL_SECONDS = 120;

type Page<A> = { readonly data: ReadonlyArray<A> };
type Packet = { readonly data: { readonly settlement_decision: { readonly status: string } } };

/** The trust policy that the verifier fixes before it sees a packet. @throws DemoFailed */
export const obtainTrust = async ({ narrator, service }: Stage): Promise<TrustPolicy> => {
  narrator.step(
    "A verifier pins what it trusts",
    "The service's keys, the ledger's genesis hash and the programs, before there is any packet to check.",
  );
  const trust = parseTrustPolicy(await service.text("/.well-known/evidence-trust.json"));
  if ("fault" in trust) throw new DemoFailed(trust.fault);
  narrator.result(`ledger ${trust.value.genesisHash}, ${trust.value.keys.length} key(s)`);
  return trust.value;
};

/** Checks that the index shows the settled escrow and its events. @throws DemoFailed */
const checkIndex = async (
  { narrator, service, agent }: Stage,
  escrow: string,
  kinds: ReadonlyArray<string>,
): Promise<void> => {
  narrator.step(
    "The index knows",
    "A sync reads both programs' accounts; then escrows and events can be listed and filtered.",
  );
  const query = `agent_owner=${agent.address}`;
  const eventsOf = (events: Page<SettlementEventRecord>) =>
    events.data.filter(({ escrow_pda }) => escrow_pda === escrow);
  await service.post("/v1/indexer/sync");
  const { data: rows } = await service.get<Page<EscrowRecord>>(`/v1/indexer?${query}`);
  const row = expectValue(
    rows.find(({ escrow_pda }) => escrow_pda === escrow),
    "the index lacks the escrow",
  );
  const events = eventsOf(
    await service.get<Page<SettlementEventRecord>>(`/v1/indexer/events?${query}`),
  );
  expectSame("the events", events.map(({ kind }) => kind).join(", "), kinds.join(", "));
  narrator.result(`${row.state}; events, newest first: ${kinds.join(", ")}`);
};

/** Reads, indexes and verifies the records of a settled escrow. @throws DemoFailed */
export const checkEvidence = async (
  stage: Stage,
  trust: TrustPolicy,
  escrow: string,
  expected: { readonly status: string; readonly events: ReadonlyArray<string> },
): Promise<void> => {
  const { narrator, service } = stage;
  const path = `/v1/evidence/${escrow}`;
  // Evidence and index cover finalized slots only.
  await eventually(
    "the settlement is final",
    FINAL_SECONDS,
    () => service.watchFor<Packet>(path),
    (packet) => packet?.data.settlement_decision.status === expected.status,
  );
  await checkIndex(stage, escrow, expected.events);

  narrator.step(
    "The evidence, checked by a stranger",
    "The packet is verified here, without the service and without the ledger, under what was pinned.\nThe same from a shell: bun run cli verify packet.json --trust trust.json",
  );
  const { verdict, checks } = verifyEvidence(await service.text(path), trust);
  for (const { name, outcome, reason } of checks)
    narrator.result(`${outcome === "passed" ? "ok" : outcome}: ${name}, ${reason}`);
  expectSame("the verdict on the packet", verdict, "verified");
  narrator.result(`the packet of ${escrow} is ${verdict}: ${expected.status}`);
};
