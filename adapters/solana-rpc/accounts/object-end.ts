const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Finds the end of a JSON object in bytes that come in pieces. Keeps and checks none of them. */
export class ObjectEnd {
  #depth = 0;
  #inString = false;
  /** Whether an escape in a string continues in the next piece. */
  #escaped = false;

  /**
   * The index after the object's end, -1 when the object continues in the next piece. `at` is where the piece or the
   * object begins.
   */
  find(piece: Buffer, at: number): number {
    let i = at;
    for (;;) {
      if (this.#inString) {
        i = this.#stringEnd(piece, i);
        if (i < 0) return -1;
        this.#inString = false;
      }
      const byte = piece[i++];
      if (byte === undefined) return -1;
      if (byte === QUOTE) this.#inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth += 1;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth -= 1;
        if (this.#depth === 0) return i;
      }
    }
  }

  /**
   * The index after a string's closing quote. Uses the native search: an account's data can be megabytes without an
   * escape.
   */
  #stringEnd(piece: Buffer, from: number): number {
    for (let searched = from; ;) {
      const quote = piece.indexOf(QUOTE, searched);
      const end = quote < 0 ? piece.length : quote;
      let run = end;
      while (run > from && piece[run - 1] === BACKSLASH) run--;
      const slashes = end - run + (run === from && this.#escaped ? 1 : 0);
      const isEscaped = slashes % 2 === 1;
      if (quote < 0) {
        this.#escaped = isEscaped;
        return -1;
      }
      if (!isEscaped) {
        this.#escaped = false;
        return quote + 1;
      }
      searched = quote + 1;
    }
  }
}
