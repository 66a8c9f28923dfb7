import { defineVerb, type Verb } from '../command/verb.ts';
import { choiceFlag, hiddenSwitch, jsonFlag, numberFlag, switchFlag, textFlag, textFlagOr } from '../grammar/flags.ts';

const DEFAULT_PORT = 4780;

/** `farwharf serve`. */
export function serveVerb(): Verb {
  return defineVerb({
    name: 'serve',
    summary: 'run the job service',
    flags: {
      host: textFlagOr('--host <address>', 'address to listen on', '127.0.0.1'),
      port: numberFlag('--port <n>', 'port to listen on; 0 takes a free one', {
        min: 0,
        max: 65_535,
        fallback: DEFAULT_PORT,
      }),
      data: textFlag('--data <dir>', "folder for jobs and accounts (default: 'serve' in FARWHARF_HOME)"),
      executor: choiceFlag('--executor <kind>', 'what runs the jobs (default: process)', ['process', 'slurm']),
      config: textFlag('--config <file>', 'machine classes with their prices, and the cluster: TOML or JSON'),
      credits: numberFlag('--credits <n>', 'credits that the account of FARWHARF_API_KEY begins with', {
        min: 0,
        fallback: 1000,
      }),
      log: textFlag('--log <file>', 'where its log goes (default: standard error)'),
      behindProxy: switchFlag('--behind-proxy', 'a proxy in front of it speaks TLS to other machines'),
      check: switchFlag('--check', 'look whether the service could run its jobs, and start none'),
      configSchema: switchFlag('--config-schema', 'print the JSON schema of the configuration'),
      json: jsonFlag('print the address as JSON'),
      embedded: hiddenSwitch('--embedded'),
    },
    isService: true,
    examples: [
      ['farwharf serve --data /srv/farwharf', 'run the service, and print its address and, once, a key'],
      [
        'farwharf serve --config service.toml --check',
        'check whether the service could run jobs with this configuration',
      ],
    ],
    load: async () => (await import('./serve.ts')).runService,
  });
}
