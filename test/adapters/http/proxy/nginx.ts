import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The path in Debian's package, which is not on every user's PATH. */
const DEBIAN = "/usr/sbin/nginx";

/** The path of the installed nginx, undefined when there is none. */
export const nginxProgram = (): string | undefined =>
  Bun.which("nginx") ?? (existsSync(DEBIAN) ? DEBIAN : undefined);

/** nginx did not start; the message is what it printed. */
class NginxFailed extends Error {}

/** A running nginx. */
export type Nginx = {
  /** The path of the socket at which it listens. */
  readonly socket: string;
  /** Ends it and removes everything it wrote. */
  readonly stop: () => Promise<void>;
};

const configuration = (folder: string, http: string): string => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr notice;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  ${http.replaceAll("LISTEN", `listen unix:${folder}/nginx.sock`)}
}
`;

/**
 * Starts nginx with this content of its `http` block, in which LISTEN stands for the directive of its socket, because
 * nginx cannot choose a free port by itself. @throws NginxFailed when it refuses the configuration.
 */
export const startNginx = async (http: string): Promise<Nginx> => {
  const program = nginxProgram();
  if (program === undefined) throw new NginxFailed("nginx is not installed");
  const folder = mkdtempSync(join(tmpdir(), "nginx-"));
  const file = join(folder, "nginx.conf");
  await Bun.write(file, configuration(folder, http));
  const child = Bun.spawn([program, "-e", "stderr", "-p", folder, "-c", file], {
    stdout: "ignore",
    stderr: "pipe",
  });
  const stop = async () => {
    child.kill();
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const reader = child.stderr.getReader();
  const decoder = new TextDecoder();
  let printed = "";
  // Its version is the first thing that it logs once its socket accepts connections.
  while (!/\[notice\] .*nginx\/\d/.test(printed)) {
    const { value, done } = await reader.read();
    if (done) {
      await stop();
      throw new NginxFailed(printed);
    }
    printed += decoder.decode(value, { stream: true });
  }
  const drain = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  void drain();
  return { socket: join(folder, "nginx.sock"), stop };
};
