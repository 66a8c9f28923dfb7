import { inspect } from 'node:util';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { messageOf } from '../core/errors.ts';
import { Redactor } from '../core/redact.ts';
import { addAdminVerbs } from './adminCommands.ts';
import { type Context, locateProgram, type ProgramFiles } from './context.ts';
import { describeFailure, EXIT, type Failure } from './exit.ts';
import { listenForInterrupt } from './interrupt.ts';
import { addFlowVerbs } from './flowCommands.ts';
import { Terminal } from './terminal.ts';
import type { Runs, Verb } from './verb.ts';

const DEFAULT_MAX_RUNTIME = 3600;
const DEFAULT_PORT = 4780;
const CONFLICT_CHOICES = ['keep-both', 'overwrite', 'skip'];

const EPILOGUE = `
Environment:
  FARWHARF_REMOTE_HOST  the service to use; without it, jobs run on this machine
  FARWHARF_API_KEY      the key for that service; for serve, the key to accept
  FARWHARF_HOME         where the job ledger and the local service keep their data

Exit status:
  0 done (for watch: the job succeeded)    3 not authorised
  1 the job or flow failed                 4 not enough credits
  2 bad use                                5 network`;

interface ProgramOptions {
  readonly entry: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Parses the arguments, runs the verb, and gives the exit status of the process. All failures end up here and are told once. */
export async function runProgram(argv: readonly string[], { entry, env }: ProgramOptions): Promise<number> {
  const terminal = new Terminal({ isJson: argv.includes('--json'), stdout: process.stdout, stderr: process.stderr });
  const interrupt = listenForInterrupt();
  process.stdout.on('error', endQuietly);
  let exit: number = EXIT.done;
  const createContext = (remote: string | undefined): Context => {
    return { terminal, env, remote, signal: interrupt.signal, program: locateProgram(entry) };
  };
  const program = describeProgram(locateProgram(entry), terminal, async (remote, work) => {
    exit = await work(createContext(remote));
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done;
    if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.badUse; // it has shown the help
    const failure =
      error instanceof CommanderError ? badUse(error) : describeFailure(error, env['FARWHARF_REMOTE_HOST']);
    tellFailure(terminal, failure, error, env);
    return failure.exit;
  } finally {
    interrupt.dispose();
  }
}

/** The reader of a pipe went away (`farwharf watch … | head`): nobody is left to tell. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(EXIT.done);
  throw error;
}

function badUse(error: CommanderError): Failure {
  return { exit: EXIT.badUse, code: 'bad-input', message: messageOf(error).replace(/^error: /, '') };
}

function tellFailure(terminal: Terminal, { code, message }: Failure, error: unknown, env: NodeJS.ProcessEnv): void {
  const redactor = new Redactor();
  redactor.add(env['FARWHARF_API_KEY'] ?? '');
  terminal.clearStatus();
  terminal.json({ error: { code, message: redactor.redact(message) } });
  terminal.note(redactor.redact(`farwharf: ${message}`));
  if (env['FARWHARF_DEBUG']) terminal.note(redactor.redact(inspect(error)));
}

type Run = (remote: string | undefined, work: (context: Context) => Promise<number>) => Promise<void>;

/** The whole grammar of the command. Each verb's code is loaded when it is run, so that `--help` answers at once. */
function describeProgram(files: ProgramFiles, terminal: Terminal, run: Run): Command {
  const program = new Command('farwharf')
    .description('Send a folder to remote compute as a job, watch it live, bring the results home, know the price.')
    .option('--remote <url>', 'service to use (default: FARWHARF_REMOTE_HOST, else this machine)')
    .version(files.version)
    .helpCommand(false)
    .addHelpText('after', EPILOGUE)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.answer(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
      outputError: () => {}, // told with all other failures
    });
  const runs =
    <Options>(load: () => Promise<Verb<Options>>) =>
    (...input: readonly unknown[]): Promise<void> => {
      const command = input.at(-1) as Command;
      const globals = command.optsWithGlobals<{ remote?: string }>();
      return run(globals.remote, async (context) => {
        const verb = await load();
        const [argument = '', ...rest] = command.args;
        return verb(context, argument, command.opts<Options & object>(), rest);
      });
    };
  addFlowVerbs(program, runs);
  addAdminVerbs(program, runs);
  return addServe(addIndexVerbs(addJobVerbs(addSubmit(program, runs), runs), runs), runs);
}

function addSubmit(program: Command, runs: Runs): Command {
  program
    .command('submit')
    .argument('[folder]', 'folder to send (default: the current one)')
    .description('send a folder as a job')
    .option('--script <file>', 'file to run, with its arguments: "train.py --epochs 3"')
    .option('--max-runtime <seconds>', 'time limit of the job', wholeNumber, DEFAULT_MAX_RUNTIME)
    .option('--machine-class <name>', "machine to run on, from the service's rate card (see farwharf me)")
    .option('--project <name>', 'project that the job is booked under')
    .option('--venv <file>', 'JSON file that describes the Python environment')
    .option('--include <path>', 'send this path although it would be left out; may be repeated', collect)
    .option('--exclude <path>', 'leave this path out; may be repeated', collect)
    .option('--flow <name>', 'of a flow file: the export to run')
    .option('--shared <json>', 'of a flow file: shared state to begin with, as JSON or @FILE')
    .option('--resume <run>', 'of a flow file: go on where this run stood; its folder among results, or its id here')
    .option('--from <node>', 'with --resume: begin again at this node')
    .option('--watch', 'show the log until the job ends')
    .option('--download', 'wait for the end and bring the results into the folder')
    .addOption(conflictOption())
    .option('--again', 'send although the last submit of the folder got no answer')
    .option('--dry-run', 'show what would be sent, and send nothing')
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/submit.ts')).submit));
  return program;
}

function addJobVerbs(program: Command, runs: Runs): Command {
  program
    .command('jobs')
    .description('list the jobs that were sent from here')
    .option('--limit <n>', 'how many of them', wholeNumber, 20)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/jobs.ts')).listJobs));
  program
    .command('job')
    .argument('<id>')
    .description('show one job')
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/job.ts')).showJob));
  program
    .command('watch')
    .argument('<id>')
    .description('show the log of a job until it ends; Ctrl+C leaves the job running')
    .option('--json', 'print JSON, a line for each event')
    .action(runs(async () => (await import('./verbs/watch.ts')).watch));
  program
    .command('cancel')
    .argument('<id>')
    .description('stop a job')
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/cancel.ts')).cancel));
  program
    .command('download')
    .argument('<id>')
    .description("bring a job's results home")
    .option('--into <dir>', 'where to (default: the folder that was sent)')
    .addOption(conflictOption())
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/download.ts')).download));
  program
    .command('me')
    .description('show credits, plan and rate card')
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/me.ts')).showAccount));
  return program;
}

function addIndexVerbs(program: Command, runs: Runs): Command {
  program
    .command('index')
    .argument('[folder]', 'folder to index (default: the current one)')
    .description("bring a folder's search index up to date")
    .option('--meaning <who>', 'rank by meaning too, with vectors from `local` or from a service such as openai')
    .option('--no-meaning', 'rank by words alone again, and remove the vectors')
    .option('--model <name>', 'the embedding model (default: a small one)')
    .option('--model-path <dir>', 'the folder that a local model lies in; nothing is fetched then')
    .option('--base-url <url>', 'the address of an embeddings service that speaks as OpenAI does')
    .option('--yes', 'install, fetch and send what that takes without asking')
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/indexFolder.ts')).indexFolder));
  program
    .command('search')
    .argument('<query>', 'words to look for')
    .description('find the places of a folder that a query is about')
    .option('--folder <dir>', 'folder to search', '.')
    .option('--top-k <n>', 'how many places', wholeNumber, 10)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/search.ts')).search));
  return program;
}

function addServe(program: Command, runs: Runs): Command {
  program
    .command('serve')
    .description('run the job service')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 takes a free one', portNumber, DEFAULT_PORT)
    .option('--data <dir>', "folder for jobs and accounts (default: 'serve' in FARWHARF_HOME)")
    .addOption(new Option('--executor <kind>', 'what runs the jobs (default: process)').choices(['process', 'slurm']))
    .option('--config <file>', 'machine classes with their prices, and the cluster: TOML or JSON')
    .option('--credits <n>', 'credits that the account of FARWHARF_API_KEY begins with', wholeNumber, 1000)
    .option('--log <file>', 'where its log goes (default: standard error)')
    .option('--behind-proxy', 'a proxy in front of it speaks TLS to other machines')
    .option('--check', 'look whether the service could run its jobs, and start none')
    .option('--config-schema', 'print the JSON schema of the configuration')
    .option('--json', 'print the address as JSON')
    .addOption(new Option('--embedded').hideHelp())
    .action(runs(async () => (await import('./verbs/serve.ts')).runService));
  return program;
}

function conflictOption(): Option {
  return new Option('--on-conflict <choice>', 'when a result and a file of yours have one name')
    .choices(CONFLICT_CHOICES)
    .default('keep-both');
}

function portNumber(text: string): number {
  const port = wholeNumber(text);
  if (port > 65_535) throw new InvalidArgumentError('Ports end at 65535.');
  return port;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
