import { readFlowTarget } from '../../flows/documents/flowTarget.ts';
import { withArgument } from '../command.ts';

export const openPrompts = withArgument(readFlowTarget, ({ flows }, target) => flows().prompts.open(target));
