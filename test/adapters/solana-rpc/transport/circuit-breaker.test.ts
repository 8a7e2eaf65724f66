import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  CircuitBreaker,
  type Ticket,
} from "../../../../adapters/solana-rpc/transport/circuit-breaker.ts";

const step = fc.record({
  what: fc.constantFrom("admit", "succeed", "fail", "abandon", "wait"),
  which: fc.nat(20),
});

test("a breaker allows one probe at a time and none during a cool-down, and never stays open for good", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const breaker = new CircuitBreaker();
      const held: Array<Ticket> = [];
      const probes = new Set<Ticket>();
      let nowMs = 0;
      let openUntilMs = 0;
      const giveBack = (which: number): Ticket | undefined => {
        const ticket = held.splice(which % Math.max(1, held.length), 1)[0];
        if (ticket !== undefined) probes.delete(ticket);
        return ticket;
      };
      for (const { what, which } of steps) {
        if (what === "wait") nowMs += 100;
        if (what === "admit") {
          const admission = breaker.admit(nowMs);
          if (nowMs < openUntilMs) expect(admission._tag).not.toBe("Admitted");
          if (admission._tag === "Probing") expect(probes.size).toBe(1);
          if (admission._tag === "Admitted") {
            held.push(admission.ticket);
            if (admission.ticket.isProbe) probes.add(admission.ticket);
            expect(probes.size).toBeLessThanOrEqual(1);
          }
        }
        if (what === "wait" || what === "admit") continue;
        const ticket = giveBack(which);
        if (ticket === undefined) continue;
        if (what === "succeed") {
          breaker.succeeded(ticket);
          if (ticket.isProbe) openUntilMs = 0;
        }
        if (what === "fail" && breaker.failed(ticket, nowMs + 250)) openUntilMs = nowMs + 250;
        if (what === "abandon") breaker.abandoned(ticket);
      }
      for (const ticket of held) breaker.abandoned(ticket);
      expect(breaker.admit(nowMs + 1000)._tag).toBe("Admitted");
    }),
  );
});
