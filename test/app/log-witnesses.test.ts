import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LiveEscrow } from "../../client/generated/contract.ts";
import { buy, deliver, registerMerchant } from "../../app/demo/run-demo.ts";
import { openStage, type Stage } from "../../app/demo/stage.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import { runCommand } from "../../app/command-line/command-line.ts";
import { main as runLog } from "../../app/commands/log.ts";
import { parseSignedNote } from "../../core/log/notes/signed-note.ts";
import { runHere } from "./support/run-here.ts";
import { judgeCheckpoint } from "../../core/log/policy/judge-checkpoint.ts";
import { parseLogPolicy } from "../../core/log/policy/parse-log-policy.ts";
import { verifyConsistency } from "../../core/log/tree/tree-proofs.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { parseTrustPolicy } from "../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import { CUSTODY_ACCOUNTS } from "../../core/protocol/generated/custody.ts";
import { silentNarrator } from "./commands/silent-narrator.ts";
import { completePacket } from "./support/complete-packet.ts";
import { consistencyOf, offerToWitness, publishedBy, rootOf } from "./support/log-client.ts";
import { type Lie, startWitnessingServices } from "./support/witnessing-services.ts";
import { until } from "./support/running-service.ts";

const CONFIG = custodyConfigAddress(LOCAL_DEPLOYMENT).address;
const LONG_SECONDS = 90;
const LONG_MS = 240_000;

type Page = { readonly data: ReadonlyArray<LiveEscrow> };
type LogStatus = { readonly size: number; readonly root: string };

let world: Awaited<ReturnType<typeof startWitnessingServices>>;
let stage: Stage;
let delivered: LiveEscrow;
let pending: LiveEscrow;
/** Every root that the third service's log was seen to sign, by its size. */
const signedByThree = new Map<number, string>();

const [ONE, TWO, THREE] = [0, 1, 2] as const;
const urlOf = (at: number): string => world.urls[at] ?? "";

/** What a service's log has signed last, noted when it is the third's. */
const signedBy = async (at: number): Promise<LogStatus | null> => {
  const answer = await fetch(`${urlOf(at)}/v1/status`);
  const { data } = (await answer.json()) as { data: { log: LogStatus | null } };
  if (at === THREE && data.log !== null) {
    const { size, root } = data.log;
    expect(signedByThree.get(size) ?? root).toBe(root);
    signedByThree.set(size, root);
  }
  return data.log;
};

/** How many leaves the ledger's own log has. */
const sizeOnLedger = async (): Promise<bigint> => {
  const answer = await fetch(world.ledgerUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "getAccountInfo",
      params: [CONFIG, { encoding: "base64", commitment: "finalized" }],
    }),
  });
  const { result } = (await answer.json()) as { result: { value: { data: [string, string] } } };
  const bytes = Buffer.from(result.value.data[0], "base64");
  return bytes.readBigUInt64LE(CUSTODY_ACCOUNTS.CustodyConfig.at.count);
};

/** Waits until services have published a checkpoint of a size, and expects that it has one root. */
const publishedAlike = async (services: ReadonlyArray<number>, size: number): Promise<void> => {
  const notes = await Promise.all(
    services.map((at) =>
      until(
        `service ${at + 1} publishes ${size} leaves`,
        () => publishedBy(urlOf(at)),
        (published) => published?.checkpoint.size === size,
        LONG_SECONDS,
      ),
    ),
  );
  const roots = notes.flatMap((each) =>
    each === null ? [] : [hash32FromBytes(each.checkpoint.root)],
  );
  expect(new Set(roots).size).toBe(1);
  expect(await sizeOnLedger()).toBe(BigInt(size));
  await Promise.all(services.map(signedBy));
};

/** A policy with one service's log and some witnesses; the last lines define the quorum. */
const policyText = (at: number, witnesses: ReadonlyArray<number>, quorum: string): string =>
  [
    `log ${world.members[at]?.logKey}\n`,
    ...witnesses.map((each) => world.members[each]?.witness ?? ""),
    quorum,
  ].join("");

/** The names of the witnesses that cosigned a log's published checkpoint. */
const cosignersOf = async (at: number): Promise<ReadonlyArray<string>> => {
  const others = [ONE, TWO, THREE].filter((each) => each !== at);
  const policy = parseLogPolicy(policyText(at, others, "quorum none\n"));
  const judged =
    "fault" in policy
      ? policy
      : judgeCheckpoint(policy.value, (await publishedBy(urlOf(at)))?.note ?? "");
  if ("fault" in judged) throw new Error(judged.fault);
  return judged.value.cosignatures.map(({ witness }) => witness.name);
};

/**
 * The packet of the delivered escrow by the first service, and who cosigned the checkpoint in it. A later cosignature
 * changes both.
 */
const packetUnderCheckpoint = async () => {
  const { body, signed } = await until(
    "the packet is of the published checkpoint",
    async () => {
      const before = (await publishedBy(urlOf(ONE)))?.note;
      const packet = await completePacket(urlOf(ONE), delivered.escrow_pda);
      const signed = await cosignersOf(ONE);
      return { ...packet, signed, isOfOne: (await publishedBy(urlOf(ONE)))?.note === before };
    },
    ({ isOfOne }) => isOfOne,
  );
  return { packet: body, signed };
};

const syncOf = async (at: number): Promise<number> =>
  (await fetch(`${urlOf(at)}/v1/indexer/sync`, { method: "POST" })).status;

/** State and amount of each escrow in a service's index, by address. */
const indexOf = async (at: number) => {
  const { data } = (await (await fetch(`${urlOf(at)}/v1/indexer?limit=500`)).json()) as Page;
  return Object.fromEntries(
    data.map(({ escrow_pda, state, amount_stroops }) => [escrow_pda, `${state} ${amount_stroops}`]),
  );
};

/** The third service has what it had before the lie: no false row, and a log of four leaves. */
const expectThreeUnchanged = async (): Promise<void> => {
  // An index that finds a contradiction is built anew, and shows no rows before they are proven.
  const proven = {
    [delivered.escrow_pda]: `Fulfilled ${delivered.amount_stroops}`,
    [pending.escrow_pda]: `Pending ${pending.amount_stroops}`,
  };
  expect(proven).toMatchObject(await indexOf(THREE));
  expect((await signedBy(THREE))?.size).toBe(4);
  expect((await publishedBy(urlOf(THREE)))?.checkpoint.size).toBe(4);
};

const withByteChanged = (data: Uint8Array, at: number): Uint8Array =>
  data.map((byte, i) => (i === at ? byte ^ 1 : byte));

const falseRoot: Lie = (address, data) =>
  address === CONFIG ? withByteChanged(data, CUSTODY_ACCOUNTS.CustodyConfig.at.frontier) : data;

/** The amount is another one, and so is what was released of it: such an account has no inner contradiction. */
const falseAmount: Lie = (address, data) => {
  if (address !== pending.escrow_pda) return data;
  const { amount, released } = CUSTODY_ACCOUNTS.Escrow.at;
  const isPaid = data.subarray(released, released + 8).some((byte) => byte !== 0);
  const changed = withByteChanged(data, amount);
  return isPaid ? withByteChanged(changed, released) : changed;
};

/** The verdict on a packet of the first service under its trust document with another policy of logs. */
const verdictUnder = async (packet: string, log: string) => {
  const answer = await fetch(`${urlOf(ONE)}/.well-known/evidence-trust.json`);
  const document = (await answer.json()) as Readonly<Record<string, unknown>>;
  const trust = parseTrustPolicy(JSON.stringify({ ...document, log_on_ledger: log }));
  if ("fault" in trust) throw new Error(trust.fault);
  const { verdict, checks } = verifyEvidence(packet, trust.value);
  const by = new Map(checks.map((check) => [check.name, check]));
  const unproven = checks.filter(({ outcome }) => outcome === "unproven").map(({ name }) => name);
  return {
    verdict,
    unproven,
    account: by.get("account_on_ledger"),
    witnesses: by.get("witnessed_on_ledger"),
  };
};

beforeAll(async () => {
  world = await startWitnessingServices();
  for (const at of [ONE, TWO, THREE])
    await until(
      `service ${at + 1} is ready`,
      () => fetch(`${urlOf(at)}/ready`).then(({ status }) => status),
      (status) => status === 200,
      LONG_SECONDS,
    );
  stage = await openStage(urlOf(ONE), silentNarrator);
  await registerMerchant(stage);
}, LONG_MS);

afterAll(() => world?.stop(), LONG_MS);

test(
  "three honest services publish one root, each cosigned by another, and a packet's account is witnessed offline",
  async () => {
    delivered = await buy(stage, { units: 1_500_000n, ttl: 3600 });
    await deliver(stage, delivered);
    pending = await buy(stage, { units: 2_500_000n, ttl: 3600 });
    await publishedAlike([ONE, TWO, THREE], 4);
    for (const at of [ONE, TWO, THREE])
      expect((await cosignersOf(at)).length).toBeGreaterThanOrEqual(1);

    const { packet, signed } = await packetUnderCheckpoint();
    const { log } = (JSON.parse(packet) as { references: { log: { proof: string } } }).references;
    const own = await fetch(`${urlOf(ONE)}/.well-known/evidence-trust.json`);
    const trust = parseTrustPolicy(await own.text());
    if ("fault" in trust) throw new Error(trust.fault);
    expect(verifyEvidence(packet, trust.value)).toMatchObject({ verdict: "verified" });
    expect(
      verifyEvidence(packet, trust.value).checks.filter(({ outcome }) => outcome === "unproven"),
    ).toEqual([]);
    expect(trust.value).toMatchObject({
      logOnLedger: policyText(ONE, [TWO, THREE], "group others 1 two three\nquorum others\n"),
      logAppendOnly: null,
    });

    const oneOfTwo = policyText(ONE, [TWO, THREE], "group q any two three\nquorum q\n");
    const witnessed = await verdictUnder(packet, oneOfTwo);
    expect(witnessed).toMatchObject({
      verdict: "verified",
      unproven: [],
      account: { outcome: "witnessed" },
    });

    // The quorum of the service is one of two; the other one's cosignature is asked for here.
    let proof = log.proof;
    for (const at of [TWO, THREE])
      if (!signed.includes(world.members[at]?.name ?? "")) {
        const { text } = await until(
          "the other witness cosigns",
          () => offerToWitness(urlOf(ONE), urlOf(at)),
          ({ status }) => status === 200,
          LONG_SECONDS,
        );
        proof += text;
      }
    const complete = packet.replace(JSON.stringify(log.proof), () => JSON.stringify(proof));
    const twoOfTwo = policyText(ONE, [TWO, THREE], "group q all two three\nquorum q\n");
    expect(await verdictUnder(complete, twoOfTwo)).toMatchObject({
      verdict: "verified",
      unproven: [],
      account: { outcome: "witnessed" },
    });
    const { witnesses } = await verdictUnder(packet, twoOfTwo);
    expect(witnesses?.outcome).toBe(signed.length === 2 ? "passed" : "unproven");
    expect(witnesses?.reason).toEndWith(
      `quorum q wants 2 of [two, three]; signed: ${signed.join(", ")}`,
    );
  },
  LONG_MS,
);

test(
  "a witness that did not sign is missing by name",
  async () => {
    const stranger = world.members[ONE]?.witness.replace(" one ", " stranger ") ?? "";
    const text = `${policyText(ONE, [TWO, THREE], "")}${stranger}quorum stranger\n`;
    const answer = await fetch(`${urlOf(ONE)}/v1/evidence/${delivered.escrow_pda}`);
    const { verdict, witnesses } = await verdictUnder(await answer.text(), text);
    expect([verdict, witnesses]).toEqual([
      "verified",
      {
        name: "witnessed_on_ledger",
        outcome: "unproven",
        reason: "quorum stranger wants 1 of [stranger]; signed: none",
      },
    ]);
  },
  LONG_MS,
);

test(
  "a node that lies about root and amount stops its own log and witness, and nobody else's",
  async () => {
    world.nodes[THREE]?.lies((address, data) => falseAmount(address, falseRoot(address, data)));
    await deliver(stage, pending);
    await publishedAlike([ONE, TWO], 5);
    expect(await cosignersOf(ONE)).toEqual(["two"]);
    expect(await cosignersOf(TWO)).toEqual(["one"]);
    for (const at of [ONE, TWO]) {
      const refused = await until(
        "the third witness refuses",
        () => offerToWitness(urlOf(at), urlOf(THREE)),
        ({ status }) => status !== 503,
        LONG_SECONDS,
      );
      expect(refused.status).toBe(422);
      expect(refused.text).toContain("The ledger has another root at this size.");
    }
    expect(await syncOf(THREE)).toBe(502);
    await expectThreeUnchanged();
  },
  LONG_MS,
);

test(
  "a node that lies about one amount only stops its log, while its witness, which reads the root alone, cosigns",
  async () => {
    world.nodes[THREE]?.lies(falseAmount);
    for (const at of [ONE, TWO])
      await until(
        "the third witness cosigns",
        () => offerToWitness(urlOf(at), urlOf(THREE)),
        ({ status }) => status === 200,
        LONG_SECONDS,
      );
    expect(await syncOf(THREE)).toBe(502);
    await expectThreeUnchanged();
  },
  LONG_MS,
);

test(
  "once its node is honest, the third log catches up, and never had another tree",
  async () => {
    world.nodes[THREE]?.lies(null);
    await publishedAlike([ONE, TWO, THREE], 5);
    expect(await indexOf(THREE)).toEqual(await indexOf(ONE));
    expect([...signedByThree.keys()].toSorted((a, b) => a - b).slice(-2)).toEqual([4, 5]);
    const headAt = async (size: number) => ({ size, root: await rootOf(urlOf(THREE), size) });
    for (const [size, root] of signedByThree) {
      expect(root).toBe(hash32FromBytes(await rootOf(urlOf(ONE), size)));
      const proof = await consistencyOf(urlOf(THREE), size, 5);
      const signed = { size, root: Uint8Array.fromHex(root) };
      expect(verifyConsistency(signed, await headAt(5), proof)).toBe(true);
    }
  },
  LONG_MS,
);

/** Runs `cli log` with the key of a service's log. */
const onLog = async (at: number, ...args: ReadonlyArray<string>): Promise<void> => {
  const keyFile = world.logKeyFiles[at] ?? "";
  const ran = await runHere((io) => runCommand(runLog, [...args, "--key-file", keyFile], io));
  expect(ran).toMatchObject({ code: 0, stderr: "" });
};

/** The names that signed what a service's log has published, once they fit. */
const signersOf = (at: number, fits: (names: ReadonlyArray<string>) => boolean) =>
  until(
    `service ${at + 1} publishes with other signatures`,
    async () => {
      const parsed = parseSignedNote((await publishedBy(urlOf(at)))?.note ?? "");
      return "value" in parsed ? parsed.value.signatures.map(({ name }) => name) : [];
    },
    fits,
    LONG_SECONDS,
  );

test(
  "witnesses that know the old key alone cosign what both keys sign, and refuse what the new one signs alone",
  async () => {
    await onLog(ONE, "rotate-key");
    const names = await signersOf(ONE, (all) => all.length >= 3 && all[0] === all[1]);
    expect(names.slice(2).every((name) => ["two.example", "three.example"].includes(name))).toBe(
      true,
    );
    expect((await offerToWitness(urlOf(ONE), urlOf(TWO))).status).toBe(200);
    await onLog(ONE, "retire-key");
    const status = await until(
      "the log waits for a witness that knows its new key",
      async () => {
        const answer = await fetch(`${urlOf(ONE)}/v1/status`);
        return ((await answer.json()) as { data: { log: Record<string, unknown> } }).data.log;
      },
      ({ missing_witnesses }) => (missing_witnesses as ReadonlyArray<string>).length === 2,
      LONG_SECONDS,
    );
    // What is published has the lines of both, so that either key's holders still believe it.
    expect(status["next_vkey"]).toBeNull();
    expect((await signersOf(ONE, () => true)).slice(0, 2)).toEqual(names.slice(0, 2));
  },
  LONG_MS,
);

test(
  "the last checkpoint of a log that its operator ends is cosigned",
  async () => {
    const origin = (await publishedBy(urlOf(TWO)))?.checkpoint.origin ?? "";
    await onLog(TWO, "end", origin);
    const last = await until(
      "the last checkpoint is published",
      () => publishedBy(urlOf(TWO)),
      (published) => published?.checkpoint.isLast === true,
      LONG_SECONDS,
    );
    expect(last?.checkpoint.size).toBe(5);
    expect(last?.note).toMatch(/^\u2014 (?:one|three)\.example /m);
  },
  LONG_MS,
);
