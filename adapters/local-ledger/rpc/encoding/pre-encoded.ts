/** A method's result as pieces of JSON text. */
export class PreEncoded {
  readonly pieces: ReadonlyArray<string>;

  constructor(pieces: ReadonlyArray<string>) {
    this.pieces = pieces;
  }
}
