import { stopAnswer as stop } from '../../search/ask.ts';
import { readDocument, withArgument } from '../command.ts';

export const stopAnswer = withArgument(readDocument, ({ search }, document) => stop(search(), document));
