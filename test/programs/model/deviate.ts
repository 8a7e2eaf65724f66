import {
  type AccountRole,
  type Instruction,
  readonly,
} from "../../../core/domain/ledger/instruction.ts";
import { type Call, LAYOUTS } from "./call.ts";
import { EXECUTABLE, SIGNERS, STRANGE } from "./cast.ts";
import type { Choices } from "./choice.ts";

const withSent = (call: Call, sent: Partial<Instruction>, garbled = call.garbled): Call => ({
  ...call,
  sent: { ...call.sent, ...sent },
  garbled,
});

/** Partner programs that an upgrade authority records. Any other program would be accepted too. */
const RECORDED = new Set(["attestor_program", "custody_program"]);

const swapped = (call: Call, choices: Choices): Call => {
  const [name, { place, role }] = choices.of(Object.entries(LAYOUTS[call.name].accounts));
  // A machine that checks no signatures would let any address sign, also one that has no key.
  const pool = role === "readonlySigner" || role === "writableSigner" ? SIGNERS : STRANGE;
  const address = choices.of(pool);
  if (call.name.startsWith("initialize") && RECORDED.has(name) && EXECUTABLE.has(address))
    return call;
  const accounts = call.sent.accounts.map((meta, i) => (i === place ? { ...meta, address } : meta));
  return withSent(call, { accounts });
};

/**
 * A call that differs in one way from an honest one: another account, a missing right, other data, more or fewer
 * accounts.
 */
export const deviating = (call: Call, choices: Choices): Call => {
  const { accounts, data } = call.sent;
  switch (choices.below(8)) {
    case 0: {
      const place = choices.below(accounts.length);
      const lesser = (role: AccountRole): AccountRole => (role >= 2 ? role - 2 : 0) as AccountRole;
      const dropped = accounts.map((meta, i) =>
        i === place ? { ...meta, role: lesser(meta.role) } : meta,
      );
      return withSent(call, { accounts: dropped });
    }
    case 1:
      return withSent(call, { data: Uint8Array.of(...data, 0) }, true);
    case 2:
      return withSent(call, { data: data.slice(0, choices.below(data.length)) }, true);
    case 3:
      return withSent(call, { accounts: accounts.slice(0, choices.below(accounts.length)) });
    case 4: {
      const more = Array.from({ length: choices.of([1, 31]) }, () => readonly(STRANGE[0] as never));
      return withSent(call, { accounts: [...accounts, ...more] });
    }
    default:
      return swapped(call, choices);
  }
};
