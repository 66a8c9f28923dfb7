import { AppError, messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { type ForwardedPort, forwardPort } from '../../remote/tunnel/forwardPort.ts';
import { isPort, type JobPort } from '../../remote/tunnel/portChannels.ts';
import type { Context } from '../command/commandContext.ts';
import { jobArgument } from '../command/jobArgument.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';
import { Session } from '../command/session.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { connectToJob } from './jobConnection.ts';

interface Wanted {
  readonly port: number;
  /** Here; that of the job's port if undefined. */
  readonly localPort: number | undefined;
}

/** `farwharf ports ID`: the ports on which a running job listens. JSON: `{ job_id, ports: [{ port, process? }] }`. */
export async function listPorts(context: Context, name: string): Promise<void> {
  await using session = new Session(context);
  const { terminal, outputSignal: signal } = context;
  const { jobId } = session.resolveJob(name);
  using tunnel = await connectToJob(session, jobId, context);
  const ports = await tunnel.ports({ signal });
  const rows = ports.map(({ port, process }) => ({ port, ...(process !== undefined && { process }) }));
  if (terminal.json({ job_id: jobId, ports: rows })) return;
  const [first] = ports;
  answerTable(terminal, PORT_COLUMNS, ports, {
    none: 'The job listens on no port of its own machine.',
    hint: 'A server appears here once it accepts connections on localhost or on all addresses.',
  });
  if (first !== undefined) terminal.note(`Open one here:  farwharf forward ${jobArgument(name)} ${first.port}`);
}

const PORT_COLUMNS: readonly RecordColumn<JobPort>[] = [
  { title: 'PORT', cell: ({ port }) => String(port), align: 'right' },
  { title: 'PROGRAM', cell: ({ process = '' }) => process },
  { title: 'LISTENS ON', cell: ({ isPublic }) => (isPublic ? 'all addresses' : 'localhost') },
];

/** `farwharf forward ID PORT[:LOCAL] …`: makes ports of a running job available here, until Ctrl+C or the end of the job. */
export async function forwardPorts(
  context: Context,
  name: string,
  _flags: unknown,
  words: readonly string[],
): Promise<void> {
  const wanted = words.map(parseWanted);
  if (wanted.length === 0) throw new AppError('bad-input', 'Name a port: farwharf forward ID PORT');
  await using session = new Session(context);
  const { terminal, signal } = context;
  const { jobId } = session.resolveJob(name);
  using tunnel = await connectToJob(session, jobId, context);
  const watching = tunnel.watchPorts({ signal });
  const ports = (await watching.next()).value ?? [];
  const forwarded: ForwardedPort[] = [];
  try {
    for (const { port, localPort } of wanted) {
      const own = await forwardPort(tunnel, port, { localPort, onFailure: failureNotes(terminal, port) });
      forwarded.push(own);
      terminal.answer(`Port ${port} of the job${programOf(ports, port)} is at http://127.0.0.1:${own.localPort}`);
      if (own.localPort !== (localPort ?? port)) {
        terminal.note(`Port ${port} of this machine is in use, so it has another number here.`);
      }
      if (!hasPort(ports, port)) terminal.note(`Nothing in the job listens on port ${port} yet.`);
    }
    terminal.phase('Press Ctrl+C to stop.');
    await reportChanges(terminal, watching, { ports, wanted: wanted.map(({ port }) => port) });
  } finally {
    await Promise.all(forwarded.map((own) => own[Symbol.asyncDispose]()));
  }
}

/** Reports which of these ports the job opens and closes, until the job ends. @throws why the tunnel ended otherwise. */
async function reportChanges(
  terminal: Terminal,
  watching: AsyncIterable<readonly JobPort[]>,
  { ports, wanted }: { readonly ports: readonly JobPort[]; readonly wanted: readonly number[] },
): Promise<void> {
  let before = ports;
  try {
    for await (const now of watching) {
      for (const port of wanted) {
        if (hasPort(before, port) === hasPort(now, port)) continue;
        if (hasPort(now, port)) terminal.note(`The job listens on port ${port} now${programOf(now, port)}.`);
        else terminal.note(`The job closed port ${port}. Connections fail until it opens the port again.`);
      }
      before = now;
    }
  } catch (error) {
    // The end of the job is what this waits for.
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
    terminal.note(messageOf(error));
  }
}

function hasPort(ports: readonly JobPort[], wanted: number): boolean {
  return ports.some(({ port }) => port === wanted);
}

function programOf(ports: readonly JobPort[], wanted: number): string {
  const name = ports.find(({ port }) => port === wanted)?.process;
  return name === undefined ? '' : ` (${printableLine(name)})`;
}

/** Says why connections fail: each reason once in a row, because browsers try again and again. */
function failureNotes(terminal: Terminal, port: number): (error: unknown) => void {
  let last: string | undefined;
  return (error) => {
    const reason = messageOf(error);
    if (reason !== last) terminal.note(`A connection to port ${port} failed: ${reason}`);
    last = reason;
  };
}

/** @throws AppError `bad-input` for anything but `PORT` and `PORT:LOCAL`. */
function parseWanted(word: string): Wanted {
  const [, port = '', local] = /^(\d{1,5})(?::(\d{1,5}))?$/.exec(word) ?? [];
  const [number, localPort] = [Number(port), local === undefined ? undefined : Number(local)];
  if (!isPort(number) || (localPort !== undefined && !isPort(localPort))) {
    throw new AppError(
      'bad-input',
      `${printableLine(word)} is not a port. Write PORT, or PORT:LOCAL, with numbers from 1 to 65535.`,
    );
  }
  return { port: number, localPort };
}
