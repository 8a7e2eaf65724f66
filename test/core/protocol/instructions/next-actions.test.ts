import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Address } from "../../../../core/domain/address.ts";
import { AccountRole, type Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { associatedTokenAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { fieldWriter } from "../../../../core/protocol/accounts/byte-fields.ts";
import { endOf } from "../../../../core/domain/escrow/escrow.ts";
import {
  claimRefundInstruction,
  returnRentInstruction,
} from "../../../../core/protocol/instructions/custody-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { nextActions } from "../../../../core/protocol/instructions/next-actions.ts";
import { createAssociatedTokenInstruction } from "../../../../core/protocol/accounts/token.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { anyAddress } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

const offset = fc.oneof(
  fc.bigInt({ min: -2n, max: 2n }),
  fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }),
);

describe("next actions", () => {
  test("a settled escrow has none for seven days, and can be archived from then on", () => {
    const settled = anyEscrow(LOCAL_DEPLOYMENT, ["Fulfilled", "Refunded", "PartiallyFulfilled"]);
    fc.assert(
      fc.property(settled, offset, (escrow, offset) => {
        const archivable = (escrow.settledAt ?? 0n) + 604_800n;
        const actions = nextActions(escrow, archivable + offset, LOCAL_DEPLOYMENT);
        expect(actions.map(({ action, by }) => ({ action, by }))).toEqual(
          offset < 0n ? [] : [{ action: "archive_escrow", by: "anyone" }],
        );
      }),
      runs(50),
    );
  });

  test("a pending escrow can be released or cancelled until it ends, a session captured and closed once, and only refunded from then on", () => {
    fc.assert(
      fc.property(anyEscrow(LOCAL_DEPLOYMENT, ["Pending"]), offset, (escrow, offset) => {
        const until = endOf(escrow);
        const actions = nextActions(escrow, until + offset, LOCAL_DEPLOYMENT);
        const [action] = actions;
        const isSession = escrow.sessionKey !== null;
        if (offset < 0n) {
          const shared = { escrow: escrow.address, until, instructions: [] };
          const payment = {
            ...shared,
            by: "holder_of_attestation",
            awaiting: isSession ? "attestation_and_voucher" : "attestation",
          };
          expect<ReadonlyArray<object>>(actions).toEqual([
            ...(isSession && escrow.released < escrow.amount
              ? [{ ...payment, action: "capture" }]
              : []),
            { ...payment, action: "release_escrow" },
            { ...shared, action: "cancel_escrow", by: "merchant_wallet", awaiting: null },
            ...(isSession && escrow.closesAt === null
              ? [{ ...shared, action: "close_session", by: "agent_wallet", awaiting: null }]
              : []),
          ]);
        } else {
          expect(actions).toHaveLength(1);
          expect(action).toMatchObject({
            action: "claim_refund",
            by: "anyone",
            awaiting: null,
            until: null,
          });
        }
      }),
      runs(100),
    );
  });

  test("the refund lacks only the sender, who is the only signer", () => {
    fc.assert(
      fc.property(anyEscrow(LOCAL_DEPLOYMENT, ["Pending"]), anyAddress, (escrow, sender) => {
        const [action] = nextActions(escrow, escrow.expiresAt, LOCAL_DEPLOYMENT);
        const open = action?.instructions ?? [];
        const filled = open.map(({ programAddress, accounts, data }): Instruction => ({
          programAddress,
          accounts: accounts.map(({ address, role }) => ({ address: address ?? sender, role })),
          data,
        }));
        const { agentOwner, mint, rentPayer } = escrow;
        expect(filled).toEqual([
          createAssociatedTokenInstruction({ payer: sender, owner: agentOwner, mint }),
          claimRefundInstruction(LOCAL_DEPLOYMENT, {
            escrow: escrow.address,
            mint,
            agentOwner,
          }),
          returnRentInstruction(LOCAL_DEPLOYMENT, { escrow: escrow.address, rentPayer }),
        ]);
        const accounts = filled.flatMap(({ accounts }) => accounts);
        const signing = accounts.filter(({ role }) => role >= AccountRole.readonlySigner);
        expect(signing.map(({ address }): Address => address)).toEqual([sender]);
        const paid = associatedTokenAddress(agentOwner, mint);
        expect(accounts.filter(({ address }) => address === paid).length).toBeGreaterThanOrEqual(2);
      }),
      runs(50),
    );
  });

  test("the refund awaits an account when the agent's associated one cannot receive tokens", () => {
    const anyTokens = fc.record({ owner: fc.option(anyAddress), state: fc.constantFrom(1, 2) });
    fc.assert(
      fc.property(anyEscrow(LOCAL_DEPLOYMENT, ["Pending"]), anyTokens, (escrow, tokens) => {
        const { agentOwner, mint, expiresAt } = escrow;
        const owner = tokens.owner ?? agentOwner;
        const data = fieldWriter(165)
          .address(mint)
          .address(owner)
          .skip(44)
          .u8(tokens.state)
          .skip(56);
        const agentTokens = {
          address: associatedTokenAddress(agentOwner, mint),
          owner: TOKEN_PROGRAM,
          lamports: 1n,
          executable: false,
          data: data.done(),
        };
        const actions = nextActions(escrow, expiresAt, LOCAL_DEPLOYMENT, { agentTokens });
        const canBePaid = owner === agentOwner && tokens.state === 1;
        const [whole] = nextActions(escrow, expiresAt, LOCAL_DEPLOYMENT);
        expect(actions).toEqual(
          // An existing account is not made again.
          canBePaid && whole !== undefined
            ? [{ ...whole, instructions: whole.instructions.slice(1) }]
            : [
                {
                  escrow: escrow.address,
                  action: "claim_refund",
                  by: "anyone",
                  awaiting: "payout_account",
                  until: null,
                  instructions: [],
                },
              ],
        );
      }),
      runs(50),
    );
  });

  test("an account that does not exist, or is only funded, is made by the refund", () => {
    fc.assert(
      fc.property(anyEscrow(LOCAL_DEPLOYMENT, ["Pending"]), (escrow) => {
        const { agentOwner, mint, expiresAt } = escrow;
        const ready = nextActions(escrow, expiresAt, LOCAL_DEPLOYMENT);
        const none = { agentTokens: null };
        expect(nextActions(escrow, expiresAt, LOCAL_DEPLOYMENT, none)).toEqual(ready);
        const agentTokens = {
          address: associatedTokenAddress(agentOwner, mint),
          owner: SYSTEM_PROGRAM,
          lamports: 1n,
          executable: false,
          data: new Uint8Array(),
        };
        expect(nextActions(escrow, expiresAt, LOCAL_DEPLOYMENT, { agentTokens })).toEqual(ready);
      }),
      runs(20),
    );
  });
});
