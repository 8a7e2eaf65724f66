/** What was asked of the replicas, as porcupine takes it: one line of JSON each. */
export type Operation = {
  readonly model: "relay" | "key" | "lease";
  /** The relay's signature, the idempotency key, or the schema whose lease it is. */
  readonly object: string;
  readonly client: number;
  /** When it began and ended, microseconds of this process; null where nobody knows whether it took effect. */
  readonly call: number;
  readonly return: number | null;
  readonly input: string;
  /** Empty where nobody knows. */
  readonly output: string;
};

/** Collects operations as they end. */
export class History {
  readonly operations: Array<Operation> = [];

  /** Runs an operation and records it under each of its readings; one without an output is open for ever. */
  async run<A>(
    client: number,
    work: () => Promise<A>,
    readings: (
      outcome: A,
    ) => ReadonlyArray<Pick<Operation, "model" | "object" | "input"> & { readonly output: string }>,
  ): Promise<A> {
    const call = Math.round(performance.now() * 1000);
    const outcome = await work();
    const end = Math.round(performance.now() * 1000);
    for (const reading of readings(outcome))
      this.operations.push({
        ...reading,
        client,
        call,
        return: reading.output === "" ? null : end,
      });
    return outcome;
  }
}
