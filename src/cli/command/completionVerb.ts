import { Argument } from 'commander';
import { AppError } from '../../core/errors.ts';
import { defineVerb } from './verb.ts';
import { completionScript, SHELLS } from './shellScripts.ts';
import type { Context } from './commandContext.ts';

const SET_UP = `
Set up once, then open a new terminal:
  bash        echo 'source <(farwharf completion bash)' >> ~/.bashrc
  zsh         echo 'source <(farwharf completion zsh)' >> ~/.zshrc
  fish        farwharf completion fish > ~/.config/fish/completions/farwharf.fish
  PowerShell  Add-Content $PROFILE 'farwharf completion powershell | Out-String | Invoke-Expression'`;

export const completionVerb = defineVerb({
  name: 'completion',
  summary: 'print a script that completes commands, flags and job IDs in your shell',
  args: [new Argument('<shell>', 'your shell').choices(SHELLS)],
  flags: {},
  notes: SET_UP,
  examples: [
    ['farwharf completion zsh', 'print the script for zsh'],
    ['farwharf completion fish > ~/.config/fish/completions/farwharf.fish', 'install the script for fish'],
  ],
  load: async () => printCompletion,
});

async function printCompletion({ terminal }: Context, name: string): Promise<void> {
  const shell = SHELLS.find((one) => one === name);
  if (shell === undefined) throw new AppError('bad-input', `Enter one of these shells: ${SHELLS.join(', ')}.`);
  terminal.answerText(completionScript(shell));
}
