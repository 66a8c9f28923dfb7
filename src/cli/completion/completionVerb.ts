import { Argument } from 'commander';
import { defineVerb, type Verb } from '../command/verb.ts';
import { SHELLS } from './shellScripts.ts';

const SET_UP = `
Set-up, once, and then a new terminal:
  bash        echo 'source <(farwharf completion bash)' >> ~/.bashrc
  zsh         echo 'source <(farwharf completion zsh)' >> ~/.zshrc
  fish        farwharf completion fish > ~/.config/fish/completions/farwharf.fish
  PowerShell  Add-Content $PROFILE 'farwharf completion powershell | Out-String | Invoke-Expression'`;

/** `farwharf completion`. */
export function completionVerb(): Verb {
  return defineVerb({
    name: 'completion',
    summary: 'print the script that completes commands, flags and job IDs in a shell',
    args: [new Argument('<shell>', 'the shell that you use').choices(SHELLS)],
    flags: {},
    notes: SET_UP,
    examples: [
      ['farwharf completion zsh', 'print the script for zsh'],
      [
        'farwharf completion fish > ~/.config/fish/completions/farwharf.fish',
        'keep the one for fish where it is found',
      ],
    ],
    load: async () => (await import('./completion.ts')).printCompletion,
  });
}
