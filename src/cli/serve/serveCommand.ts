import { type Command, Option } from 'commander';
import type { Runs } from '../command/verb.ts';
import { examples } from '../grammar/examples.ts';
import { wholeNumber } from '../grammar/optionValues.ts';

const DEFAULT_PORT = 4780;

/** Adds `farwharf serve`. */
export function addServe(program: Command, runs: Runs): Command {
  program
    .command('serve')
    .description('run the job service')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--port <n>',
      'port to listen on; 0 takes a free one',
      wholeNumber('--port', { min: 0, max: 65_535 }),
      DEFAULT_PORT,
    )
    .option('--data <dir>', "folder for jobs and accounts (default: 'serve' in FARWHARF_HOME)")
    .addOption(new Option('--executor <kind>', 'what runs the jobs (default: process)').choices(['process', 'slurm']))
    .option('--config <file>', 'machine classes with their prices, and the cluster: TOML or JSON')
    .option(
      '--credits <n>',
      'credits that the account of FARWHARF_API_KEY begins with',
      wholeNumber('--credits', { min: 0 }),
      1000,
    )
    .option('--log <file>', 'where its log goes (default: standard error)')
    .option('--behind-proxy', 'a proxy in front of it speaks TLS to other machines')
    .option('--check', 'look whether the service could run its jobs, and start none')
    .option('--config-schema', 'print the JSON schema of the configuration')
    .option('--json', 'print the address as JSON')
    .addOption(new Option('--embedded').hideHelp())
    .addHelpText(
      'after',
      examples(
        ['farwharf serve --data /srv/farwharf', 'run the service, and print its address and, once, a key'],
        [
          'farwharf serve --config service.toml --check',
          'check whether the service could run jobs with this configuration',
        ],
      ),
    )
    .action(runs(async () => (await import('./serve.ts')).runService));
  return program;
}
