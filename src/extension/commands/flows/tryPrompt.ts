import { readDocument, withArgument } from '../command.ts';

export const tryPrompt = withArgument(readDocument, ({ flows }, document) => flows().prompts.ask(document));
