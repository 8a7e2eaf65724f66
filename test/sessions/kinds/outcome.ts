/** How one case ended: without faults, nothing was lost that must not be. */
export type Outcome = {
  readonly name: string;
  readonly faults: ReadonlyArray<string>;
  /** What happened, for whoever reads about a fault. */
  readonly said: ReadonlyArray<string>;
};
