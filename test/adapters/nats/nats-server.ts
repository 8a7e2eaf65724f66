import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../app/support/running-service.ts";

/** Debian's package puts it into /usr/sbin, which is not in everybody's PATH. */
const PROGRAM = Bun.which("nats-server", { PATH: `${process.env["PATH"]}:/usr/sbin` });

/** A NATS server with JetStream on this machine, whose streams outlive it. */
export class NatsServer implements AsyncDisposable {
  readonly port = freePort();
  readonly address = `127.0.0.1:${this.port}`;
  readonly #folder = mkdtempSync(join(tmpdir(), "settlement-nats-"));
  readonly #arguments: ReadonlyArray<string>;
  #process: Bun.Subprocess | null = null;

  private constructor(more: ReadonlyArray<string>) {
    this.#arguments = more;
  }

  /** Starts a server with further arguments of its command line. */
  static async start(...more: ReadonlyArray<string>): Promise<NatsServer> {
    const server = new NatsServer(more);
    await server.begin();
    return server;
  }

  /** Begins it on its port, after `kill` as well, and returns once it listens. */
  async begin(): Promise<void> {
    if (PROGRAM === null) throw new Error("nats-server is missing: apt-get install nats-server");
    const listens = ["-a", "127.0.0.1", "-p", String(this.port)];
    const command = [PROGRAM, "-js", "-sd", this.#folder, ...listens, ...this.#arguments];
    const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
    this.#process = child;
    const ready = Promise.withResolvers<void>();
    // Its lines are read to its end: it dies of one that nobody takes.
    const read = async (): Promise<void> => {
      let told = "";
      for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
        told += chunk;
        if (told.includes("Server is ready")) ready.resolve();
      }
      ready.reject(new Error(`nats-server ended before it listened:\n${told}`));
    };
    read().catch(ready.reject);
    await ready.promise;
  }

  /** Kills it at once. */
  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
