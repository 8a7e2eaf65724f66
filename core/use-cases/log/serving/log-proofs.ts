import { Context, type Effect } from "effect";
import type { Escrow } from "../../../domain/escrow/escrow.ts";

/** A proof that a log holds an event of an escrow, as a packet carries it. */
export type LogProof = {
  /** The log's origin line. */
  readonly origin: string;
  /** The leaf's index, which is the event's number. */
  readonly index: number;
  /** The tlog-proof of C2SP with the checkpoint in it, as text. */
  readonly proof: string;
};

/** The proofs of the settlement log. */
export class LogProofs extends Context.Service<
  LogProofs,
  {
    /**
     * The proof of an escrow's last event under the newest published checkpoint. Null while nothing is published, and while the log
     * holds an earlier event of the escrow only. Returns the same text for the same checkpoint.
     */
    readonly ofEscrow: (escrow: Escrow) => Effect.Effect<LogProof | null>;
  }
>()("settlement-evidence/core/use-cases/LogProofs") {}
