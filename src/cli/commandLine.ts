import { inspect } from 'node:util';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { isAbort, messageOf } from '../core/errors.ts';
import { Redactor } from '../core/redact.ts';
import { answerCompletion, COMPLETION_REQUEST } from './command/complete.ts';
import {
  type Context,
  type InputStream,
  type Interrupt,
  locateProgramFiles,
  type ProgramFiles,
} from './command/commandContext.ts';
import { describeFailure, EXIT, type Failure } from './command/exit.ts';
import { adminVerb } from './admin/adminVerbs.ts';
import { completionVerb } from './command/completionVerb.ts';
import { flowVerb } from './flows/flowVerbs.ts';
import { addHelpCommands } from './command/helpCommand.ts';
import { mcpVerb } from './mcp/mcpVerb.ts';
import { searchVerbs } from './search/searchVerbs.ts';
import { budgetVerb, meVerb, secretVerb, signInVerbs } from './account/accountVerbs.ts';
import { jobVerbs } from './jobs/jobVerbs.ts';
import { machineVerbs } from './machines/machineVerbs.ts';
import { serveVerb } from './admin/serveVerb.ts';
import { bestVerb } from './submit/bestVerb.ts';
import { sweepVerb } from './sweeps/sweepVerbs.ts';
import { submitVerb } from './submit/submitVerb.ts';
import type { TextStream } from './terminal/output.ts';
import { Terminal } from './terminal/terminal.ts';
import { examples, type RunVerb, type Verb } from './command/verb.ts';
import { commandPath, readPosition } from './command/typedPosition.ts';
import { farwharfHome } from '../core/files/home.ts';
import { printable } from '../core/text/printable.ts';

const EPILOGUE = `
Environment:
  FARWHARF_REMOTE_HOST  the service to use (default: this machine)
  FARWHARF_API_KEY      the API key for that service only; for serve, the key to accept
  FARWHARF_HOME         the folder for the job ledger and the local service

Exit status:
  0 done (for watch: the job succeeded)    3 not authorized
  1 the job or flow failed                 4 not enough credits
  2 invalid command line                   5 network
  130 Ctrl+C, 143 SIGTERM, 129 SIGHUP`;

const PROGRAM_EXAMPLES = examples(
  ['farwharf submit --script train.py --watch --download', 'run train.py in this folder and download its results'],
  ['farwharf help submit', 'explain a command'],
);

/** Shown when the program is run without arguments. */
const FIRST_STEPS = `Usage: farwharf <command> [options]

Runs a folder as a job, here or on a service you connect.

First steps:
  farwharf submit --script train.py --watch   run train.py in this folder as a job
  farwharf jobs                               list your jobs
  farwharf me                                 show your credits and the prices
  farwharf search "retry delay"               search this folder by keyword or topic

All commands:  farwharf help
One command:   farwharf help submit`;

/** What the program gets from its process, or from a test instead. */
interface Surroundings {
  /** The path of the program. */
  readonly entry: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Disposed when the work is done: from then on, a signal ends the process. */
  readonly interrupt: Interrupt;
  readonly stdio: { readonly stdin: InputStream; readonly stdout: TextStream; readonly stderr: TextStream };
}

/** Parses the arguments, runs the verb, and returns the exit status of the process. Every failure ends up here and is reported once. */
export async function runProgram(
  argv: readonly string[],
  { entry, env, cwd, stdio, interrupt }: Surroundings,
): Promise<number> {
  const isCompletion = argv[0] === COMPLETION_REQUEST;
  const terminal = new Terminal({
    isJson: !isCompletion && wantsJson(argv),
    stdout: stdio.stdout,
    stderr: stdio.stderr,
    env,
  });
  let exit: number = EXIT.done;
  const { signal, onHangup, onSignal } = interrupt;
  const outputSignal = AbortSignal.any([signal, terminal.stdio.closed]);
  const files = locateProgramFiles(entry);
  const program = describeProgram(files, terminal, async ({ remote, isService }, work) => {
    const context: Context = {
      terminal,
      stdin: () => stdio.stdin,
      env,
      cwd,
      remote,
      signal,
      outputSignal,
      onHangup,
      onSignal,
      program: files,
    };
    if (!isService) await recoverInterrupted(context);
    exit = await work(context);
  });
  /** Reports an error and returns the exit status. */
  const report = (error: unknown): number => {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done;
    if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.badUse; // the help was shown
    const failure =
      error instanceof CommanderError
        ? { exit: EXIT.badUse, code: 'bad-input', message: describeUsageError(error, program, argv) }
        : describeFailure(error, program.opts<{ remote?: string }>().remote ?? env['FARWHARF_REMOTE_HOST']);
    reportFailure(terminal, failure, error, env);
    return failure.exit;
  };
  try {
    if (isCompletion) await answerCompletion(program, argv.slice(1), { terminal, env });
    else if (argv.length > 0) await program.parseAsync(argv, { from: 'user' });
    else {
      terminal.noteText(FIRST_STEPS);
      exit = EXIT.badUse;
    }
  } catch (error) {
    exit = isAbort(error) && terminal.stdio.closed.aborted ? EXIT.interrupted : report(error);
  } finally {
    interrupt.dispose();
  }
  await terminal.stdio.flushed();
  if (exit === EXIT.interrupted) exit = interrupt.exit ?? (terminal.stdio.closed.aborted ? EXIT.done : exit);
  if (terminal.stdio.failure === undefined) return exit;
  const failure = report(terminal.stdio.failure);
  return exit === EXIT.done ? failure : exit;
}

/** Whether to print JSON. Arguments after `--` are for another program. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).includes('--json');
}

function reportFailure(terminal: Terminal, { code, message }: Failure, error: unknown, env: NodeJS.ProcessEnv): void {
  const redactor = new Redactor();
  redactor.add(env['FARWHARF_API_KEY'] ?? '');
  terminal.clearStatus();
  terminal.json({ error: { code, message: redactor.redact(message) } });
  terminal.note(redactor.redact(`farwharf: ${message}`));
  if (env['FARWHARF_DEBUG']) terminal.noteText(redactor.redact(inspect(error)));
}

/** The verbs of the program, in the order of its help. */
const VERBS: readonly Verb[] = [
  submitVerb,
  ...jobVerbs,
  meVerb,
  sweepVerb([bestVerb]),
  budgetVerb,
  secretVerb,
  ...machineVerbs,
  ...signInVerbs,
  ...searchVerbs,
  flowVerb,
  serveVerb,
  mcpVerb,
  adminVerb,
  completionVerb,
];

/** The grammar of the whole command line. */
export function describeProgram(
  files: ProgramFiles,
  terminal: Terminal,
  run: RunVerb,
  verbs: readonly Verb[] = VERBS,
): Command {
  const program = new Command('farwharf')
    .description('Send a folder to remote compute as a job, watch it live, and download the results.')
    .option(
      '--remote <service>',
      'URL of a service, or name of a connected machine (default: FARWHARF_REMOTE_HOST, or this machine)',
    )
    .version(files.version)
    .helpCommand(false)
    .addHelpText('after', PROGRAM_EXAMPLES)
    .addHelpText('after', EPILOGUE)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.answerText(text.trimEnd()),
      writeErr: (text) => terminal.noteText(text.trimEnd()),
      outputError: () => {}, // reported with all other failures
    });
  for (const verb of verbs) verb.addTo(program, run);
  addHelpCommands(program);
  return program;
}

/** Describes a usage error and names the help that explains the command, on one line. */
function describeUsageError({ message }: CommanderError, program: Command, argv: readonly string[]): string {
  const { command } = readPosition(program, argv);
  const explained = command.name() === 'help' ? (command.parent ?? command) : command;
  const problem = message.replace(/^error: /, '').replace(/\n\((Did you mean .*\?)\)$/, '. $1');
  const ending = /[.?]$/.test(problem) ? '' : '.';
  return `${problem}${ending} Run: farwharf help ${commandPath(explained)}`.trimEnd();
}

/** Undoes downloads that were interrupted while an earlier command or window wrote their results, and reports them. */
async function recoverInterrupted({ env, terminal }: Pick<Context, 'env' | 'terminal'>): Promise<void> {
  const home = farwharfHome(env);
  if (!existsSync(join(home, 'results'))) return; // nothing was ever downloaded; avoids loading code
  const { describeRecovered, ResultJournals } = await import('../jobs/results/resultJournals.ts');
  try {
    for (const recovered of await new ResultJournals(home).recover()) {
      terminal.note(describeRecovered(recovered));
    }
  } catch (error) {
    terminal.note(printable`An interrupted download could not be undone: ${messageOf(error)}`);
  }
}
