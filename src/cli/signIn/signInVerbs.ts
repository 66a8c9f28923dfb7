import { jsonFlag } from '../grammar/flags.ts';
import { defineVerb, type Verb } from '../command/verb.ts';

const NOTES = `
You sign in on a page of your site's identity provider, in a browser on any device. Programs use an API key instead.`;

/** The verbs for services where people sign in with the site's identity provider. */
export const signInVerbs: readonly Verb[] = [
  defineVerb({
    name: 'login',
    summary: "sign in to a service with your site's identity provider",
    flags: { json: jsonFlag('print JSON: what to open, then the account') },
    notes: NOTES,
    examples: [
      ['farwharf login --remote https://gpu.example.org', 'sign in to a service'],
      ['farwharf login --json', 'print the page and the code as JSON, then the account'],
    ],
    load: async () => (await import('./login.ts')).login,
  }),
  defineVerb({
    name: 'logout',
    summary: 'sign out of a service, here and at the identity provider',
    flags: { json: jsonFlag() },
    examples: [
      ['farwharf logout --remote https://gpu.example.org', 'end the sign-in'],
      ['farwharf logout --json', 'do the same and print JSON'],
    ],
    load: async () => (await import('./logout.ts')).logout,
  }),
];
