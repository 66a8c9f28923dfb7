import { defineVerb } from '../command/verb.ts';
import { EXECUTORS } from '../../service/executors.ts';
import { choiceFlag, hiddenSwitch, jsonFlag, numberFlag, switchFlag, textFlag, textFlagOr } from '../command/flags.ts';

const DEFAULT_PORT = 4780;

const SERVE_FLAGS = {
  host: textFlagOr('--host <address>', 'address to listen on', '127.0.0.1'),
  port: numberFlag('--port <n>', 'port to listen on; 0 selects a free port', {
    min: 0,
    max: 65_535,
    fallback: DEFAULT_PORT,
  }),
  data: textFlag('--data <dir>', "folder for jobs and accounts (default: 'serve' in FARWHARF_HOME)"),
  executor: choiceFlag('--executor <kind>', 'what runs the jobs (default: process)', Object.keys(EXECUTORS)),
  config: textFlag('--config <file>', 'configuration in TOML or JSON: machine classes, prices, cluster'),
  credits: numberFlag('--credits <n>', 'initial credits of the account of FARWHARF_API_KEY', {
    min: 0,
    fallback: 1000,
  }),
  log: textFlag('--log <file>', 'log file (default: standard error)'),
  behindProxy: switchFlag('--behind-proxy', 'a proxy in front of the service handles TLS'),
  check: switchFlag('--check', 'check whether the service can run jobs, without starting the service'),
  confirmRetention: switchFlag('--confirm-retention', 'delete what stricter [retention] settings no longer keep'),
  configSchema: switchFlag('--config-schema', 'print the JSON schema of the configuration'),
  json: jsonFlag('print the address as JSON'),
  embedded: hiddenSwitch('--embedded'),
};

export const serveVerb = defineVerb({
  name: 'serve',
  summary: 'run the job service',
  flags: SERVE_FLAGS,
  isService: true,
  examples: [
    ['farwharf serve --data /srv/farwharf', 'run the service, and print its address and an API key, shown once'],
    ['farwharf serve --config service.toml --check', 'check whether it can run jobs with this configuration'],
  ],
  load: async () => (await import('./serveCommand.ts')).runService,
});
