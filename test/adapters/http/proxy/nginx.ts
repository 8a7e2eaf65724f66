import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where Debian's package puts it, which is not on every user's PATH. */
const DEBIAN = "/usr/sbin/nginx";

/** The path of the nginx that is installed, undefined where none is. */
export const nginxProgram = (): string | undefined =>
  Bun.which("nginx") ?? (existsSync(DEBIAN) ? DEBIAN : undefined);

/** nginx did not start; the message is what it printed. */
class NginxFailed extends Error {}

/** An nginx of one's own. */
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
 * Starts nginx with what stands in its `http` block, where LISTEN is the directive of its socket: nginx
 * cannot choose a free port by itself. @throws NginxFailed where it refuses that.
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
  // Its version is the first thing it notes once its socket takes connections.
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
