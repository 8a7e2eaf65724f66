/**
 * Whether the news of a node can be relied on. News come by themselves, looks are made. A mark is a text for the state
 * that a piece of news or a look showed: equal marks are equal states. Times are Unix milliseconds.
 *
 * A connection can be up and tell nothing, and nothing in it says so. So news are relied on while the node has sent a
 * notification since it took the subscription, and the newest look shows what the news told last. Where they have told
 * nothing yet, that is what the first look after the subscription showed.
 */
export class NewsHearing {
  #takenAtMs: number | null = null;
  #isHeard = false;
  #told: string | null = null;
  #looked: string | null = null;

  /** Notes that the node has taken a subscription: what came before it is not told. */
  taken(atMs: number): void {
    this.lost();
    this.#takenAtMs = atMs;
  }

  /** Notes that the subscription is over. */
  lost(): void {
    this.#takenAtMs = null;
    this.#isHeard = false;
    this.#told = null;
  }

  /** Notes a notification that tells of no state. */
  heard(): void {
    this.#isHeard = true;
  }

  /** Notes the state that the news tell of. */
  told(mark: string): void {
    this.#isHeard = true;
    this.#told = mark;
  }

  /** Notes the state that a look showed which began at `askedAtMs`. */
  looked(mark: string, askedAtMs: number): void {
    this.#looked = mark;
    if (this.#takenAtMs !== null && askedAtMs > this.#takenAtMs) this.#told ??= mark;
  }

  /** Whether a look showed another state than the news have told of: they are silent, late or false. */
  get isContradicted(): boolean {
    return this.#told !== null && this.#looked !== null && this.#told !== this.#looked;
  }

  /** Whether the news can be relied on to tell of the next change. */
  get isReliable(): boolean {
    return this.#isHeard && this.#told !== null && this.#told === this.#looked;
  }
}
