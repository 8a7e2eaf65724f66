/** A deployment cannot go on. The message is one line that names the mistake and its cure. */
export class DeployStopped extends Error {
  override readonly name: string = "DeployStopped";
  /** The exit code of the command, [1, 255]. */
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
