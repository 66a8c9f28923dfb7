/** The descriptor in a sandbox that leads to the runner. */
export const TUNNEL_FD = 6;

/** The first line for the program that serves a job's clients from inside its sandbox. */
export interface TunnelSetUp {
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
}

// A process of its own waits for the first client, and takes less than 1 MB until then. It is no child of the job's program, which could
// wait for it. Nothing but it has the descriptor.
const WAIT = `( (
  exec </dev/null >/dev/null 2>&1
  read -r _ <&${TUNNEL_FD} && exec env -i ELECTRON_RUN_AS_NODE=1 "$1" "$2"
) & )
exec ${TUNNEL_FD}<&-
shift 2
exec "$@"`;

/**
 * The command that a sandbox runs in place of the job's own, and which becomes that: before, it leaves a process behind that starts the
 * tunnel's program when the runner asks for it. So nothing enters a sandbox from outside, where the job could get hold of it.
 *
 * @param program the tunnel's program, which the sandbox must see, and Node.js.
 */
export function withWaiter(
  [file, ...args]: readonly [string, ...string[]],
  { node, program }: { readonly node: string; readonly program: string },
): readonly [string, ...string[]] {
  return ['/bin/sh', '-c', WAIT, 'sh', node, program, file, ...args];
}

/** What the runner sends to start the program. */
export function startLine(setUp: TunnelSetUp): string {
  return `\n${JSON.stringify(setUp)}\n`;
}
