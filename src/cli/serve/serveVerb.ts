import { defineVerb } from '../command/verb.ts';
import { SERVE_FLAGS } from './serveFlags.ts';

export const serveVerb = defineVerb({
  name: 'serve',
  summary: 'run the job service',
  flags: SERVE_FLAGS,
  isService: true,
  examples: [
    ['farwharf serve --data /srv/farwharf', 'run the service, and print its address and an API key, shown once'],
    ['farwharf serve --config service.toml --check', 'check whether it can run jobs with this configuration'],
  ],
  load: async () => (await import('./serve.ts')).runService,
});
