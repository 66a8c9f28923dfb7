import { selectHost as select } from '../../services/signIn.ts';
import type { Command } from '../command.ts';

export const selectHost: Command = ({ services, globalState }) => select(services, globalState);
