import { openWalkthrough as open } from '../../workspace/walkthrough.ts';
import type { Command } from '../command.ts';

export const openWalkthrough: Command = ({ extensionId }) => open(extensionId);
