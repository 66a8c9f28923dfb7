import { askLastAgain } from '../../search/ask.ts';
import { readDocument, withArgument } from '../command.ts';

export const askAgain = withArgument(readDocument, ({ search }, document) => askLastAgain(search(), document));
