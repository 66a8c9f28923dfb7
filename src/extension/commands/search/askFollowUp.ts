import { continueConversation } from '../../search/ask.ts';
import { readDocument, withArgument } from '../command.ts';

export const askFollowUp = withArgument(readDocument, ({ search }, document) =>
  continueConversation(search(), document),
);
